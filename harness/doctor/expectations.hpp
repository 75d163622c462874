// SPDX-License-Identifier: Apache-2.0
//
// --expect: what a machine must have before anything is measured on it, so that a node that lost a GPU
// is noticed at once and not by its figures.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::harness {

/// Each "key=value": counts (cores, threads, sockets, numa, gpu) exactly, memory at least. A wrong key
/// or value is a usage error; a machine that differs is one of the environment, with what was found.
Result<void> check_expectations(const record::Machine& machine,
                                const std::vector<std::string>& expectations);

} // namespace assay::harness
