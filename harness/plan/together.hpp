// SPDX-License-Identifier: Apache-2.0
//
// Cases that are measured at the same time: one on each device, socket, NUMA node, or in each part of the CPUs.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

inline constexpr std::string_view together_words =
    "devices, sockets, numa or cpus:N (N parts of the CPUs, 2 to 1024)";
/// Is it one of these?
bool is_together(std::string_view text);

/// The cores that cases may use at once.
machine::Shape shape_for(const PlanRequest& request);

/// In place of each case that asks for it, one for each place, one after the other. A case for which there are not two
/// places is skipped; that is an error if the request asked for all and none is left. A soak loads an only device by
/// itself, where no other case does so. Cases of the stage stress come last and work all at the same time.
Result<void> spread_out(std::vector<PlannedCase>& cases, const PlanRequest& request,
                        bool soaks = false);

/// CPUs for each of these devices: those near it, shared with those that have the same ones near.
std::vector<machine::Shape> shares_near(const std::vector<record::Device>& devices,
                                        const machine::Shape& shape);

} // namespace assay::plan
