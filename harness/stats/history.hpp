// SPDX-License-Identifier: Apache-2.0
//
// A series of measurements over time: change points, slopes, and the spread between machines.

#pragma once

#include "stats/summary.hpp"

#include <cstddef>
#include <vector>

namespace assay::stats {

/// A change point of a series: from this index on it has another level.
struct Step {
    std::size_t index;
    double before; ///< level (mean) of the segment before, in the unit of the values
    double after;
    double p; ///< of no change here, adjusted for the search over all positions
};
/// Change points of the mean of values in the order of time: binary segmentation down to `fewest` values a segment,
/// each one tested with adjustment for the search, at level `alpha` for the whole series. Robust against single
/// outliers: one far value does not make a change point.
std::vector<Step> find_steps(Values values, double alpha = 0.01, std::size_t fewest = 2);

struct Slope {
    double value; ///< median of the slopes of all pairs, per unit of x
    double low;   ///< interval (Sen 1968)
    double high;
};
/// Theil-Sen estimator. NaN for fewer than three points of different x.
Slope theil_sen(Values x, Values y, double confidence = 0.95);

/// The value that a share `coverage` of the population exceeds, with this confidence, assuming normally
/// distributed values (one-sided tolerance bound; noncentral t). NaN for fewer than two.
double lower_tolerance_bound(Values values, double coverage = 0.95, double confidence = 0.95);

/// Expected smallest of k values drawn from the population the values come from (order statistics of the
/// empirical distribution; with replacement): the expectation for a job on k machines.
double expected_smallest(Values values, std::size_t k);

} // namespace assay::stats
