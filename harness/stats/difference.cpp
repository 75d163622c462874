// SPDX-License-Identifier: Apache-2.0
#include "stats/difference.hpp"

#include "stats/interval.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include <algorithm>
#include <cmath>

namespace assay::stats {
namespace {

double sum_of_squares(Values values) {
    return values.size() < 2 ? 0 : variance(values) * static_cast<double>(values.size() - 1);
}
double degrees_of(Values values) {
    return values.size() < 2 ? 0 : static_cast<double>(values.size() - 1);
}

/// Two-sided p value and the interval about `log_ratio`. If all values agree to the last digit
/// the standard error is 0: then any difference is certain.
Difference tested(double log_ratio, double standard_error, double degrees, double confidence) {
    Difference result{.log_ratio = log_ratio,
                      .standard_error = standard_error,
                      .degrees = degrees,
                      .p = unknown,
                      .low = unknown,
                      .high = unknown};
    if (!std::isfinite(log_ratio) || !std::isfinite(standard_error) || !(degrees > 0))
        return result;
    if (standard_error == 0) {
        result.p = log_ratio == 0 ? 1 : 0;
        result.low = result.high = log_ratio;
        return result;
    }
    const double t = std::abs(log_ratio) / standard_error;
    result.p = std::isfinite(t) ? 2 * student_above(t, degrees) : 0;
    const double half = student_factor(degrees, confidence) * standard_error;
    result.low = log_ratio - half;
    result.high = log_ratio + half;
    return result;
}

} // namespace

VarianceEstimate own_variance(Values logs) { return pooled_variance(logs, {}); }

VarianceEstimate pooled_variance(Values log_a, Values log_b) {
    const double degrees = degrees_of(log_a) + degrees_of(log_b);
    const double squares = sum_of_squares(log_a) + sum_of_squares(log_b);
    if (degrees == 0 || !std::isfinite(squares)) return {.variance = unknown, .degrees = 0};
    return {.variance = squares / degrees, .degrees = degrees};
}

Difference difference(Values log_a, Values log_b, const VarianceEstimate& variance,
                      double confidence) {
    const double share =
        1 / static_cast<double>(log_a.size()) + 1 / static_cast<double>(log_b.size());
    return tested(mean(log_b) - mean(log_a), std::sqrt(variance.variance * share), variance.degrees,
                  confidence);
}

Difference paired_difference(Values log_differences, const VarianceEstimate& variance,
                             double confidence) {
    const auto count = static_cast<double>(log_differences.size());
    return tested(mean(log_differences), std::sqrt(variance.variance / count), variance.degrees,
                  confidence);
}

// --- verdict -------------------------------------------------------------------------------------

namespace {

/// Places of those that are not NaN, smallest first.
std::vector<std::size_t> ascending(Values p) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (!std::isnan(p[i])) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
    return order;
}

std::size_t called(const std::vector<double>& adjusted, double alpha) {
    return static_cast<std::size_t>(
        std::ranges::count_if(adjusted, [&](double p) { return p <= alpha; }));
}
std::size_t tested(Values p) {
    return static_cast<std::size_t>(
        std::ranges::count_if(p, [](double value) { return !std::isnan(value); }));
}

} // namespace

std::vector<double> benjamini_hochberg(Values p) {
    const auto order = ascending(p);
    const auto count = static_cast<double>(order.size());
    std::vector<double> adjusted(p.begin(), p.end());
    double smallest = 1;
    for (std::size_t rank = order.size(); rank-- > 0;) { // from the largest down
        smallest = std::min(smallest, p[order[rank]] * count / static_cast<double>(rank + 1));
        adjusted[order[rank]] = smallest;
    }
    return adjusted;
}

std::vector<double> holm(Values p) {
    const auto order = ascending(p);
    std::vector<double> adjusted(p.begin(), p.end());
    double largest = 0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        const auto left = static_cast<double>(order.size() - rank);
        largest = std::max(largest, std::min(1.0, p[order[rank]] * left));
        adjusted[order[rank]] = largest;
    }
    return adjusted;
}

double level_of_next_discovery(Values p, double alpha) {
    const auto count = static_cast<double>(std::max<std::size_t>(tested(p), 1));
    const auto next = static_cast<double>(called(benjamini_hochberg(p), alpha) + 1);
    return alpha * std::min(next, count) / count;
}

double level_of_next_holm(Values p, double alpha) {
    const std::size_t left = tested(p) - called(holm(p), alpha);
    return alpha / static_cast<double>(std::max<std::size_t>(left, 1));
}

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
    const double degrees = difference.degrees;
    const double least = -student_quantile(level / 2, degrees) * difference.standard_error;
    const double called = std::max(least, std::log1p(minimum_effect));
    const double change =
        std::expm1(called + student_quantile(power, degrees) * difference.standard_error);
    return std::isfinite(change) ? change : unknown;
}

// --- moderation ----------------------------------------------------------------------------------

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
    // The standard error of a variance of m values is sqrt(2 / (m - 1)) of it. The prior's own variance stays: a
    // smaller one, which goes with fewer degrees, would make tests bolder.
    const double error =
        std::max(logs.variance, logs.chance) * std::sqrt(2 / static_cast<double>(logs.series - 1));
    const double excess = logs.variance - logs.chance + error;
    if (excess > 0) prior.degrees = std::min(prior.degrees, 2 * inverse_trigamma(excess));
    return prior;
}

VarianceEstimate sum_of(const VarianceEstimate& a, const VarianceEstimate& b) {
    const double sum = a.variance + b.variance;
    const double doubt = a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees;
    return {.variance = sum,
            .degrees = doubt > 0 ? sum * sum / doubt : std::max(a.degrees, b.degrees)};
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
