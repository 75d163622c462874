// SPDX-License-Identifier: Apache-2.0
#include "stats/fast_level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace assay::stats {
namespace {

constexpr std::size_t fewest_for_a_cut = 3;
constexpr double confidence = 0.95;
constexpr double within_three = 0.9973; // of a normal distribution

/// A value of a replica as the logarithm of a time: smaller is faster.
double cost(double value, bool higher_is_better) {
    return higher_is_better ? -std::log(value) : std::log(value);
}

double normal_factor() {
    return student_factor(std::numeric_limits<double>::infinity(), confidence);
}

/// Variance of a replica's own mean, pooled over those with an interval; 0 if none has one.
double variance_within(std::span<const Estimate> replicas) {
    double squares = 0;
    double known = 0;
    for (const Estimate& replica : replicas) {
        const double half = std::log1p((replica.high - replica.low) / 2 / replica.value);
        if (!std::isfinite(half)) continue;
        squares += half * half;
        ++known;
    }
    const double factor = normal_factor();
    return known == 0 ? 0 : squares / known / (factor * factor);
}

/// How far from the mean of `kept` ones another replica may lie.
double reach_of(Values kept, double expected_variance, double prior_degrees) {
    const auto count = static_cast<double>(kept.size());
    const double degrees = prior_degrees + count - 1;
    if (!(degrees > 0)) return std::numeric_limits<double>::infinity();
    double moderated = expected_variance * prior_degrees / degrees;
    if (kept.size() > 1) moderated += variance(kept) * (count - 1) / degrees;
    return student_factor(degrees, within_three) * std::sqrt(moderated * (1 + 1 / count));
}

/// How many of `sorted` lie at the level of the first ones.
std::size_t count_level(Values sorted, double expected_variance, double prior_degrees) {
    double sum = sorted.front();
    std::size_t kept = 1;
    while (kept < sorted.size()) {
        const auto count = static_cast<double>(kept);
        if (sorted[kept] - sum / count >
            reach_of(sorted.first(kept), expected_variance, prior_degrees))
            break;
        sum += sorted[kept++];
    }
    return kept;
}

/// Where the first level begins, and how many are on it. `quiet`: of the sorted replicas, or empty.
std::pair<std::size_t, std::size_t> find_level(Values sorted, double expected_variance,
                                               double prior_degrees,
                                               const std::vector<bool>& quiet) {
    if (sorted.size() < fewest_for_a_cut && quiet.empty()) return {0, sorted.size()};
    for (std::size_t begin = 0; begin < sorted.size(); ++begin) {
        const auto rest = sorted.subspan(begin);
        auto count = count_level(rest, expected_variance, prior_degrees);
        // Seen from one replica a level is wide. The others on it tell whether it belongs to them.
        if (count >= fewest_for_a_cut) {
            const auto others = rest.subspan(1, count - 1);
            if (mean(others) - rest.front() > reach_of(others, expected_variance, prior_degrees))
                count = 1;
        }
        if (count > 1 || (!quiet.empty() && quiet[begin])) return {begin, count};
    }
    return {0, quiet.empty() ? sorted.size() : 1};
}

} // namespace

FastLevel fast_level(std::span<const Estimate> replicas, const ReplicaPrior& prior,
                     bool higher_is_better, const std::vector<bool>& quiet) {
    FastLevel level{.kept = std::vector<std::size_t>(replicas.size()),
                    .combined = combine_replicas(replicas),
                    .slow = unknown};
    std::iota(level.kept.begin(), level.kept.end(), std::size_t{0});
    if (replicas.size() < 2 || !std::isfinite(level.combined.value)) return level;
    std::vector<double> costs;
    for (const Estimate& replica : replicas) costs.push_back(cost(replica.value, higher_is_better));
    std::ranges::stable_sort(level.kept, {}, [&](std::size_t i) { return costs[i]; });
    std::ranges::sort(costs);
    const double expected = (prior.deviation * prior.deviation) + variance_within(replicas);
    std::vector<bool> sorted_quiet;
    if (!quiet.empty())
        for (const auto i : level.kept) sorted_quiet.push_back(quiet[i]);
    const auto [begin, count] = find_level(costs, expected, prior.degrees, sorted_quiet);
    const auto first = level.kept.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    std::vector<double> others;
    for (auto it = level.kept.begin(); it != level.kept.end(); ++it)
        if (it < first || it >= last) others.push_back(std::log(replicas[*it].value));
    if (!others.empty()) level.slow = std::exp(mean(others));
    level.kept = std::vector<std::size_t>(first, last);
    std::vector<Estimate> kept;
    for (const auto i : level.kept) kept.push_back(replicas[i]);
    level.combined = combine_level(kept, prior);
    return level;
}

Combined combine_level(std::span<const Estimate> replicas, const ReplicaPrior& prior) {
    auto combined = combine_replicas(replicas);
    if (replicas.size() < 2 || !std::isfinite(combined.value)) return combined;
    std::vector<double> logs;
    for (const Estimate& replica : replicas) logs.push_back(std::log(replica.value));
    const double within = variance_within(replicas);
    const auto count = static_cast<double>(logs.size());
    const double degrees = prior.degrees + count - 1;
    const double expected = (prior.deviation * prior.deviation) + within;
    const double pooled = ((prior.degrees * expected) + (variance(logs) * (count - 1))) / degrees;
    const double half = std::max(student_factor(degrees, confidence) * std::sqrt(pooled / count),
                                 normal_factor() * std::sqrt(within / count));
    combined.value = std::exp(mean(logs));
    combined.low = combined.value * std::exp(-half);
    combined.high = combined.value * std::exp(half);
    combined.scope = Scope::between_replicas;
    return combined;
}

double expected_half_width(const ReplicaPrior& prior, std::size_t replicas) {
    if (replicas == 0) return unknown;
    const auto count = static_cast<double>(replicas);
    const double degrees = prior.degrees + count - 1;
    if (!(degrees > 0)) return unknown;
    return std::expm1(student_factor(degrees, confidence) * prior.deviation / std::sqrt(count));
}

std::optional<OwnNoise> own_noise(std::span<const std::vector<double>> runs, double expected) {
    constexpr std::size_t least_runs = 5;
    constexpr double least_share = 0.25;
    constexpr double certain = 1e9; // degrees
    double squares = 0;
    double degrees = 0;
    std::vector<double> levels;
    for (const auto& times : runs) {
        std::vector<double> costs;
        for (const double time : times) costs.push_back(std::log(time));
        if (costs.size() < 2 ||
            !std::ranges::all_of(costs, [](double c) { return std::isfinite(c); }))
            continue;
        std::ranges::sort(costs);
        const auto kept = Values{costs}.first(
            costs.size() < fewest_for_a_cut ? costs.size()
                                            : count_level(costs, expected * expected, certain));
        levels.push_back(mean(kept));
        if (kept.size() < 2) continue;
        squares += variance(kept) * static_cast<double>(kept.size() - 1);
        degrees += static_cast<double>(kept.size() - 1);
    }
    if (levels.size() < least_runs || degrees < 2 * least_runs) return {};
    return OwnNoise{.between_replicas =
                        std::max(std::sqrt(squares / degrees), least_share * expected),
                    .between_runs = std::sqrt(variance(levels)),
                    .degrees = static_cast<double>(levels.size()) - 1};
}

} // namespace assay::stats
