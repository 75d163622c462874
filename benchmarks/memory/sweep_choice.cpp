// SPDX-License-Identifier: Apache-2.0

#include "sweep_kernels.hpp"

#include <assay/host.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace assay::memory {
namespace {

/// Of the fastest of a few rounds, because a disturbance makes one longer and never shorter.
double seconds_of(SweepLoop loop, const Words& words, std::size_t count) {
    using Clock = std::chrono::steady_clock;
    constexpr int rounds = 7;
    constexpr int passes =
        64; // 0.5 MiB: microseconds, a hundred times what reading the clock takes
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        const auto start = Clock::now();
        for (int pass = 0; pass < passes; ++pass) keep(loop(words, 0, count));
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

} // namespace

SweepChoice choose_sweep(Access access, const Words& words, std::size_t count) {
    constexpr std::size_t region = 1024; // words: 8 KiB
    constexpr double clearly = 0.97;     // of the time
    SweepChoice choice{.loop = nullptr, .instructions = ""};
    double best = std::numeric_limits<double>::infinity();
    for (const SweepLoops& candidate : sweep_loops()) {
        const SweepLoop loop = candidate.loops.at(static_cast<std::size_t>(access));
        const double seconds = seconds_of(loop, words, std::min(count, region));
        if (seconds >= clearly * best) continue;
        best = seconds;
        choice = {.loop = loop, .instructions = candidate.instructions};
    }
    return choice;
}

} // namespace assay::memory
