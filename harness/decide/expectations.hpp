// SPDX-License-Identifier: Apache-2.0
//
// --expect: what a machine must have before anything is measured on it, so that a lost GPU is noticed
// at once and not by the results.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::decide {

/// Each "key=value" or "key>=value": counts (cores, threads, sockets, numa, gpu, nics, channels of memory, mtu of the
/// fastest interfaces; in Hz the clock that the governor may choose, in Hz and W the gpu_clock and gpu_power that every
/// device may have), exactly with "="; memory, which with "=" is what a machine is sold with: up to a sixteenth less
/// is found; versions (driver, cuda, kernel), with "=" as far as they are written; words (ecc, iommu, governor).
/// What the machine has where that is not as expected: "gpu=7". A wrong key or value is a usage error.
Result<std::optional<std::string>> unmet(const record::Machine& machine,
                                         const std::string& expectation);

/// Is it about how the machine is set up (driver, governor, clocks, ECC), and not about its parts?
bool is_setup(const std::string& expectation);

/// One expectation as it is, or those of a file: one in each line, # begins a comment.
Result<std::vector<std::string>> read_expectations(const std::string& text);

/// All of them; a machine that differs is an environment error, with the actual value.
Result<void> check_expectations(const record::Machine& machine,
                                const std::vector<std::string>& expectations);

} // namespace assay::decide
