// SPDX-License-Identifier: Apache-2.0
//
// Does a curve over message sizes have the shape it should? A rate grows with the size up to what the link
// gives; a time grows without jumps. What noise explains is never called: decision 0188.

#pragma once

#include <optional>
#include <span>

namespace assay::stats {

struct RatePoint {
    double size;
    double rate;
    double low = 0; ///< interval; 0 where there is none
    double high = 0;
};

/// A rate that falls with growing size.
struct Fall {
    double best_size; ///< the best rate up to there
    double best_rate;
    double size; ///< the first one that is surely and for good more than `least` below it
    double rate; ///< the lowest from there on
};
/// The largest one; points in order of size. Surely: further apart than the intervals of both, with points
/// on both sides of it that agree: one disturbed point, up or down, is no fall.
std::optional<Fall> find_fall(std::span<const RatePoint> points, double least = 0.05);

/// A time that jumps from one size to the next.
struct TimeStep {
    double before; ///< the last size before it
    double after;
    double ratio; ///< of the times just there, as both sides' lines say
};
/// The largest one: where the line of latency and bandwidth is broken (alpha_beta.hpp), and the lines lie
/// further apart than `least` and than chance. `points` hold rates of messages of their size.
std::optional<TimeStep> find_time_step(std::span<const RatePoint> points, double least = 0.25);

} // namespace assay::stats
