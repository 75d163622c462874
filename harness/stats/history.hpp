// SPDX-License-Identifier: Apache-2.0
//
// What does a series of measurements over time say? Steps, slopes, and how far single machines lie apart.

#pragma once

#include "stats/summary.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

/// A step in the level of a series: from this index on the level is another one.
struct Step {
    std::size_t index;
    double before; ///< level (mean) of the segment before, in the unit of the values
    double after;
    double p; ///< of no step here, after the search (adjusted for having looked everywhere)
};
/// Steps in the mean of values in the order of time, none where there is none: binary segmentation
/// down to `fewest` values a segment, each step tested with allowance for the search, at level `alpha`
/// for the whole series. Robust against single outliers: one far value is no step.
std::vector<Step> find_steps(Values values, double alpha = 0.01, std::size_t fewest = 2);

struct Slope {
    double value; ///< median of the slopes of all pairs, per unit of x
    double low;   ///< interval (Sen 1968)
    double high;
};
/// Theil and Sen. NaN for fewer than three points of different x.
Slope theil_sen(Values x, Values y, double confidence = 0.95);

/// The value that a share `coverage` of the population exceeds, with this confidence, taking the values
/// for normally distributed (one-sided tolerance bound; noncentral t). NaN for fewer than two.
double lower_tolerance_bound(Values values, double coverage = 0.95, double confidence = 0.95);

/// Expected smallest of k values drawn from the population the values come from (order statistics of the
/// empirical distribution; with replacement). What a job over k machines will get.
double expected_smallest(Values values, std::size_t k);

} // namespace assay::stats
