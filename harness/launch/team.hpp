// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a team and their machines: how many ranks each gets, whether they are reachable, and the
// machines of a Slurm allocation.

#pragma once

#include "base/result.hpp"
#include "plan/hosts.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::launch {

/// Is each host known, listed once and routable? Asks the name service and the kernel; sends
/// nothing.
Result<void> check_hosts(const std::vector<plan::Host>& hosts);

/// Ranks on one host. They have consecutive numbers, host after host.
struct HostRanks {
    std::string name;
    std::string label; ///< its name in results and messages: its own, or "node1"
    int ranks = 0;
    std::vector<plan::Group> groups{};
    bool operator==(const HostRanks&) const = default;
};

/// Ranks of a team on these hosts: a number, spread evenly, or a symbol. An error says how many slots are missing.
/// Hosts without ranks are left out. `devices`: of this machine, for a team with a rank for each; 0: it has none,
/// which says nothing about the hosts.
Result<std::vector<HostRanks>> share_out(const std::vector<plan::Host>& hosts, bool show_names,
                                         const record::Value& ranks, const record::Machine& machine,
                                         std::optional<int> devices = std::nullopt);

/// The label of the rank's host; empty if all are on this machine.
std::string host_of(const std::vector<HostRanks>& hosts, int rank);
/// "rank 3 on node1"; "rank 3" if all are on this machine.
std::string rank_words(const std::vector<HostRanks>& hosts, int rank);

/// Fills in hosts and launcher: mpirun by default, and for srun without hosts those of the Slurm
/// allocation of this process. Checks the hosts.
Result<plan::Job> settle(plan::Job job);

// The Slurm allocation of this process.

/// Asks `scontrol` for the names in SLURM_JOB_NODELIST; slots are SLURM_TASKS_PER_NODE, or the CPUs.
Result<std::vector<plan::Host>> hosts_of_allocation();
/// "2(x3),4" is 2 2 2 4. Empty for any other text.
std::vector<int> repeated_counts(std::string_view text);

/// "rank 1 on node1, rank 3 on node3": those of `ranks` that are not `here`.
std::string missing_ranks(const std::vector<HostRanks>& hosts, int ranks,
                          const std::vector<int>& here);
/// Unresponsive hosts among those without any rank here: "; h2 does not answer ...".
std::string silent_hosts(const std::vector<HostRanks>& hosts, const std::vector<int>& here);

} // namespace assay::launch
