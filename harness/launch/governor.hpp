// SPDX-License-Identifier: Apache-2.0
//
// The clock governors of the kernel's cpufreq files: set temporarily, and restored by a second process
// however this one ends. One object at a time.

#pragma once

#include "base/result.hpp"
#include "machine/files.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::harness {

class Governors {
public:
    /// Reads the present governors. Fails with an environment error if one of `wanted` does not exist or
    /// this process may not set it; nothing has changed then.
    static Result<Governors> take(const machine::Files& files,
                                  const std::vector<std::string>& wanted);
    Governors(Governors&& other) noexcept;
    Governors& operator=(Governors&&) = delete;
    Governors(const Governors&) = delete;
    Governors& operator=(const Governors&) = delete;
    ~Governors(); ///< restores the governors found

    /// Sets it on every CPU; empty: as found.
    Result<void> set(const std::string& governor);

private:
    struct Policy {
        std::filesystem::path file; ///< scaling_governor of CPUs that share a clock
        std::string found;
    };
    explicit Governors(std::vector<Policy> policies) : policies_{std::move(policies)} {}
    Result<void> start_keeper();

    std::vector<Policy> policies_;
    std::string present_; ///< the last argument of set()
    int lifeline_ = -1;   ///< the keeper acts when this end of the pipe is closed everywhere
    pid_t keeper_ = -1;
};

} // namespace assay::harness
