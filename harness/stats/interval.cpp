// SPDX-License-Identifier: Apache-2.0

#include "stats/interval.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::stats {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Neighbours correlated by 0.2 make Student's interval too narrow by sqrt(1.2 / 0.8), a fifth.
constexpr double independent_enough = 0.2;
// Below ten groups Student's factor grows quickly and the correlation can no longer be estimated.
constexpr std::size_t fewest_groups = 10;
// Where values had to be grouped to look independent, the series has a memory. The correlation of ten
// groups is known to +-0.3 only; 25 of them say that the series is long compared with its memory.
constexpr std::size_t fewest_proving_groups = 25;

/// Half width of the two-sided interval of a mean of `count` values.
double student_half_width(double sample_variance, std::size_t count, double confidence) {
    const auto n = static_cast<double>(count);
    const boost::math::students_t distribution{n - 1};
    const double factor = boost::math::quantile(distribution, 0.5 + confidence / 2);
    return factor * std::sqrt(sample_variance / n);
}

/// Means of neighbouring pairs; an odd last value is left out.
std::vector<double> pairwise_means(Values values) {
    std::vector<double> means(values.size() / 2);
    for (std::size_t i = 0; i < means.size(); ++i)
        means[i] = (values[2 * i] + values[2 * i + 1]) / 2;
    return means;
}

/// Are these groups, made of `values` values, as good as independent?
bool are_independent(Values groups, std::size_t values) {
    const bool is_grouped = groups.size() < values;
    return groups.size() >= (is_grouped ? fewest_proving_groups : fewest_groups) &&
           lag1_autocorrelation(groups) < independent_enough;
}

bool is_confidence(double confidence) { return confidence > 0 && confidence < 1; }

bool is_time_or_rate(double value) { return std::isfinite(value) && value > 0; }

/// Half the width of a replica's own interval on the scale of logarithms; NaN where it has none.
double log_half_width(const Estimate& estimate) {
    return std::log1p((estimate.high - estimate.low) / 2 / estimate.value);
}

/// Root of the mean of the squares over the replicas that know their interval, divided by sqrt(n):
/// the interval of a mean of n independent values.
double pooled_half_width(std::span<const Estimate> replicas) {
    double squares = 0;
    double known = 0;
    for (const Estimate& replica : replicas) {
        const double half = log_half_width(replica);
        if (!std::isfinite(half)) continue;
        squares += half * half;
        ++known;
    }
    return known == 0 ? unknown : std::sqrt(squares / known / static_cast<double>(replicas.size()));
}

} // namespace

double Interval::relative_half_width() const { return (high - low) / 2 / std::abs(mean); }

Interval batch_means_interval(Values values, double confidence) {
    const double center = mean(values);
    Interval interval{.mean = center, .low = unknown, .high = unknown};
    if (values.size() < 2 || !std::isfinite(center) || !is_confidence(confidence)) return interval;

    double half = 0;
    std::vector<double> groups(values.begin(), values.end());
    for (;;) {
        const bool is_last = groups.size() / 2 < fewest_groups;
        if (are_independent(groups, values.size())) interval.decorrelated = true;
        if (interval.decorrelated || is_last) {
            const double wide = student_half_width(variance(groups), groups.size(), confidence);
            if (wide >= half) {
                half = wide;
                interval.batches = groups.size();
            }
        }
        if (is_last) break;
        groups = pairwise_means(groups);
    }
    interval.low = center - half;
    interval.high = center + half;
    return interval;
}

Drift half_drift(Values values, double confidence) {
    constexpr std::size_t fewest_values = 4; // two in each half, or there is no interval
    if (values.size() < fewest_values) return {.first = unknown, .second = unknown};
    const std::size_t half = values.size() / 2;
    const Interval first = batch_means_interval(values.first(half), confidence);
    const Interval second = batch_means_interval(values.last(half), confidence);
    const double noise = std::hypot(first.high - first.mean, second.high - second.mean);
    return {.first = first.mean,
            .second = second.mean,
            .significant = std::abs(second.mean - first.mean) > noise};
}

Combined combine_replicas(std::span<const Estimate> replicas, double confidence) {
    Combined combined{.value = unknown, .low = unknown, .high = unknown};
    if (replicas.empty() || !is_confidence(confidence)) return combined;
    std::vector<double> logs;
    for (const Estimate& replica : replicas) {
        if (!is_time_or_rate(replica.value)) return combined;
        logs.push_back(std::log(replica.value));
    }
    if (replicas.size() == 1) {
        const Estimate& only = replicas.front();
        const bool known = std::isfinite(only.low) && std::isfinite(only.high);
        return {.value = only.value,
                .low = known ? only.low : unknown,
                .high = known ? only.high : unknown,
                .scope = known ? Scope::within_process : Scope::none};
    }
    const double between = student_half_width(variance(logs), logs.size(), confidence);
    const double within = pooled_half_width(replicas);
    const double half = std::fmax(between, within); // fmax ignores a NaN
    combined.value = std::exp(mean(logs));
    combined.low = combined.value * std::exp(-half);
    combined.high = combined.value * std::exp(half);
    combined.scope = Scope::between_replicas;
    return combined;
}

} // namespace assay::stats
