// SPDX-License-Identifier: Apache-2.0
//
// Descriptive statistics. Pure functions: they allocate at most a copy and print nothing. The rule: an
// unknown result is NaN. An empty series, or one that contains a NaN, gives NaN.

#pragma once

#include <limits>
#include <span>

namespace assay::stats {

using Values = std::span<const double>;

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double mean(Values values);
/// Sample variance, divided by n - 1; NaN for fewer than two values.
double variance(Values values);
double median(Values values);
/// Type 7 of Hyndman and Fan (the default of R, NumPy and Excel): linear between the order statistics
/// around (n - 1) p. NaN when p is outside 0..1.
double quantile(Values values, double p);
double min(Values values);
/// 0 if a value is 0; NaN if one is negative.
double geometric_mean(Values values);
/// The geometric mean; the arithmetic one where a value is 0, as losses may be.
double average(Values values);
/// Correlation of neighbours, -1..1: 0 for a constant series, NaN for fewer than two values.
double lag1_autocorrelation(Values values);

} // namespace assay::stats
