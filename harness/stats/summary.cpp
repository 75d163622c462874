// SPDX-License-Identifier: Apache-2.0

#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace assay::stats {
namespace {

bool has_nan(Values values) {
    return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

} // namespace

double mean(Values values) {
    if (values.empty()) return unknown;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(Values values) {
    if (values.size() < 2) return unknown;
    const double center = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - center) * (value - center);
    return squares / static_cast<double>(values.size() - 1);
}

double quantile(Values values, double p) {
    if (values.empty() || has_nan(values) || std::isnan(p) || p < 0 || p > 1) return unknown;
    std::vector<double> ordered(values.begin(), values.end());
    const double position = static_cast<double>(ordered.size() - 1) * p;
    const auto index = static_cast<std::ptrdiff_t>(position);
    const auto below = ordered.begin() + index;
    std::nth_element(ordered.begin(), below, ordered.end());
    const double fraction = position - static_cast<double>(index);
    if (fraction == 0) return *below;
    const double above = *std::ranges::min_element(below + 1, ordered.end());
    // Infinities would give inf - inf between two equal neighbours.
    return *below == above ? above : *below + fraction * (above - *below);
}

double median(Values values) { return quantile(values, 0.5); }

double min(Values values) {
    if (values.empty() || has_nan(values)) return unknown;
    return *std::ranges::min_element(values);
}

double geometric_mean(Values values) {
    if (values.empty()) return unknown;
    double logs = 0;
    for (const double value : values) logs += std::log(value);
    return std::exp(logs / static_cast<double>(values.size()));
}

double average(Values values) {
    return std::ranges::count(values, 0.0) > 0 ? mean(values) : geometric_mean(values);
}

double lag1_autocorrelation(Values values) {
    if (values.size() < 2) return unknown;
    const double center = mean(values);
    double squares = 0;
    double products = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double here = values[i] - center;
        squares += here * here;
        if (i > 0) products += here * (values[i - 1] - center);
    }
    return squares == 0 ? 0.0 : products / squares;
}

} // namespace assay::stats
