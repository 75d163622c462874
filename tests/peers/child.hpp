// SPDX-License-Identifier: Apache-2.0
//
// A process that takes turns with others: started with an environment of its own, because libraries
// choose their kernels when they are loaded. It sleeps while it waits for its turn.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace assay::peers {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The environment that the runner gives a worker with so many threads.
Variables placed(int threads);

/// A process with its input and output in our hands.
class Spawned {
public:
    Spawned(const std::vector<std::string>& arguments, const Variables& environment);
    Spawned(const Spawned&) = delete;
    Spawned& operator=(const Spawned&) = delete;
    ~Spawned(); ///< ends its input and waits for it

    void say(const std::string& line);
    /// Empty at the end of its output.
    std::string read_line();
    pid_t pid() const { return pid_; }
    /// Waits for its end; the exit code, or -1 when a signal ended it.
    int wait();

private:
    pid_t pid_ = -1;
    std::FILE* to_ = nullptr;
    std::FILE* from_ = nullptr;
};

/// See pipe.hpp for what is said. Throws std::runtime_error when the process says something else or
/// ends.
class Child {
public:
    Child(const std::vector<std::string>& arguments, const Variables& environment);
    double sample(std::size_t calls);
    double flops() const { return flops_; }
    const std::string& words() const { return words_; } ///< the kernel it uses
    pid_t pid() const { return process_.pid(); }

private:
    std::string answer();

    std::string name_;
    Spawned process_;
    double flops_ = 0;
    std::string words_;
};

} // namespace assay::peers
