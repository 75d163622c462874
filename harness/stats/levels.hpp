// SPDX-License-Identifier: Apache-2.0
//
// Which caches does a curve show? A sweep over working sets has plateaus, one for each level of the
// memory hierarchy, with slopes between them. They are found from the numbers alone, to be compared
// with the caches that the machine reports.

#pragma once

#include <optional>
#include <span>
#include <vector>

namespace assay::stats {

struct CurvePoint {
    double size;  ///< bytes
    double value; ///< seconds, or bytes a second
};

/// The trend with growing size: a latency rises, a bandwidth falls.
enum class Trend : unsigned char { rising, falling };

struct Level {
    double from; ///< the smallest size measured on it
    double to; ///< the largest: the capacity is this or more, and less than the next size measured
    double value; ///< the median on it
};

/// The plateaus, in order of size: each has two points or more, changes by less than 1.25 times over a doubling of the
/// size (and what noise adds), and is at least 1.3 times as slow as the one before. Points on slopes belong to none.
/// Order and repetitions of the points do not matter, nor do single outliers; points that are not positive and finite
/// do not count. May be empty.
std::vector<Level> find_levels(std::span<const CurvePoint> points, Trend trend);

// --- shape ---------------------------------------------------------------------------------------
// Does a curve over message sizes have the expected shape? A rate grows with the size up to the link's rate;
// a time grows without jumps. Differences that noise explains are never called: decision 0188.

struct RatePoint {
    double size;
    double rate;
    double low = 0; ///< interval; 0 if not known
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
/// The largest one; points in order of size. Significant: further apart than the intervals of both, with points on
/// both sides that agree: one disturbed point does not make a fall.
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
