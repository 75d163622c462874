// SPDX-License-Identifier: Apache-2.0
//
// Which caches does a curve show? A sweep over working sets has plateaus, one for each level of the
// memory hierarchy, with slopes between them. They are found from the numbers alone, to be compared
// with the caches that the machine reports.

#pragma once

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

/// The plateaus, in order of size: each has two points or more, changes by less than 1.25 times over
/// a doubling of the size (and what noise adds), and is at least 1.3 times as slow as the one before. Points on slopes belong
/// to none. Order and repetitions of the points do not matter, nor do single outliers;
/// points that are not positive and finite do not count. May be empty.
std::vector<Level> find_levels(std::span<const CurvePoint> points, Trend trend);

} // namespace assay::stats
