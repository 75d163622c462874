// SPDX-License-Identifier: Apache-2.0
//
// Is B faster than A, and which difference is detectable? Student's t on logarithms of ratios, with the
// variance of each series moderated by those of all series (empirical Bayes: Smyth 2004, Statistical
// Applications in Genetics and Molecular Biology 3, article 3; the R package limma is the reference).
//
// Everything here works on natural logarithms: a difference of logarithms is the logarithm of a ratio.
// Unknown values are NaN. How the parts make a verdict: verdict.hpp, and decisions/comparison.md 0131.

#pragma once

#include "stats/summary.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::stats {

/// A variance and its degrees of freedom; NaN with none if there is no estimate.
struct VarianceEstimate {
    double variance;
    double degrees;
};

/// The prior of a series' variance from all series: worth `degrees` degrees of freedom. Infinite
/// degrees: the series differ only by chance. Zero: nothing is known.
struct Prior {
    double variance = 0;
    double degrees = 0;
    /// Degrees of all its series together: a moderated variance has no more.
    double most_degrees = std::numeric_limits<double>::infinity();
};
/// From the series' own variances, by the moments of their logarithms (limma's fitFDist); those without
/// degrees of freedom do not count.
Prior moment_prior(std::span<const VarianceEstimate> series);
/// The same, limited for few series: they count as unlike as one standard error allows, and fewer than
/// five give no prior. Without this twelve series of three replicas have three times the permitted
/// rate of false differences (decisions/comparison.md 0131).
Prior fit_prior(std::span<const VarianceEstimate> series);

/// (d0 s0^2 + d s^2) / (d0 + d) with d0 + d degrees of freedom.
VarianceEstimate moderate(const VarianceEstimate& own, const Prior& prior);

/// The variance of a sum (Satterthwaite 1946).
VarianceEstimate sum_of(const VarianceEstimate& a, const VarianceEstimate& b);

/// Logarithm of B over A.
struct Difference {
    double log_ratio;
    double standard_error;
    double degrees; ///< of Student's t; infinite means the normal distribution
    double p;       ///< two-sided, of no difference; NaN if it cannot be tested
    double low;     ///< interval of log_ratio
    double high;
};
/// The variance of one series' values, n - 1 degrees of freedom.
VarianceEstimate own_variance(Values logs);
/// The pooled variance of two sides, n_a + n_b - 2 degrees of freedom. A side of one value adds none.
VarianceEstimate pooled_variance(Values log_a, Values log_b);
/// Mean of log_b minus mean of log_a. `variance` is the moderated, pooled one.
Difference difference(Values log_a, Values log_b, const VarianceEstimate& variance,
                      double confidence = 0.95);
/// Mean of differences of pairs, whose (moderated) variance is given.
Difference paired_difference(Values log_differences, const VarianceEstimate& variance,
                             double confidence = 0.95);

/// P values adjusted for their number, in the given order; NaN stays NaN and does not count.
/// False discovery rate (Benjamini and Hochberg 1995), and the stricter family-wise rate (Holm 1979).
std::vector<double> benjamini_hochberg(Values p);
std::vector<double> holm(Values p);

// --- verdict -------------------------------------------------------------------------------------
// The verdict on a difference, by one rule for all: better, worse, same, or cannot tell below x. The
// reasons for the rule: decisions/comparison.md 0131.

enum class Verdict : std::uint8_t { better, worse, same, cannot_tell };

struct VerdictRule {
    double alpha = 0.01;
    double minimum_effect = 0.01; ///< relative: smaller changes are never called
};

/// `difference` is oriented: a log ratio above 0 is better. `p` is adjusted for the number of series.
///
/// - better, worse: p <= alpha, and the ratio is the minimum effect away from 1 or more;
/// - same: the whole interval lies nearer to 1 than the minimum effect (two one-sided tests; a
///   difference may exist, but is too small to matter);
/// - otherwise cannot tell, below `detectable_change`.
///
/// The minimum effect up is 1 + m, down 1 / (1 + m), so that A against B mirrors B against A.
Verdict classify(const Difference& difference, double p, const VerdictRule& rule = {});

/// The level at which one more series would be called, given all p values of the table, not
/// adjusted: alpha (r + 1) / m if r of m are called under the false discovery rate, and
/// alpha / (m - r) under Holm's. The level for `detectable_change`.
double level_of_next_discovery(Values p, double alpha = 0.01);
double level_of_next_holm(Values p, double alpha = 0.01);

/// "Cannot tell below x": had the true change been x or more (0.03 is 3%, up or down), this experiment
/// would have called it with probability `power`. Exact for normal errors, also if the standard error was
/// estimated with few degrees of freedom. NaN if nothing can be tested.
double detectable_change(const Difference& difference, double level, double minimum_effect = 0.01,
                         double power = 0.95);

} // namespace assay::stats
