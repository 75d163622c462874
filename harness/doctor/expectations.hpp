// SPDX-License-Identifier: Apache-2.0
//
// --expect: what a machine must have before anything is measured on it, so that a lost GPU is noticed
// at once and not by the results.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::harness {

/// Each "key=value" or "key>=value": counts (cores, threads, sockets, numa, gpu, nics), exactly with "=", and memory,
/// which with "=" is what a machine is sold with: up to a sixteenth less is found. A wrong key or value is a usage
/// error; a machine that differs is an environment error, with the actual value.
Result<void> check_expectations(const record::Machine& machine,
                                const std::vector<std::string>& expectations);

} // namespace assay::harness
