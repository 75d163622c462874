// SPDX-License-Identifier: Apache-2.0
//
// What to change on this machine, or to know about it, before trusting its results.

#pragma once

#include "machine/files.hpp"
#include "record/finding.hpp"
#include "record/model.hpp"

#include <vector>

namespace assay::harness {

/// The most important first; empty if there is none. `counters` are those of errors since the machine was started.
std::vector<machine::Finding> advise(const record::Machine& machine, const machine::Files& files,
                                     const std::vector<record::ErrorCounter>& counters = {});

/// The most important first, otherwise as they are.
void rank(std::vector<machine::Finding>& findings);

} // namespace assay::harness
