// SPDX-License-Identifier: Apache-2.0
//
// The hosts that a program of somebody else's may use, and the command that starts it there: a launcher and its
// arguments, before the program's own. The harness gives both in variables.

#pragma once

#include "external/description.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::external {

inline constexpr const char* hosts_variable = "ASSAY_TEAM_HOSTS";       ///< "h1:2,h2:2"
inline constexpr const char* launcher_variable = "ASSAY_TEAM_LAUNCHER"; ///< mpirun, srun

using Environment = std::map<std::string, std::string>;

struct Launch {
    Arguments arguments; ///< the first is the launcher
    Environment environment;
};

class Team {
public:
    /// A team of this host alone.
    explicit Team(int cores) : cores_{cores} {}
    /// "h1:2,h2": names and slots; without a number as many as this host has cores.
    Team(int cores, std::string_view hosts, std::string launcher);
    /// The team that the environment's variables describe.
    static Team of_environment(int cores);

    std::size_t size() const { return hosts_.size(); } ///< hosts; 0: this one alone
    int slots() const;
    const std::string& name(std::size_t host) const { return hosts_.at(host).name; }
    int slots_of(std::size_t host) const { return hosts_.at(host).slots; }
    const std::string& launcher() const { return launcher_; }
    /// "h1:2,h2:2"; of this host alone "localhost:4".
    std::string text(char between = ',') const;
    /// The same hosts under the names that results show: node0, node1.
    Team in_results() const;
    /// One slot on each of these.
    Team one_each(std::size_t first, std::size_t count) const;

    /// `ranks` processes, host after host, which see these variables. May write a file into `folder`, whose name
    /// depends on hosts and ranks.
    Launch launch(int ranks, const std::filesystem::path& folder,
                  const Environment& variables) const;

private:
    struct Host {
        std::string name;
        int slots = 1;
    };
    Launch by_srun(int ranks, const std::filesystem::path& folder) const;

    int cores_;
    std::vector<Host> hosts_;
    std::string launcher_ = "mpirun";
};

/// Is this name one of this host's addresses?
bool is_here(const std::string& host);

} // namespace assay::external
