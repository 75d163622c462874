// SPDX-License-Identifier: Apache-2.0

#include "decide/fleet.hpp"

#include "stats/interval.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace assay::decide {
namespace {

/// Cut-offs: further below than above, for bad nodes are slow.
constexpr double furthest_below = 3;
constexpr double furthest_above = 4.5;
/// A standard deviation of normal values is so many median absolute deviations.
constexpr double of_mad = 1.4826;
/// The variance of a normal distribution cut off at -3 and 4.5.
constexpr double left_by_cut = 0.973;
/// Variance of the median of many normal values: times variance over their number.
constexpr double of_median = std::numbers::pi / 2;

double normal_quantile(double p) { return quantile(boost::math::normal{}, p); }
double normal_tail(double z) { return cdf(boost::math::normal{}, z); }

} // namespace

FleetLevel fleet_level(stats::Values logs) {
    FleetLevel level{.nodes = logs.size(), .center = stats::median(logs)};
    if (logs.size() < 2 || !std::isfinite(level.center)) return level;
    std::vector<double> away;
    for (const double value : logs) away.push_back(std::abs(value - level.center));
    const double deviation = of_mad * stats::median(away);
    const double wider = 1 + (4 / static_cast<double>(logs.size()));
    std::vector<double> kept;
    for (const double value : logs) {
        const double from = value - level.center;
        // More than half of the nodes agree to the last digit: nothing says how far is far.
        if (deviation == 0 || (from > -furthest_below * deviation * wider &&
                               from < furthest_above * deviation * wider))
            kept.push_back(value);
    }
    level.left_out = logs.size() - kept.size();
    level.variance = stats::own_variance(kept);
    level.variance.variance /= left_by_cut;
    return level;
}

DeviationInterval deviation_interval(const stats::VarianceEstimate& variance, double confidence) {
    if (!(variance.degrees > 0) || !(variance.variance >= 0)) return {};
    const boost::math::chi_squared law{variance.degrees};
    const double squares = variance.variance * variance.degrees;
    const double tail = (1 - confidence) / 2;
    return {.deviation = std::sqrt(variance.variance),
            .low = std::sqrt(squares / quantile(law, 1 - tail)),
            .high = std::sqrt(squares / quantile(law, tail))};
}

double fleet_factor(double level, double degrees, std::size_t nodes) {
    return -stats::student_quantile(level, degrees) *
           std::sqrt(1 + (of_median / static_cast<double>(nodes)));
}

FleetBounds fleet_bounds(const stats::VarianceEstimate& variance, double noise, std::size_t nodes,
                         std::size_t metrics, const FleetRule& rule) {
    if (!(variance.degrees > 0) || !(variance.variance >= 0) || nodes == 0 || metrics == 0)
        return {};
    const double of_noise = std::clamp(noise, 0.0, variance.variance);
    FleetBounds bounds;
    bounds.sd_of_value = std::sqrt(variance.variance);
    bounds.sd_of_median = std::sqrt(variance.variance - of_noise +
                                    (of_median * of_noise / static_cast<double>(rule.retests)));
    bounds.screen = fleet_factor(rule.screen, variance.degrees, nodes) * bounds.sd_of_value;
    // Retests do not make the fleet's median any surer.
    const double of_center = of_median * variance.variance / static_cast<double>(nodes);
    bounds.accuse =
        -stats::student_quantile(rule.accuse / static_cast<double>(metrics), variance.degrees) *
        std::sqrt((bounds.sd_of_median * bounds.sd_of_median) + of_center);
    return bounds;
}

double fleet_slowdown(const FleetBounds& bounds, std::size_t nodes, const FleetRule& rule) {
    // Both must happen: each is missed in at most half of what may be missed.
    const double z = normal_quantile(1 - ((1 - rule.power) / 2)) *
                     std::sqrt(1 + (of_median / static_cast<double>(nodes)));
    return -std::expm1(-std::max(bounds.screen + (z * bounds.sd_of_value),
                                 bounds.accuse + (z * bounds.sd_of_median)));
}

double fleet_false_accept(const FleetBounds& bounds, double slowdown) {
    const double by = -std::log1p(-slowdown);
    const auto missed = [&](double bound, double deviation) {
        if (!(deviation > 0)) return by > bound ? 0.0 : 1.0;
        return normal_tail((bound - by) / deviation);
    };
    return std::min(1.0, missed(bounds.screen, bounds.sd_of_value) +
                             missed(bounds.accuse, bounds.sd_of_median));
}

