// SPDX-License-Identifier: Apache-2.0
//
// The precision of a mean: the intervals that assay publishes, computed only from what a result file
// stores, so that everyone with the file can check them.

#pragma once

#include "stats/summary.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::stats {

/// Interval of the mean time per call, in one process. Without an interval, low and high are NaN.
struct Interval {
    double mean;
    double low;
    double high;
    /// The groups behind the interval are practically independent. If false, the interval allows for
    /// fully dependent groups and is wider.
    bool decorrelated = false;
    std::size_t batches = 0; ///< groups of values behind the interval

    /// Half the width relative to the mean; NaN without an interval, infinite about zero.
    double relative_half_width() const;
};

/// Student's t on means of groups of consecutive values. The groups double in size until neighbours
/// are correlated by less than 0.2, with 25 or more of them left; of that size and the larger ones,
/// down to ten groups, the widest interval counts, because a correlation that just escapes notice makes
/// the first too narrow. If nothing looks independent (two to nine values cannot tell) the interval is not
/// divided by the root of their number: it holds for each group as for the mean.
/// `values`: in the order of measurement.
Interval batch_means_interval(Values values, double confidence = 0.95);

/// First half of a series against its second half.
struct Drift {
    double first;  ///< mean
    double second; ///< mean
    /// The halves differ by more than their own intervals explain.
    bool significant = false;

    /// The excess of the second half over the first, relative to the mean of both.
    double relative() const { return 2 * (second - first) / (first + second); }
};
/// Needs four values; with fewer both means are NaN.
Drift half_drift(Values values, double confidence = 0.95);

/// One replica: its mean and the interval about it, NaN if unknown.
struct Estimate {
    double value;
    double low;
    double high;
};

/// Coverage of a combined interval; the same words as record::IntervalScope.
enum class Scope : std::uint8_t { none, within_process, between_replicas };

struct Combined {
    double value; ///< geometric mean
    double low;   ///< NaN if the scope is `none`
    double high;
    Scope scope = Scope::none;
};

/// The published value: the geometric mean over the replicas and the wider of two intervals
/// about it, Student's t on the logarithms of the replicas and the pooled intervals of the replicas
/// themselves. One replica keeps its own interval. Works on times and on rates alike. Nothing (NaN,
/// Scope::none) when there is no replica or a value is not a positive finite number.
Combined combine_replicas(std::span<const Estimate> replicas, double confidence = 0.95);

/// The same of what may be zero, as losses: where a replica is, the arithmetic mean and Student's t on the values
/// themselves, not below zero. Nothing where one is negative; no interval where all are zero.
Combined combine_with_zeros(std::span<const Estimate> replicas, double confidence = 0.95);

// --- student -------------------------------------------------------------------------------------
// Student's t distribution; with infinite degrees of freedom the normal one. `degrees` above 0, probabilities between 0
// and 1, both exclusive.

/// The probability of a value of at most `t`.
double student_below(double t, double degrees);
/// The probability of a value above `t`, exact far out where 1 - student_below() is 0.
inline double student_above(double t, double degrees) { return student_below(-t, degrees); }

/// student_below() of it is `p`.
double student_quantile(double p, double degrees);

/// Half a two-sided interval, in standard errors: 1.96 for 0.95 and infinite degrees.
double student_factor(double degrees, double confidence);

} // namespace assay::stats
