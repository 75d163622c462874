// SPDX-License-Identifier: Apache-2.0
//
// Which of several algorithms is the fastest, by trial: in rounds, so that a chip that slows down while it
// gets warm slows all of them, and with an end, because a product can take seconds on the wrong chip.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace assay::gemm {

struct TrialLimits {
    int rounds = 5;
    double seconds = 3;     ///< no further round begins after so much time spent in trials
    double hopeless = 1.15; ///< times the fastest: not tried again
    double clearly = 0.995; ///< what comes later in the library's order must be faster by so much
};

struct Trial {
    std::optional<std::size_t> fastest; ///< none where none worked
    std::vector<double> seconds; ///< of one call, the best of all rounds; infinite: does not work
    int rounds = 0;
};

/// The first that no later one beats clearly.
inline std::optional<std::size_t> clearly_fastest(const std::vector<double>& seconds,
                                                  double clearly) {
    std::optional<std::size_t> fastest;
    for (std::size_t i = 0; i < seconds.size(); ++i)
        if (std::isfinite(seconds[i]) && (!fastest || seconds[i] < clearly * seconds[*fastest]))
            fastest = i;
    return fastest;
}

/// time(i) gives the seconds of one call of candidate i, infinity where it does not work, and adds what it
/// spent to its second argument.
template <class Time>
Trial find_fastest(std::size_t count, const Time& time, const TrialLimits& limits = {}) {
    constexpr double never = std::numeric_limits<double>::infinity();
    Trial trial{.fastest = std::nullopt, .seconds = std::vector<double>(count, never)};
    double spent = 0;
    double best = never;
    while (trial.rounds < limits.rounds && (trial.rounds == 0 || spent < limits.seconds)) {
        for (std::size_t i = 0; i < count; ++i) {
            double& own = trial.seconds[i];
            if (trial.rounds > 0 && !(own <= limits.hopeless * best)) continue;
            own = std::min(own, time(i, spent));
            best = std::min(best, own);
        }
        ++trial.rounds;
        if (best == never) return trial;
    }
    trial.fastest = clearly_fastest(trial.seconds, limits.clearly);
    return trial;
}

} // namespace assay::gemm
