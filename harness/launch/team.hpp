// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a team and the machines they are on: how many each of them gets, are they there, and which
// machines a Slurm allocation has.

#pragma once

#include "base/result.hpp"
#include "plan/hosts.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// Is each of them there, once, and does a network lead there? Asks the name service and the kernel;
/// sends nothing.
Result<void> check_hosts(const std::vector<Host>& hosts);

/// Ranks on one host. They have consecutive numbers, host after host.
struct HostRanks {
    std::string name;
    std::string label; ///< what results and messages call it: its name, or "node1"
    int ranks = 0;
    bool operator==(const HostRanks&) const = default;
};

/// What `ranks` of a team means on these hosts: a number, spread evenly, or a symbol. An error says how
/// many slots are missing. Hosts without ranks are left out. `devices`: of this machine, for a team
/// with a rank for each; 0: it has none, which says nothing of the hosts.
Result<std::vector<HostRanks>> share_out(const std::vector<Host>& hosts, bool show_names,
                                         const record::Value& ranks, const record::Machine& machine,
                                         std::optional<int> devices = std::nullopt);

/// "rank 3 on node1"; "rank 3" where all are on this machine.
std::string rank_words(const std::vector<HostRanks>& hosts, int rank);

/// With its hosts and launcher as they will be used: mpirun unless named, and for srun without hosts
/// those of the Slurm allocation that this process is in. Checks the hosts.
Result<Job> settle(Job job);

// Of a Slurm allocation, as Slurm tells the processes inside it.

/// Asks `scontrol` for the names in SLURM_JOB_NODELIST; slots are SLURM_TASKS_PER_NODE, or the CPUs.
Result<std::vector<Host>> hosts_of_allocation();
/// "2(x3),4" is 2 2 2 4. Empty for text that is none of it.
std::vector<int> repeated_counts(std::string_view text);

} // namespace assay::harness
