// SPDX-License-Identifier: Apache-2.0
//
// Chooses the fastest of several implementations by timing them in turns on the actual data.

#pragma once

#include "assay/host.hpp"
#include "assay/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::host {

/// Result of a trial of several candidates.
struct Trial {
    std::size_t best = 0;
    std::vector<double> times; ///< of each, as a multiple of the chosen one's
};

/// The others by their times: "avx2 1.04, sse4 1.31". `name(i)` is that of candidate i.
template <class Name>
std::string others_of(const Trial& trial, Name&& name) {
    std::string text;
    for (std::size_t i = 0; i < trial.times.size(); ++i)
        if (i != trial.best)
            text += joined(text.empty() ? "" : ", ", name(i), ' ',
                           std::round(100 * trial.times[i]) / 100);
    return text;
}

/// Does the work once with each candidate in turns, by `run(i)`. A later candidate must be clearly faster than
/// earlier ones, so that every process makes the same choice.
template <class Run>
Trial try_in_turns(std::size_t candidates, Run&& run) { // NOLINT: rounds of turns
    const double enough = std::max(0.15, 0.03 * static_cast<double>(candidates)); // seconds
    constexpr double shortest_pass = 100e-6; // seconds; the clock is read in 50 ns
    constexpr double clearly = 0.97;         // of the time: equal passes differ by 1 or 2%
    constexpr int least = 4;                 // rounds, as many forward as backward
    const auto seconds_of = [&](std::size_t i, int calls) {
        const Stopwatch watch;
        for (int call = 0; call < calls; ++call) run(i);
        return watch.seconds() / calls;
    };
    run(0); // pages and threads
    const double one = seconds_of(0, 1);
    const int calls = one < shortest_pass ? static_cast<int>(shortest_pass / one) + 1 : 1;
    // The fastest pass of each counts. More if they are short, because disturbances last milliseconds.
    std::vector<double> fastest(candidates, std::numeric_limits<double>::infinity());
    double spent = 0;
    for (int round = 0; round < least || (round < 50 && spent < enough); ++round)
        for (std::size_t turn = 0; turn < candidates; ++turn) {
            // Backward every second time: nobody always follows the one that leaves the caches full.
            const std::size_t i = round % 2 == 0 ? turn : candidates - 1 - turn;
            const double seconds = seconds_of(i, calls);
            fastest[i] = seconds < fastest[i] ? seconds : fastest[i];
            spent += seconds * calls;
        }
    Trial trial;
    for (std::size_t i = 1; i < candidates; ++i)
        if (fastest[i] < clearly * fastest[trial.best]) trial.best = i;
    for (const double seconds : fastest) trial.times.push_back(seconds / fastest[trial.best]);
    return trial;
}

/// Index of the fastest candidate.
template <class Run>
std::size_t fastest_of(std::size_t candidates, Run&& run) {
    return try_in_turns(candidates, std::forward<Run>(run)).best;
}

/// The fastest implementation, by run(way); std::runtime_error if `ways` is empty. `tell(trial)` hears how far
/// behind the others were.
template <class Way, class Run, class Tell>
Way fastest_of(const std::vector<Way>& ways, Run&& run, Tell&& tell) {
    if (ways.empty()) throw std::runtime_error{"no loop for this CPU in this build"};
    const Trial trial = try_in_turns(ways.size(), [&](std::size_t i) { run(ways[i]); });
    tell(trial);
    return ways[trial.best];
}
template <class Way, class Run>
Way fastest_of(const std::vector<Way>& ways, Run&& run) {
    return fastest_of(ways, std::forward<Run>(run), [](const Trial&) {});
}

} // namespace assay::host
