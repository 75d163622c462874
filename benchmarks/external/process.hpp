// SPDX-License-Identifier: Apache-2.0
//
// Another program, in a process group of its own: started without a shell, its output bounded, ended with all that it
// started.

#pragma once

#include "external/description.hpp"

#include <sys/types.h>

#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace assay::external {

struct Command {
    std::string program;                            ///< its path
    Arguments arguments;                            ///< the first is the name that it sees
    std::map<std::string, std::string> environment; ///< beside that of this process
    std::filesystem::path folder;                   ///< where it runs
    double limit = 60;                              ///< seconds
    /// It started others on other hosts: SIGTERM, and only after a while SIGKILL. What it says first says why it failed.
    bool launches = false;
};

struct Outcome {
    std::string output;
    std::string errors;
    double seconds = 0;
    int code = 0;
    int signal = 0;
};

/// Most bytes of stdout, of stderr, and of a file that is read.
inline constexpr std::size_t most_output = std::size_t{16} << 20U;

/// Runs it to its end. Throws where it cannot be started, does not end in time or writes too much; it has been killed
/// then, and so has what it started and left behind.
Outcome run(const Command& command);

/// The same, and how it ended was one of these; otherwise throws its last words.
Outcome run_well(const Command& command, const std::vector<int>& codes = {0});

/// A program that runs beside another one.
class Companion {
public:
    /// Returns when it is ready. It writes into `log`.
    Companion(const Command& command, const std::filesystem::path& log,
              const std::function<bool()>& is_ready);
    Companion(const Companion&) = delete;
    Companion(Companion&&) = delete;
    Companion& operator=(const Companion&) = delete;
    Companion& operator=(Companion&&) = delete;
    ~Companion() { stop(); }

private:
    void stop();

    pid_t pid_;
    bool launches_;
};

/// The first or last line with more than signs in it, as launchers frame their messages; without control characters,
/// and cut where it is longer than a sentence.
std::string line_of(const std::string& text, bool first);

/// Does something listen at the port? `table` is of the kernel: /proc/net/tcp. Without a connection, which a program that
/// serves once would take for its client.
bool is_listening(std::istream& table, int port);
/// The same of this host.
bool is_listening_here(int port);

} // namespace assay::external
