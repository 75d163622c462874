// SPDX-License-Identifier: Apache-2.0

#include "stats/history.hpp"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
namespace {
bool is_share(double value) { return value > 0 && value < 1; }
} // namespace

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
