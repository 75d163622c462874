// SPDX-License-Identifier: Apache-2.0

#include "stats/difference.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Newton's steps on 1 / trigamma, which is convex and nearly linear, so that they converge from the
/// left without overshooting (appendix of Smyth 2004). Outside 1e-6..1e7 the first term of the series
/// is exact to eight digits.
double inverse_trigamma(double x) {
    if (x > 1e7) return 1 / std::sqrt(x);
    if (x < 1e-6) return 1 / x;
    double y = 0.5 + 1 / x;
    constexpr int most_steps = 50; // five are enough everywhere
    for (int i = 0; i < most_steps; ++i) {
        const double here = boost::math::trigamma(y);
        const double step = here * (1 - here / x) / boost::math::polygamma(2, y);
        y += step;
        if (std::abs(step) < 1e-9 * y) break;
    }
    return y;
}

bool counts(const VarianceEstimate& estimate) {
    return std::isfinite(estimate.variance) && estimate.variance >= 0 &&
           std::isfinite(estimate.degrees) && estimate.degrees > 1e-15;
}

/// Variances of zero (all values equal to the last digit) have no logarithm and would make the rest
/// look wildly different: they count as this.
double smallest_variance(Values variances) {
    double middle = median(variances);
    if (middle == 0) {
        std::vector<double> positive;
        for (const double variance : variances)
            if (variance > 0) positive.push_back(variance);
        middle = positive.empty() ? 0 : median(positive);
    }
    return 1e-5 * middle;
}

} // namespace

Prior fit_prior(std::span<const VarianceEstimate> series) {
    std::vector<double> variances;
    std::vector<double> degrees;
    double all_degrees = 0;
    for (const VarianceEstimate& estimate : series) {
        if (!counts(estimate)) continue;
        variances.push_back(estimate.variance);
        degrees.push_back(estimate.degrees);
        all_degrees += estimate.degrees;
    }
    if (variances.empty()) return {};
    const double smallest = smallest_variance(variances);
    const double average = mean(variances);
    if (variances.size() == 1 || smallest == 0) return {.variance = average, .degrees = 0};

    // Logarithms of variances, each less what chance makes of it on average.
    std::vector<double> logs;
    double chance = 0;
    for (std::size_t i = 0; i < variances.size(); ++i) {
        const double half = degrees[i] / 2;
        const double value = std::max(variances[i], smallest);
        logs.push_back(std::log(value) - boost::math::digamma(half) + std::log(half));
        chance += boost::math::trigamma(half);
    }
    const double excess = variance(logs) - chance / static_cast<double>(logs.size());
    if (!(excess > 0))
        return {.variance = average,
                .degrees = std::numeric_limits<double>::infinity(),
                .most_degrees = all_degrees};
    const double half = inverse_trigamma(excess);
    return {.variance = std::exp(mean(logs) + boost::math::digamma(half) - std::log(half)),
            .degrees = 2 * half,
            .most_degrees = all_degrees};
}

VarianceEstimate moderate(const VarianceEstimate& own, const Prior& prior) {
    const bool has_own = counts(own);
    const bool has_prior = prior.degrees > 0;
    if (!has_prior) return has_own ? own : VarianceEstimate{.variance = unknown, .degrees = 0};
    const double own_degrees = has_own ? own.degrees : 0;
    const double degrees =
        std::max(own_degrees, std::min(prior.degrees + own_degrees, prior.most_degrees));
    if (!has_own || std::isinf(prior.degrees))
        return {.variance = prior.variance, .degrees = degrees};
    return {.variance = (prior.degrees * prior.variance + own.degrees * own.variance) /
                        (prior.degrees + own.degrees),
            .degrees = degrees};
}

} // namespace assay::stats
