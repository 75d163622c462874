// SPDX-License-Identifier: Apache-2.0
#include "stats/levels.hpp"

#include "stats/alpha_beta.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace assay::stats {
namespace {

// Factors, as differences of logarithms.
// From one level to the next: latencies of a memory differ by 1.8 and more, pieces of the slope that
// leads up to a level by less.
const double distinct = std::log(1.3);
// Over a doubling of the size, on a level. Where the size outgrows a cache latencies rise by 1.4 and more.
const double flat = std::log(1.25);
// Distance of a single point from the level it belongs to.
const double far_off = std::log(1.4);
const double alike = distinct / 2;
// Summed deviations that a further segment must save.
const double worth_a_cut = std::log(1.35);

struct Curve {
    std::vector<double> size;  // logarithms, to base 2, rising
    std::vector<double> value; // natural logarithms; rising where the curve goes as it must
};

/// Points [first, last) of a curve, with about one value.
struct Segment {
    std::size_t first;
    std::size_t last;
    double value;
    std::size_t count; // points that count; merging leaves some out
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Curve curve_of(std::span<const CurvePoint> points, Trend trend) {
    std::vector<CurvePoint> sorted;
    for (const CurvePoint& point : points)
        if (std::isfinite(point.size) && std::isfinite(point.value) && point.size > 0 &&
            point.value > 0)
            sorted.push_back(point);
    std::ranges::sort(sorted, {}, &CurvePoint::size);
    Curve curve;
    for (std::size_t i = 0; i < sorted.size();) {
        std::vector<double> same;
        const double size = sorted[i].size;
        for (; i < sorted.size() && sorted[i].size == size; ++i)
            same.push_back(std::log(sorted[i].value) * (trend == Trend::rising ? 1 : -1));
        curve.size.push_back(std::log2(size));
        curve.value.push_back(median(std::move(same)));
    }
    return curve;
}

/// Between neighbours, most of which lie on the same level.
double noise_of(const Curve& curve) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < curve.value.size(); ++i)
        steps.push_back(std::fabs(curve.value[i] - curve.value[i - 1]));
    return steps.empty() ? 0 : median(std::move(steps));
}

double spread_of(const std::vector<double>& values, double about) {
    return std::accumulate(values.begin(), values.end(), 0.0, [about](double sum, double value) {
        return sum + std::fabs(value - about);
    });
}

/// The cut into constant pieces with the least sum of absolute deviations and costs of cuts: exact, by
/// dynamic programming, for the few dozen points that a sweep has.
std::vector<Segment> cut(const Curve& curve, double cost) {
    const std::size_t count = curve.value.size();
    struct Best {
        double cost = std::numeric_limits<double>::infinity();
        std::size_t first = 0; // of the last segment
        double value = 0;
    };
    std::vector<Best> best(count + 1); // of the first i points
    best[0].cost = 0;
    for (std::size_t first = 0; first < count; ++first) {
        std::vector<double> sorted;
        for (std::size_t last = first + 1; last <= count; ++last) {
            const double added = curve.value[last - 1];
            sorted.insert(std::ranges::upper_bound(sorted, added), added);
            const double about = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
            const double sum = best[first].cost + spread_of(sorted, about) + cost;
            if (sum < best[last].cost) best[last] = {.cost = sum, .first = first, .value = about};
        }
    }
    std::vector<Segment> segments;
    for (std::size_t last = count; last > 0; last = best[last].first)
        segments.push_back({.first = best[last].first,
                            .last = last,
                            .value = best[last].value,
                            .count = last - best[last].first});
    std::ranges::reverse(segments);
    return segments;
}

bool is_level(const Curve& curve, const Segment& segment, double noise) {
    if (segment.count < 2) return false;
    const double change = std::fabs(curve.value[segment.last - 1] - curve.value[segment.first]);
    return change <= noise + flat * (curve.size[segment.last - 1] - curve.size[segment.first]);
}

