// SPDX-License-Identifier: Apache-2.0
//
// What to change on this machine, or to know about it, before trusting its results.

#pragma once

#include "machine/files.hpp"
#include "record/finding.hpp"
#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <vector>

namespace assay::reference {

/// The most important first; empty if nothing is wrong. `counters` are those of errors since the machine was started,
/// `hardware` is null where the data sheets cannot be read.
std::vector<record::Finding> advise(const record::Machine& machine, const machine::Files& files,
                                    const std::vector<record::ErrorCounter>& counters = {},
                                    const Hardware* hardware = nullptr);

/// The most important first, otherwise as they are.
void rank(std::vector<record::Finding>& findings);

// --- machine parts -------------------------------------------------------------------------------
// What is wrong with parts of a machine, by what was recorded of it: links, memory, errors.

/// Links that are narrower or slower than their devices, memory that is not fully populated, how devices are mapped.
std::vector<record::Finding> on_hardware(const record::Machine& machine, const Hardware* hardware);

/// Errors since the machine was started, one finding for each device and kind.
std::vector<record::Finding> on_errors(const std::vector<record::ErrorCounter>& counters);

} // namespace assay::reference
