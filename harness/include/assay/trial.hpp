// SPDX-License-Identifier: Apache-2.0
//
// Chooses the fastest of several implementations by timing them in turns on the actual data.

#pragma once

#include "assay/host.hpp"

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace assay::host {

/// Index of the fastest candidate. `run(i)` does the work once with candidate i. A later candidate must
/// be clearly faster than earlier ones, so that every process makes the same choice.
template <class Run>
std::size_t fastest_of(std::size_t candidates, Run&& run) {
    constexpr double enough = 0.15;          // seconds
    constexpr double shortest_pass = 100e-6; // seconds; the clock is read in 50 ns
    constexpr double clearly = 0.97;         // of the time: equal passes differ by 1 or 2%
    const auto seconds_of = [&](std::size_t i, int calls) {
        const Stopwatch watch;
        for (int call = 0; call < calls; ++call) run(i);
        return watch.seconds() / calls;
    };
    run(0); // pages and threads
    const double one = seconds_of(0, 1);
    const int calls = one < shortest_pass ? static_cast<int>(shortest_pass / one) + 1 : 1;
    // The fastest pass of each counts. At least three; more if they are short, because disturbances last
    // milliseconds.
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

/// The fastest implementation, by run(way); std::runtime_error if there is none.
template <class Way, class Run>
Way fastest_of(const std::vector<Way>& ways, Run&& run) {
    if (ways.empty()) throw std::runtime_error{"no loop for this CPU in this build"};
    return ways[fastest_of(ways.size(), [&](std::size_t i) { run(ways[i]); })];
}

} // namespace assay::host
