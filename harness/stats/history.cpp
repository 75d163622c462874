// SPDX-License-Identifier: Apache-2.0

#include "stats/history.hpp"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace assay::stats {
namespace {

bool is_share(double value) { return value > 0 && value < 1; }

struct Point {
    double x;
    double y;
};

/// Points in the order of x, without those that are not finite. Each pair of points has a slope, so many points
/// are merged with their neighbours, by medians, to `most`.
std::vector<Point> ordered_points(Values x, Values y) {
    constexpr std::size_t most = 1000; // half a million slopes: 4 MB, a few hundredths of a second
    std::vector<Point> points;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (std::isfinite(x[i]) && std::isfinite(y[i])) points.push_back({x[i], y[i]});
    std::ranges::sort(points, {}, &Point::x);
    if (points.size() <= most) return points;
    const std::size_t together = (points.size() + most - 1) / most;
    std::vector<Point> fewer;
    for (std::size_t i = 0; i < points.size(); i += together) {
        const std::size_t count = std::min(together, points.size() - i);
        std::vector<double> xs;
        std::vector<double> ys;
        for (std::size_t k = i; k < i + count; ++k) {
            xs.push_back(points[k].x);
            ys.push_back(points[k].y);
        }
        fewer.push_back({median(xs), median(ys)});
    }
    return fewer;
}

/// Sum over groups of k equal values of k (k - 1) (2k + 5): what ties take from Kendall's variance.
double tied(std::vector<double> values) {
    std::ranges::sort(values);
    double sum = 0;
    for (auto from = values.begin(); from != values.end();) {
        const auto to = std::upper_bound(from, values.end(), *from);
        const auto k = static_cast<double>(to - from);
        sum += k * (k - 1) * (2 * k + 5);
        from = to;
    }
    return sum;
}

double kendall_deviation(const std::vector<Point>& points) {
    std::vector<double> xs;
    std::vector<double> ys;
    for (const Point& point : points) {
        xs.push_back(point.x);
        ys.push_back(point.y);
    }
    const auto n = static_cast<double>(points.size());
    return std::sqrt(std::max(
        0.0, (n * (n - 1) * (2 * n + 5) - tied(std::move(xs)) - tied(std::move(ys))) / 18));
}

std::size_t different_x(const std::vector<Point>& points) {
    std::size_t count = points.empty() ? 0 : 1;
    for (std::size_t i = 1; i < points.size(); ++i)
        if (points[i].x != points[i - 1].x) ++count;
    return count;
}

} // namespace

Slope theil_sen(Values x, Values y, double confidence) {
    constexpr Slope none{.value = unknown, .low = unknown, .high = unknown};
    const auto points = ordered_points(x, y);
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t k = i + 1; k < points.size(); ++k)
            if (points[k].x > points[i].x)
                slopes.push_back((points[k].y - points[i].y) / (points[k].x - points[i].x));
    if (different_x(points) < 3 || !is_share(confidence)) return none;
    std::ranges::sort(slopes);
    // The slopes that Kendall's test of no trend would not reject: a range of ranks about the middle.
    const double reach =
        quantile(boost::math::normal{}, 0.5 + (confidence / 2)) * kendall_deviation(points);
    const auto count = static_cast<double>(slopes.size());
    const double last = count - 1;
    const auto low =
        static_cast<std::size_t>(std::clamp(std::nearbyint((count - reach) / 2) - 1, 0.0, last));
    const auto high =
        static_cast<std::size_t>(std::clamp(std::nearbyint((count + reach) / 2), 0.0, last));
    return {.value = median(slopes), .low = slopes[low], .high = slopes[high]};
}

double lower_tolerance_bound(Values values, double coverage, double confidence) {
    const double center = mean(values);
    const double spread = std::sqrt(variance(values));
    if (values.size() < 2 || !std::isfinite(center) || !std::isfinite(spread) ||
        !is_share(coverage) || !is_share(confidence))
        return unknown;
    if (spread == 0) return center;
    const auto count = static_cast<double>(values.size());
    const double beyond = quantile(boost::math::normal{}, coverage);
    const boost::math::non_central_t distribution{count - 1, beyond * std::sqrt(count)};
    return center - quantile(distribution, confidence) / std::sqrt(count) * spread;
}

double expected_smallest(Values values, std::size_t k) {
    const bool has_nan = std::ranges::any_of(values, [](double v) { return std::isnan(v); });
    if (values.empty() || k == 0 || has_nan) return unknown;
    std::vector<double> ordered(values.begin(), values.end());
    std::ranges::sort(ordered);
    const auto count = static_cast<double>(ordered.size());
    double sum = 0;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        // All k are this one or larger, less those draws where all are larger.
        const double from_here = (count - static_cast<double>(i)) / count;
        const double beyond = (count - static_cast<double>(i) - 1) / count;
        const auto draws = static_cast<double>(k);
        sum += ordered[i] * (std::pow(from_here, draws) - std::pow(beyond, draws));
    }
    return sum;
}

} // namespace assay::stats
