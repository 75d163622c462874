// SPDX-License-Identifier: Apache-2.0
//
// Which of several ways to do the same is fastest here: tried on the very data, in turns.

#pragma once

#include "assay/host.hpp"

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace assay::host {

/// The candidate to take. `run(i)` does the work once the way of candidate i. A later one must be
/// clearly faster than those before it, so that the choice is the same in every process.
template <class Run>
std::size_t fastest_of(std::size_t candidates, Run&& run) {
    constexpr double enough = 0.15;          // seconds
    constexpr double shortest_pass = 100e-6; // seconds; the clock is read in 50 ns
    constexpr double clearly = 0.97;         // of the time: two passes differ by 1 or 2% anyway
    const auto seconds_of = [&](std::size_t i, int calls) {
        const Stopwatch watch;
        for (int call = 0; call < calls; ++call) run(i);
        return watch.seconds() / calls;
    };
    run(0); // pages and threads
    const double one = seconds_of(0, 1);
    const int calls = one < shortest_pass ? static_cast<int>(shortest_pass / one) + 1 : 1;
    // The fastest pass of each counts: three at least, more where they are short, because a
    // disturbance lasts milliseconds.
    std::vector<double> fastest(candidates, std::numeric_limits<double>::infinity());
    double spent = 0;
    for (int round = 0; round < 3 || (round < 50 && spent < enough); ++round)
        for (std::size_t i = 0; i < candidates; ++i) {
            const double seconds = seconds_of(i, calls);
            fastest[i] = seconds < fastest[i] ? seconds : fastest[i];
            spent += seconds * calls;
        }
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates; ++i)
        if (fastest[i] < clearly * fastest[best]) best = i;
    return best;
}

/// The way to take, by run(way); std::runtime_error where there is none.
template <class Way, class Run>
Way fastest_of(const std::vector<Way>& ways, Run&& run) {
    if (ways.empty()) throw std::runtime_error{"no loop for this CPU in this build"};
    return ways[fastest_of(ways.size(), [&](std::size_t i) { run(ways[i]); })];
}

} // namespace assay::host
