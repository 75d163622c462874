// SPDX-License-Identifier: Apache-2.0
//
// Does a curve over message sizes have the expected shape? A rate grows with the size up to the link's rate;
// a time grows without jumps. Differences that noise explains are never called: decision 0188.

#pragma once

#include <optional>
#include <span>

namespace assay::stats {

struct RatePoint {
    double size;
    double rate;
    double low = 0; ///< interval; 0 if there is none
    double high = 0;
};

/// A rate that falls with growing size.
struct Fall {
    double best_size; ///< the best rate up to there
    double best_rate;
    double
        size; ///< the first one from which the rate stays significantly more than `least` below it
    double rate; ///< the lowest from there on
};
/// The largest one; points in order of size. Significant: further apart than the intervals of both, with
/// points on both sides that agree: one disturbed point is no fall.
std::optional<Fall> find_fall(std::span<const RatePoint> points, double least = 0.05);

/// A time that jumps from one size to the next.
struct TimeStep {
    double before; ///< the last size before it
    double after;
    double ratio; ///< of the times there, by the lines of both sides
};
/// The largest one: where the line of latency and bandwidth is broken (alpha_beta.hpp), and the lines lie
/// further apart than `least` and than chance. `points` hold rates of messages of their size.
std::optional<TimeStep> find_time_step(std::span<const RatePoint> points, double least = 0.25);

} // namespace assay::stats
