// SPDX-License-Identifier: Apache-2.0
#include "stats/fast_level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::stats {
namespace {

constexpr std::size_t fewest_for_a_cut = 3;
constexpr double most_deviations = 3;
constexpr double within_three = 0.9973; // of a normal distribution

/// A value of a replica as the logarithm of a time: smaller is faster.
double cost(double value, bool higher_is_better) {
    return higher_is_better ? -std::log(value) : std::log(value);
}

double normal_factor(double confidence) {
    return student_factor(std::numeric_limits<double>::infinity(), confidence);
}

/// Variance of a replica's own mean, pooled over those with an interval; 0 if none has one.
double variance_within(std::span<const Estimate> replicas, double confidence) {
    double squares = 0;
    double known = 0;
    for (const Estimate& replica : replicas) {
        const double half = std::log1p((replica.high - replica.low) / 2 / replica.value);
        if (!std::isfinite(half)) continue;
        squares += half * half;
        ++known;
    }
    const double factor = normal_factor(confidence);
    return known == 0 ? 0 : squares / known / (factor * factor);
}

/// How far the next replica may lie from the mean of `kept` ones.
double reach_of(Values kept, double expected_variance, const ReplicaPrior& prior) {
    const auto count = static_cast<double>(kept.size());
    double deviations = most_deviations;
    double moderated = expected_variance;
    if (!prior.is_certain) {
        const double degrees = prior.degrees + count - 1;
        if (!(degrees > 0)) return std::numeric_limits<double>::infinity();
        deviations = student_factor(degrees, within_three);
        moderated *= prior.degrees / degrees;
        if (kept.size() > 1) moderated += variance(kept) * (count - 1) / degrees;
    }
    return deviations * std::sqrt(moderated * (1 + 1 / count));
}

/// Of `sorted`, how many lie at the level of the first ones.
std::size_t count_level(const std::vector<double>& sorted, double expected_variance,
                        const ReplicaPrior& prior) {
    if (sorted.size() < fewest_for_a_cut) return sorted.size();
    double sum = sorted.front();
    std::size_t kept = 1;
    while (kept < sorted.size()) {
        const auto count = static_cast<double>(kept);
        if (sorted[kept] - sum / count >
            reach_of(Values{sorted.data(), kept}, expected_variance, prior))
            break;
        sum += sorted[kept++];
    }
    return kept;
}

} // namespace

FastLevel fast_level(std::span<const Estimate> replicas, const ReplicaPrior& prior,
                     bool higher_is_better, double confidence) {
    FastLevel level{.combined = combine_replicas(replicas, confidence),
                    .kept = replicas.size(),
                    .slow = unknown};
    if (replicas.size() < 2 || !std::isfinite(level.combined.value)) return level;
    std::vector<double> costs;
    for (const Estimate& replica : replicas) costs.push_back(cost(replica.value, higher_is_better));
    std::ranges::sort(costs);
    const double within = variance_within(replicas, confidence);
    const double expected = (prior.deviation * prior.deviation) + within;
    level.kept = count_level(costs, expected, prior);
    const Values kept{costs.data(), level.kept};
    const auto value_of = [&](double log) { return std::exp(higher_is_better ? -log : log); };
    if (level.kept < costs.size()) level.slow = value_of(mean(Values{costs}.subspan(level.kept)));
    level.combined = {.value = value_of(mean(kept)), .low = unknown, .high = unknown};
    if (level.kept < 2) return level;
    const auto count = static_cast<double>(level.kept);
    const double degrees = prior.degrees + count - 1;
    const double pooled = ((prior.degrees * expected) + (variance(kept) * (count - 1))) / degrees;
    const double half = std::max(student_factor(degrees, confidence) * std::sqrt(pooled / count),
                                 normal_factor(confidence) * std::sqrt(within / count));
    level.combined.low = level.combined.value * std::exp(-half);
    level.combined.high = level.combined.value * std::exp(half);
    level.combined.scope = Scope::between_replicas;
    return level;
}

double expected_half_width(const ReplicaPrior& prior, std::size_t replicas, double confidence) {
    if (replicas == 0) return unknown;
    const auto count = static_cast<double>(replicas);
    const double degrees = prior.degrees + count - 1;
    if (!(degrees > 0)) return unknown;
    return std::expm1(student_factor(degrees, confidence) * prior.deviation / std::sqrt(count));
}

std::optional<OwnNoise> own_noise(std::span<const std::vector<double>> runs, double expected) {
    constexpr std::size_t least_runs = 10;
    constexpr double least_share = 0.25;
    const ReplicaPrior prior{.deviation = expected, .degrees = 0, .is_certain = true};
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
        const Values kept{costs.data(), count_level(costs, expected * expected, prior)};
        levels.push_back(mean(kept));
        if (kept.size() < 2) continue;
        squares += variance(kept) * static_cast<double>(kept.size() - 1);
        degrees += static_cast<double>(kept.size() - 1);
    }
    if (levels.size() < least_runs || degrees < least_runs) return {};
    return OwnNoise{.between_replicas =
                        std::max(std::sqrt(squares / degrees), least_share * expected),
                    .between_runs = std::sqrt(variance(levels))};
}

} // namespace assay::stats
