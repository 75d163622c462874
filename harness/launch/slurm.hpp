// SPDX-License-Identifier: Apache-2.0
//
// The hosts of a Slurm allocation, as Slurm tells them to the processes inside it.

#pragma once

#include "base/result.hpp"
#include "plan/hosts.hpp"

#include <string_view>
#include <vector>

namespace assay::harness {

/// Asks `scontrol` for the names in SLURM_JOB_NODELIST; slots are SLURM_TASKS_PER_NODE, or the CPUs.
Result<std::vector<Host>> hosts_of_allocation();

/// "2(x3),4" is 2 2 2 4. Empty for text that is none of it.
std::vector<int> repeated_counts(std::string_view text);

} // namespace assay::harness
