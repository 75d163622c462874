// SPDX-License-Identifier: Apache-2.0
//
// The progress of a run and its remaining time, from the duration of its steps so far.

#pragma once

#include "plan/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace assay::run {

class Forecast {
public:
    /// A step is one case in one replica. `expected_seconds`: of a step of each case, as the plan
    /// estimates. `now`: seconds since any origin; empty: the steady clock.
    Forecast(const std::vector<double>& expected_seconds, int replicas,
             std::function<double()> now = {});

    void skip(std::size_t index);  ///< a step of this case that need not be measured
    void again(std::size_t index); ///< one more step of this case
    void begin(std::size_t index); ///< a step of this case
    void end(std::size_t index);

    /// Expected duration of a step of this case.
    double seconds_of(std::size_t index) const { return cases_[index].seconds; }

    struct Estimate {
        std::size_t steps_done = 0; ///< finished, or not to be measured
        std::size_t steps_total = 0;
        double elapsed_seconds = 0;
        double remaining_seconds = 0;
    };
    Estimate now() const;

private:
    struct Steps {
        int left = 0;
        double seconds = 0; ///< of the last one measured, or as planned
    };

    std::function<double()> clock_;
    std::vector<Steps> cases_;
    std::size_t total_;
    double start_;
    double begun_ = 0;
    std::optional<std::size_t> present_;
};

// --- noise history -------------------------------------------------------------------------------
// What earlier runs of this machine say about the noise of a case, instead of what is usual for its kind.

/// `runs`: folders, newest first, of which the newest thirty with a result are read. Cases that ten of them measured,
/// by the same version of the benchmark, expect the noise these show (stats::own_noise), with the source "history".
void expect_own_noise(plan::Plan& plan, std::span<const std::filesystem::path> runs,
                      const record::Machine& machine);

} // namespace assay::run
