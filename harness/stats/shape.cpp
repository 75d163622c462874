// SPDX-License-Identifier: Apache-2.0
#include "stats/shape.hpp"

#include "stats/alpha_beta.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

struct LogPoint {
    double size;
    double rate;
    double log;
    double half; // of the interval
};

std::vector<LogPoint> usable(std::span<const RatePoint> points) {
    std::vector<LogPoint> out;
    for (const RatePoint& p : points) {
        if (!std::isfinite(p.rate) || !(p.rate > 0) || !(p.size > 0)) continue;
        const bool known = p.low > 0 && p.high > p.low && std::isfinite(p.high);
        out.push_back({.size = p.size,
                       .rate = p.rate,
                       .log = std::log(p.rate),
                       .half = known ? std::log(p.high / p.low) / 2 : 0});
    }
    return out;
}

/// Is b significantly below a by more than `log_least`?
bool is_below(const LogPoint& b, const LogPoint& a, double log_least) {
    return a.log - b.log - std::hypot(a.half, b.half) > log_least;
}

} // namespace

std::optional<Fall> find_fall(std::span<const RatePoint> points, double least) {
    const auto all = usable(points);
    const double log_least = -std::log1p(-least);
    // The second best point counts: the best may be luck.
    std::vector<std::size_t> by_rate;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (by_rate.size() >= 2) {
            const auto second = all[by_rate[1]];
            const bool for_good =
                i + 1 < all.size() &&
                std::all_of(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(),
                            [&](const LogPoint& p) { return is_below(p, second, log_least); });
            if (for_good) {
                const auto lowest = std::min_element(
                    all.begin() + static_cast<std::ptrdiff_t>(i), all.end(),
                    [](const LogPoint& a, const LogPoint& b) { return a.log < b.log; });
                return Fall{.best_size = all[by_rate[0]].size,
                            .best_rate = all[by_rate[0]].rate,
                            .size = all[i].size,
                            .rate = lowest->rate};
            }
        }
        by_rate.push_back(i);
        std::ranges::sort(by_rate,
                          [&](std::size_t a, std::size_t b) { return all[a].log > all[b].log; });
        if (by_rate.size() > 2) by_rate.pop_back();
    }
    return std::nullopt;
}

std::optional<TimeStep> find_time_step(std::span<const RatePoint> points, double least) {
    std::vector<CostPoint> costs;
    for (const LogPoint& p : usable(points))
        costs.push_back({.size = p.size, .seconds = p.size / p.rate, .terms = {{1, p.size}}});
    const CostFit fit = fit_cost(costs);
    std::optional<TimeStep> largest;
    for (std::size_t i = 0; i + 1 < fit.segments.size(); ++i) {
        const CostSegment& left = fit.segments[i];
        const CostSegment& right = fit.segments[i + 1];
        const Terms there{1, right.from};
        const Estimate before = predict(fit, left.models.front(), there);
        const Estimate after = predict(fit, right.models.front(), there);
        const double ratio = after.value / before.value;
        if (!(ratio > 1 + least) || !(after.low > before.high)) continue;
        if (!largest || ratio > largest->ratio)
            largest = TimeStep{.before = left.to, .after = right.from, .ratio = ratio};
    }
    return largest;
}

} // namespace assay::stats
