// SPDX-License-Identifier: Apache-2.0

#include "stats/difference.hpp"
#include "stats/verdict.hpp"

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

} // namespace assay::stats