/// A cut lies where it saves most, which may leave an end of a slope on a level: removes that.
void trim(const Curve& curve, Segment& of) {
    const auto is_off = [&](std::size_t i) {
        return std::fabs(curve.value[i] - of.value) > far_off;
    };
    for (; of.count > 1 && is_off(of.first); --of.count) ++of.first;
    for (; of.count > 1 && is_off(of.last - 1); --of.count) --of.last;
}

bool belongs(const Curve& curve, std::size_t i, const Segment& to) {
    return std::fabs(curve.value[i] - to.value) <= alike;
}

/// The extent of `of` before the curve reaches `after`.
std::size_t end_of(const Curve& curve, const Segment& of, const Segment* after) {
    const std::size_t end = after == nullptr ? curve.value.size() : after->first;
    std::size_t last = of.last;
    for (std::size_t i = of.last; i < end; ++i) {
        if (after != nullptr && belongs(curve, i, *after)) break;
        if (belongs(curve, i, of)) last = i + 1;
    }
    return last;
}

std::size_t begin_of(const Curve& curve, const Segment& of, const Segment* before) {
    const std::size_t begin = before == nullptr ? 0 : before->last;
    std::size_t first = of.first;
    for (std::size_t i = of.first; i > begin; --i) {
        if (before != nullptr && belongs(curve, i - 1, *before)) break;
        if (belongs(curve, i - 1, of)) first = i - 1;
    }
    return first;
}

/// A disturbed point may hide quiet ones beyond it: extends a level over them, until the curve reaches
/// the next level.
void extend(const Curve& curve, std::vector<Segment>& levels) {
    for (std::size_t n = 0; n < levels.size(); ++n) {
        levels[n].last =
            end_of(curve, levels[n], n + 1 == levels.size() ? nullptr : &levels[n + 1]);
        levels[n].first = begin_of(curve, levels[n], n == 0 ? nullptr : &levels[n - 1]);
    }
}

Segment merged(const Segment& a, const Segment& b) {
    const auto weight = static_cast<double>(a.count) / static_cast<double>(a.count + b.count);
    return {.first = a.first,
            .last = b.last,
            .value = weight * a.value + (1 - weight) * b.value,
            .count = a.count + b.count};
}

/// Merges neighbours of the same level; of two that contradict the trend the one with fewer points was a
/// disturbance.
void settle(std::vector<Segment>& levels) {
    for (std::size_t i = 0; i + 1 < levels.size();) {
        Segment& left = levels[i];
        const Segment& right = levels[i + 1];
        const double step = right.value - left.value;
        const auto next = levels.begin() + static_cast<std::ptrdiff_t>(i);
        if (step >= distinct) {
            ++i;
            continue;
        }
        if (step > -distinct) {
            left = merged(left, right);
            levels.erase(next + 1);
        } else {
            levels.erase(left.count < right.count ? next : next + 1);
        }
        if (i > 0) --i; // the rest may now agree or disagree with the previous one
    }
}

} // namespace

std::vector<Level> find_levels(std::span<const CurvePoint> points, Trend trend) {
    const Curve curve = curve_of(points, trend);
    // Five times the usual difference: with less, noise is cut into pieces.
    const double noise = noise_of(curve);
    std::vector<Segment> segments = cut(curve, worth_a_cut + 5 * noise);
    for (Segment& segment : segments) trim(curve, segment);
    std::erase_if(segments, [&](const Segment& of) { return !is_level(curve, of, noise); });
    settle(segments);
    extend(curve, segments);
    std::vector<Level> levels;
    levels.reserve(segments.size());
    for (const Segment& segment : segments)
        levels.push_back(
            {.from = std::exp2(curve.size[segment.first]),
             .to = std::exp2(curve.size[segment.last - 1]),
             .value = std::exp(trend == Trend::rising ? segment.value : -segment.value)});
    return levels;
}

// --- shape ---------------------------------------------------------------------------------------

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
