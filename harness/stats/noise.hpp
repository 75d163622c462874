// SPDX-License-Identifier: Apache-2.0
//
// How noisy is a machine? Fixed pieces of work, each timed: any time beyond the usual one was taken by
// something else (a fixed work quantum test).

#pragma once

#include "stats/summary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::stats {

/// One piece of work.
struct Quantum {
    double start; ///< seconds since the first one began
    double seconds;
};

/// Pieces that took longer than usual by at least `from` and less than the next bin's, relative.
struct JitterBin {
    double from;
    std::uint64_t count = 0;
    double lost_seconds = 0; ///< their total time beyond the usual
};

struct Jitter {
    std::uint64_t count = 0;
    double usual = 0;   ///< seconds: the fastest twentieth, which neither luck nor noise moves
    double median = 0;  ///< seconds
    double p99 = 0;     ///< seconds
    double longest = 0; ///< seconds
    double lost = 0;    ///< share of all the time that pieces took beyond the usual
    std::array<JitterBin, 7> bins{{{0}, {0.001}, {0.01}, {0.1}, {1}, {10}, {100}}};
};
/// Empty (count 0) without quanta. Times must be positive.
Jitter jitter_of(std::span<const Quantum> quanta);

/// The logarithm of the mean over each window of this length, relative to the usual time: the result of a
/// short measurement of that length. When cores work together the slowest decides, so in each window the
/// core with the longest mean counts.
std::vector<double> window_levels(std::span<const std::vector<Quantum>> cores,
                                  double window_seconds);

/// The effect of this noise on a run of that many replicas, one window each. Found by drawing windows at
/// random (with a fixed seed), because the noise of machines has rare, long pauses that a standard
/// deviation does not describe. NaN for fewer than two runs' windows.
struct Expectation {
    double usual = 0;      ///< median half width of the 95% interval, relative
    double one_in_ten = 0; ///< one run in ten has a wider interval than this
    double difference = 0; ///< 95% of pairs of runs differ by less than this, relative
};
Expectation expectation_of(std::span<const double> levels, std::size_t replicas);

} // namespace assay::stats
