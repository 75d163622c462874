// SPDX-License-Identifier: Apache-2.0
//
// The live processes of this machine, as /proc lists them (zombies are not alive), and which of them a run that is
// gone has left behind.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::process {

struct Stat {
    pid_t parent = -1;
    pid_t group = -1;
    pid_t session = -1;
    std::int64_t born = 0; ///< ticks since the machine started
};
/// Nothing for a process that does not live.
std::optional<Stat> stat_of(pid_t pid);

/// Those of which this is true; never this process.
std::vector<pid_t> find_processes(const std::function<bool(pid_t, const Stat&)>& wanted);
std::vector<pid_t> children_of(pid_t parent);
/// Those that belong to `session`, of which `also` is true, or that carry `mark` ("NAME=value") in their environment.
/// Those older than `born` are ignored.
std::vector<pid_t> processes_of(pid_t session, std::string_view mark, std::int64_t born = 0,
                                const std::function<bool(pid_t, const Stat&)>& also = {});
/// "sleep (1234)"; empty if it has ended.
std::string name_of(pid_t pid);

/// SIGKILL for it and its process group, unless that is this process's: who forks faster than it is listed stays in the
/// group. Nothing where it has ended.
void kill_with_group(pid_t pid);
/// Killing ends after so many rounds of 5 ms: a process in an uninterruptible call cannot be waited for.
inline constexpr int most_kill_rounds = 400;
void wait_for_the_killed(int round);

/// This process among all of this machine since it was started: "<boot>-<process numbers>-<pid>-<born>". Where
/// process numbers are others' (a container), so is the second part.
std::string own_identity();
/// The process of that identity, if it lives and is seen from here.
std::optional<pid_t> living(std::string_view identity);
/// Is it of a process that is gone, and would be seen from here?
bool is_of_the_dead(std::string_view identity);
/// Kills processes of runs that are gone, by the identity in their environment (start.hpp), and names them.
std::vector<std::string> end_leftovers();

} // namespace assay::process
