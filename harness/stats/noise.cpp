// SPDX-License-Identifier: Apache-2.0
#include "stats/noise.hpp"

#include "stats/student.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace assay::stats {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Means of the quanta that begin in each window; windows that are not full are left out.
std::vector<double> window_means(std::span<const Quantum> quanta, double window_seconds,
                                 std::size_t count) {
    std::vector<double> sums(count, 0);
    std::vector<std::size_t> counts(count, 0);
    for (const auto& quantum : quanta) {
        const auto window = static_cast<std::size_t>(quantum.start / window_seconds);
        if (window >= count) continue;
        sums[window] += quantum.seconds;
        ++counts[window];
    }
    for (std::size_t i = 0; i < count; ++i)
        sums[i] = counts[i] == 0 ? nothing : sums[i] / static_cast<double>(counts[i]);
    return sums;
}

} // namespace

Jitter jitter_of(std::span<const Quantum> quanta) {
    Jitter jitter;
    if (quanta.empty()) return jitter;
    std::vector<double> seconds;
    seconds.reserve(quanta.size());
    double total = 0;
    for (const auto& quantum : quanta) {
        seconds.push_back(quantum.seconds);
        total += quantum.seconds;
    }
    constexpr double fastest_twentieth = 0.05;
    constexpr double slow_tail = 0.99;
    jitter.count = quanta.size();
    jitter.usual = quantile(seconds, fastest_twentieth);
    jitter.median = median(seconds);
    jitter.p99 = quantile(seconds, slow_tail);
    jitter.longest = std::ranges::max(seconds);
    for (const double taken : seconds) {
        const double excess = std::max(0.0, taken / jitter.usual - 1);
        auto bin = jitter.bins.rbegin();
        while (excess < bin->from) ++bin; // the first begins at zero
        ++bin->count;
        bin->lost_seconds += excess * jitter.usual;
    }
    double lost = 0;
    for (const auto& bin : jitter.bins) lost += bin.lost_seconds;
    jitter.lost = lost / total;
    return jitter;
}

std::vector<double> window_levels(std::span<const std::vector<Quantum>> cores,
                                  double window_seconds) {
    if (cores.empty() || !(window_seconds > 0)) return {};
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& quanta : cores)
        shortest =
            std::min(shortest, quanta.empty() ? 0 : quanta.back().start + quanta.back().seconds);
    constexpr double almost = 0.02; // the last window may end a little early
    const auto count = static_cast<std::size_t>(shortest / window_seconds + almost);
    std::vector<double> slowest(count, 0);
    for (const auto& quanta : cores) {
        const double usual = jitter_of(quanta).usual;
        const auto means = window_means(quanta, window_seconds, count);
        for (std::size_t i = 0; i < count; ++i)
            slowest[i] = std::max(slowest[i], means[i] / usual); // keeps the other where one is NaN
    }
    std::erase(slowest, 0.0); // a core slept through the whole window
    for (double& level : slowest) level = std::log(level);
    return slowest;
}

Expectation expectation_of(std::span<const double> levels, std::size_t replicas) {
    if (replicas < 2 || levels.size() < 2 * replicas)
        return {.usual = nothing, .one_in_ten = nothing, .difference = nothing};
    constexpr int draws = 4000; // their percentiles are precise to a few percent
    std::mt19937_64 random{20260131};
    const double factor = student_factor(static_cast<double>(replicas) - 1, 0.95) /
                          std::sqrt(static_cast<double>(replicas));
    std::vector<double> drawn{levels.begin(), levels.end()};
    std::vector<double> widths;
    std::vector<double> differences;
    for (int draw = 0; draw < draws; ++draw) {
        for (std::size_t i = 0; i < 2 * replicas; ++i) // the front becomes a random choice
            std::swap(drawn[i], drawn[i + random() % (drawn.size() - i)]);
        const std::span<const double> first{drawn.data(), replicas};
        const std::span<const double> second{drawn.data() + replicas, replicas};
        widths.push_back(std::expm1(factor * std::sqrt(variance(first))));
        differences.push_back(std::expm1(std::fabs(mean(first) - mean(second))));
    }
    constexpr double nine_in_ten = 0.9;
    constexpr double confidence = 0.95;
    return {.usual = median(widths),
            .one_in_ten = quantile(widths, nine_in_ten),
            .difference = quantile(differences, confidence)};
}

} // namespace assay::stats
