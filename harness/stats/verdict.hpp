// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a difference, by one rule for all: better, worse, same, or cannot tell below x. The
// reasons for the rule: decisions/comparison.md 0131.

#pragma once

#include "stats/difference.hpp"

#include <cstdint>

namespace assay::stats {

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
