// SPDX-License-Identifier: Apache-2.0
//
// The governors of the clock, by the kernel's cpufreq files: set for a while, and set back whatever
// becomes of this process, which a second process sees to. One object at a time.

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
    /// Notes what is set now. Fails, as an error of the environment, where one of `wanted` is not there
    /// or this process may not set it; nothing has changed then.
    static Result<Governors> take(const machine::Files& files,
                                  const std::vector<std::string>& wanted);
    Governors(Governors&& other) noexcept;
    Governors& operator=(Governors&&) = delete;
    Governors(const Governors&) = delete;
    Governors& operator=(const Governors&) = delete;
    ~Governors(); ///< what was found is back

    /// On every CPU; empty: as found.
    Result<void> set(const std::string& governor);

private:
    struct Policy {
        std::filesystem::path file; ///< scaling_governor of CPUs that share a clock
        std::string found;
    };
    explicit Governors(std::vector<Policy> policies) : policies_{std::move(policies)} {}
    Result<void> start_keeper();

    std::vector<Policy> policies_;
    std::string present_; ///< what set() was last called with
    int lifeline_ = -1;   ///< the keeper acts when no process holds this end of the pipe any more
    pid_t keeper_ = -1;
};

} // namespace assay::harness