std::size_t nodes_without_distribution(double level, double confidence) {
    return static_cast<std::size_t>(std::ceil(std::log(1 - confidence) / std::log1p(-level)));
}

std::optional<std::size_t> rank_without_distribution(std::size_t nodes, double level,
                                                     double confidence) {
    // The r-th smallest is below the quantile if r values or more are: a binomial number of them.
    std::optional<std::size_t> rank;
    for (std::size_t r = 1; r <= nodes; ++r) {
        if (1 - probability_of_at_most(r - 1, nodes, level) < confidence) break;
        rank = r;
    }
    return rank;
}

// --- where variance comes from ---------------------------------------------------------------------

std::vector<stats::VarianceEstimate> nested_variances(std::span<const Nested> values) {
    struct Item {
        const Nested* of;
        double value;
        double error; ///< its variance from below
    };
    std::vector<Item> items;
    items.reserve(values.size());
    for (const auto& value : values) items.push_back({&value, value.value, 0});
    // Once in order, the members of every group follow each other.
    std::ranges::stable_sort(items, {},
                             [](const Item& item) -> const auto& { return item.of->groups; });
    std::vector<stats::VarianceEstimate> found;
    const std::size_t levels = values.empty() ? 0 : values.front().groups.size();
    for (std::size_t level = 0; level <= levels; ++level) {
        const auto of_group = [&](const Item& item) {
            return std::span{item.of->groups}.first(levels - level);
        };
        std::vector<std::span<const Item>> groups;
        for (std::size_t i = 0; i < items.size();) {
            const std::size_t first = i;
            while (i < items.size() &&
                   std::ranges::equal(of_group(items[i]), of_group(items[first])))
                ++i;
            groups.push_back(std::span<const Item>{items}.subspan(first, i - first));
        }
        double squares = 0;
        double errors = 0;
        double degrees = 0;
        for (const auto members : groups) {
            const auto count = static_cast<double>(members.size());
            double mean = 0;
            double error = 0;
            for (const auto& member : members) {
                mean += member.value / count;
                error += member.error / count;
            }
            for (const auto& member : members)
                squares += (member.value - mean) * (member.value - mean);
            errors += (count - 1) * error;
            degrees += count - 1;
        }
        const double own =
            degrees > 0 ? std::max(0.0, (squares - errors) / degrees) : stats::unknown;
        found.push_back({.variance = own, .degrees = degrees});
        if (level == levels) break;
        std::vector<Item> larger;
        larger.reserve(groups.size());
        for (const auto members : groups) {
            const auto count = static_cast<double>(members.size());
            Item group{.of = members.front().of, .value = 0, .error = 0};
            for (const auto& member : members) {
                group.value += member.value / count;
                group.error += (member.error + (degrees > 0 ? own : 0)) / (count * count);
            }
            larger.push_back(group);
        }
        items = std::move(larger);
    }
    return found;
}

// --- plans of two parties -----------------------------------------------------------------------------

double probability_of_at_most(std::size_t failures, std::size_t trials, double each) {
    if (failures >= trials) return 1;
    return cdf(boost::math::binomial{static_cast<double>(trials), std::clamp(each, 0.0, 1.0)},
               static_cast<double>(failures));
}

std::size_t allowed_failures(std::size_t trials, double each, double risk) {
    std::size_t allowed = 0;
    while (allowed < trials && 1 - probability_of_at_most(allowed, trials, each) > risk) ++allowed;
    return allowed;
}

std::optional<ReliabilityPlan> reliability_plan(double ratio, double vendor_risk,
                                                double buyer_risk) {
    constexpr std::size_t most = 1000;
    // At most c failures happen in a time of mean m with the probability
    // that chi-squared of 2 (c + 1) degrees exceeds 2 m.
    for (std::size_t allowed = 0; allowed <= most; ++allowed) {
        const boost::math::chi_squared law{2 * (static_cast<double>(allowed) + 1)};
        const double shortest = quantile(law, 1 - buyer_risk) / 2 / ratio;
        const double longest = quantile(law, vendor_risk) / 2;
        if (shortest <= longest) return ReliabilityPlan{.allowed = allowed, .length = shortest};
    }
    return {};
}

} // namespace assay::decide
