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

/// Replaces variances of zero (all values equal to the last digit), which have no logarithm and would make
/// the rest look wildly different.
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

/// The variation of the logarithms of the variances, and how much of it is chance.
struct Logs {
    std::size_t series = 0;
    double mean_variance = unknown;
    double all_degrees = 0;
    double mean = unknown; ///< of the logarithms, each less its expected bias
    double variance = unknown;
    double chance = unknown;
};
Logs logs_of(std::span<const VarianceEstimate> series) {
    std::vector<double> variances;
    std::vector<double> degrees;
    Logs result;
    for (const VarianceEstimate& estimate : series) {
        if (!counts(estimate)) continue;
        variances.push_back(estimate.variance);
        degrees.push_back(estimate.degrees);
        result.all_degrees += estimate.degrees;
    }
    result.series = variances.size();
    result.mean_variance = mean(variances);
    const double smallest = smallest_variance(variances);
    if (!(smallest > 0)) return result;
    std::vector<double> logs;
    double chance = 0;
    for (std::size_t i = 0; i < variances.size(); ++i) {
        const double half = degrees[i] / 2;
        const double value = std::max(variances[i], smallest);
        logs.push_back(std::log(value) - boost::math::digamma(half) + std::log(half));
        chance += boost::math::trigamma(half);
    }
    result.mean = mean(logs);
    result.variance = variance(logs);
    result.chance = chance / static_cast<double>(logs.size());
    return result;
}

Prior prior_of(const Logs& logs) {
    if (logs.series == 0) return {};
    Prior prior{.variance = logs.mean_variance, .degrees = 0};
    if (std::isnan(logs.variance)) return prior;
    prior.most_degrees = logs.all_degrees;
    prior.degrees = std::numeric_limits<double>::infinity();
    const double excess = logs.variance - logs.chance;
    if (!(excess > 0)) return prior;
    const double half = inverse_trigamma(excess);
    prior.degrees = 2 * half;
    prior.variance = std::exp(logs.mean + boost::math::digamma(half) - std::log(half));
    return prior;
}

} // namespace

Prior moment_prior(std::span<const VarianceEstimate> series) { return prior_of(logs_of(series)); }

Prior fit_prior(std::span<const VarianceEstimate> series) {
    constexpr std::size_t fewest = 5;
    const Logs logs = logs_of(series);
    Prior prior = prior_of(logs);
    if (!(prior.degrees > 0)) return prior;
    if (logs.series < fewest) return {.variance = prior.variance, .degrees = 0};
    // Of a variance of m values the standard error is sqrt(2 / (m - 1)) of it. The prior's own variance
    // stays: a smaller one, which goes with fewer degrees, would make tests bolder.
    const double error =
        std::max(logs.variance, logs.chance) * std::sqrt(2 / static_cast<double>(logs.series - 1));
    const double excess = logs.variance - logs.chance + error;
    if (excess > 0) prior.degrees = std::min(prior.degrees, 2 * inverse_trigamma(excess));
    return prior;
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
