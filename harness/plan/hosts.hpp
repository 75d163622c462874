// SPDX-License-Identifier: Apache-2.0
//
// The machines that a team runs on: who they are (--hosts, --hostfile, a Slurm allocation) and how many
// ranks each of them gets.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// A machine as the user named it.
struct Host {
    std::string name;
    int slots =
        0; ///< ranks it takes; 0: as many as this machine has cores, or devices for their teams
    bool operator==(const Host&) const = default;
};

/// "node1:2,node2:2"
Result<std::vector<Host>> parse_hosts(std::string_view text);
/// A line per host, as Open MPI has it: "node1 slots=2", or "node1:2", or "node1"; `#` begins a comment.
/// `source` is the file's name in messages.
Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view source);

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
/// Which of the hosts a rank is on, and which of the host's ranks it is.
struct RankPlace {
    std::size_t host = 0;
    int local_rank = 0;
};
std::optional<RankPlace> place_of(const std::vector<int>& ranks_per_host, int rank);

/// How a team that spans hosts is started.
struct Job {
    std::vector<Host> hosts;
    std::string launcher;    ///< "mpirun", "srun"
    bool show_names = false; ///< in results and messages; otherwise node0, node1, ...
};

/// With its hosts and launcher as they will be used: mpirun unless named, and for srun without hosts
/// those of the Slurm allocation that this process is in. Checks the hosts.
Result<Job> settle(Job job);

} // namespace assay::harness
