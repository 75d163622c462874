// SPDX-License-Identifier: Apache-2.0
//
// What changed since each node ran the same suite the last time, on the same machine: in the whole fleet, and on nodes
// beside it.

#pragma once

#include "fleet/outliers.hpp"

#include <cstdint>
#include <vector>

namespace assay::report {

/// Of each node and suite the newest run before the sweep: its node for each run, `no_node` for others.
std::vector<std::uint32_t> runs_before(const Fleet& fleet,
                                       const std::vector<std::uint32_t>& node_of_run,
                                       const std::vector<std::uint32_t>& node_of_earlier);

/// After judge_values(). `before`: as runs_before() has them.
void add_drifts(Fleet& fleet, const FleetValues& values, const std::vector<std::uint32_t>& before);

} // namespace assay::report
