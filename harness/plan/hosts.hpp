// SPDX-License-Identifier: Apache-2.0
//
// The machines of a team, as given by --hosts and --hostfile.

#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

/// Something several machines share, such as a switch: see groups.hpp.
struct Group {
    std::string kind; ///< "switch"
    std::string name;
    bool operator==(const Group&) const = default;
};

/// A machine as the user named it.
struct Host {
    std::string name;
    int slots =
        0; ///< ranks it takes; 0: as many as this machine has cores, or devices for their teams
    std::vector<Group> groups{};
    bool operator==(const Host&) const = default;
};

/// "node1:2,node2:2", "node[01-40]", "node[1-3,7]:2"
Result<std::vector<Host>> parse_hosts(std::string_view text);
/// A line per host, as Open MPI has it: "node1 slots=2", or "node1:2", or "node1"; `#` begins a comment.
/// `source` is the file's name in messages.
Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view source);

/// Does the list contain this name?
bool is_there(const std::vector<Host>& hosts, const std::string& name);

/// How a team that spans hosts is started.
struct Job {
    std::vector<Host> hosts;
    std::string launcher;    ///< "mpirun", "srun"
    bool show_names = false; ///< in results and messages; otherwise node0, node1, ...
};

} // namespace assay::plan
