// SPDX-License-Identifier: Apache-2.0
//
// A child process in its own session: started with a given environment, CPUs and log, and killed
// together with everything it started. It dies with this process, however this process ends.
// Start it from a thread that lives as long as the process does: the kernel ties the child to the thread.

#pragma once

#include "base/result.hpp"
#include "process/control_group.hpp"
#include "process/listing.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::process {

struct Command {
    std::vector<std::string> arguments;   ///< the first is the program's path
    std::vector<std::string> environment; ///< all of it: "NAME=value"
    std::vector<int> cpus;                ///< empty: those of this process
    std::filesystem::path log;            ///< for the child's output
    int connection = -1;                  ///< becomes its inherited_descriptor; -1: none
    /// An entry of `environment` that no other process has: it identifies descendants, also those
    /// that left the session.
    std::string mark;
    /// A keeper stands between: a process that outlives this one, however this one ends, to end all that the program
    /// started. It ends as the program does. Signals for the program are not sent to it.
    bool kept = false;
    std::filesystem::path
        groups; ///< where a control group for a kept one may be made; empty: nowhere
    GroupLimits limits{};
};

/// Why fork() or a thread failed, and what would be right: EAGAIN is a limit, which only the system knows.
Error no_process(int error);

/// How a process ended.
struct Ending {
    int code = 0;   ///< exit code, if it ended by itself
    int signal = 0; ///< that killed it; 0: none
};
/// "SIGSEGV (Segmentation fault)"
std::string signal_words(int signal);

class Process {
public:
    /// Fails when the program cannot be executed at all.
    static Result<Process> start(const Command& command);

    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process(); ///< kills

    /// Process id of the keeper, if there is one.
    pid_t pid() const { return pid_; }
    /// Becomes readable when the process ends; -1 if the kernel does not support this.
    int descriptor() const { return descriptor_; }
    /// Has it ended? Does not wait.
    const std::optional<Ending>& poll();
    /// Waits at most `patience` for it to end by itself.
    const std::optional<Ending>& wait(std::chrono::milliseconds patience);
    /// Its live children and the orphans below them: "sleep (1234)".
    std::vector<std::string> children() const;
    /// Kills the process and all its descendants, also those that left its session and changed their environment, and
    /// waits until none is left. Names those that are still there, in a call that cannot be interrupted.
    std::vector<std::string> kill();

private:
    Process() = default;
    pid_t pid_ = -1;
    int descriptor_ = -1;
    std::string mark_;
    std::int64_t born_ = 0;
    bool kept_ = false;
    std::optional<ControlGroup> group_;
    std::optional<Ending> ending_;
    bool gone_ = false; ///< with all its descendants
};

} // namespace assay::process
