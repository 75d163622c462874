// SPDX-License-Identifier: Apache-2.0

#include "stats/verdict.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>

namespace assay::stats {

Verdict classify(const Difference& difference, double p, const VerdictRule& rule) {
    const double minimum = std::log1p(rule.minimum_effect);
    if (p <= rule.alpha && std::abs(difference.log_ratio) >= minimum)
        return difference.log_ratio > 0 ? Verdict::better : Verdict::worse;
    if (difference.low > -minimum && difference.high < minimum) return Verdict::same;
    return Verdict::cannot_tell;
}

// Called is what lies beyond c = max(t(1 - level/2) s, minimum), s being the estimated standard error.
// The estimate of a true change x misses c with probability P(T < (c - x) / s), T Student's t: so
// x = c + t(power) s. The power of the usual noncentral t would hold for the true standard error, which
// nobody has; with the estimate in its place it promises too little or too much.
double detectable_change(const Difference& difference, double level, double minimum_effect,
                         double power) {
    const bool is_level = level > 0 && level < 1 && power > 0 && power < 1;
    if (!is_level || !std::isfinite(difference.standard_error) || !(difference.degrees > 0))
        return unknown;
    const boost::math::students_t distribution{difference.degrees};
    const double least = quantile(complement(distribution, level / 2)) * difference.standard_error;
    const double called = std::max(least, std::log1p(minimum_effect));
    const double change =
        std::expm1(called + quantile(distribution, power) * difference.standard_error);
    return std::isfinite(change) ? change : unknown;
}

} // namespace assay::stats
