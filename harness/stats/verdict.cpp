// SPDX-License-Identifier: Apache-2.0

#include "stats/verdict.hpp"

#include "stats/student.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
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

} // namespace assay::stats
