// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with parts of a machine, by what was recorded of it: links, memory, errors.

#pragma once

#include "record/finding.hpp"
#include "record/model.hpp"

#include <vector>

namespace assay::harness {

/// Links that are narrower or slower than their devices, memory that is not fully populated, how devices are mapped.
std::vector<machine::Finding> on_hardware(const record::Machine& machine);

/// Errors since the machine was started, one finding for each device and kind.
std::vector<machine::Finding> on_errors(const std::vector<record::ErrorCounter>& counters);

} // namespace assay::harness
