// SPDX-License-Identifier: Apache-2.0
//
// In which order cases are measured, and which are measured again.

#pragma once

#include "plan/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::harness {

/// Indexes of the plan's cases for one replica, of siblings the first. With a seed the blocks are shuffled, otherwise for each replica, so that
/// no case always follows the same one; inside a block the order is the plan's. The same on every machine.
std::vector<std::size_t> order_of(const Plan& plan, std::optional<std::int64_t> seed, int replica);

/// Of the sides of one case, which take turns (one side in a run that is not interleaved): how many replicas were
/// measured on all of them and disturbed on none.
int undisturbed_on_all(const std::vector<const record::Case*>& sides);

/// Is another replica worth its time? Not if enough are undisturbed, the fastest agree within the target, a side ended badly, or none is undisturbed after
/// two more: what disturbs this case does not go away. `again`: how many more there were since the run was (re)started.
bool wants_another(const std::vector<const record::Case*>& sides, int again = 0);
/// The index of that replica.
int next_index(const std::vector<const record::Case*>& sides);

/// Of three measured replicas or more at most one in twenty was undisturbed: waiting would not help.
bool is_always_busy(const std::vector<const record::Case*>& cases);

} // namespace assay::harness
