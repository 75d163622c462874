// SPDX-License-Identifier: Apache-2.0
#include "stats/interval.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

// Neighbours correlated by 0.2 make Student's interval too narrow by sqrt(1.2 / 0.8), a fifth.
constexpr double independent_enough = 0.2;
// Below ten groups Student's factor grows quickly and the correlation cannot be estimated.
constexpr std::size_t fewest_groups = 10;
// If values had to be grouped to look independent, the series is autocorrelated. The correlation of ten
// groups is known to +-0.3 only; 25 of them show that the series is long compared with its correlation.
constexpr std::size_t fewest_proving_groups = 25;

double student_half_width(Values values, double confidence) {
    const double error = std::sqrt(variance(values) / static_cast<double>(values.size()));
    return student_factor(static_cast<double>(values.size()) - 1, confidence) * error;
}

/// Means of neighbouring pairs; an odd last value is left out.
std::vector<double> pairwise_means(Values values) {
    std::vector<double> means(values.size() / 2);
    for (std::size_t i = 0; i < means.size(); ++i)
        means[i] = (values[2 * i] + values[(2 * i) + 1]) / 2;
    return means;
}

/// Are these groups, made of `values` values, practically independent?
bool are_independent(Values groups, std::size_t values) {
    const bool is_grouped = groups.size() < values;
    return groups.size() >= (is_grouped ? fewest_proving_groups : fewest_groups) &&
           lag1_autocorrelation(groups) < independent_enough;
}

bool is_confidence(double confidence) { return confidence > 0 && confidence < 1; }

bool is_time_or_rate(double value) { return std::isfinite(value) && value > 0; }

/// Half the width of a replica's own interval on the scale of logarithms; NaN if it has none.
double log_half_width(const Estimate& estimate) {
    return std::log1p((estimate.high - estimate.low) / 2 / estimate.value);
}

/// Root mean square over the replicas with an interval, divided by sqrt(n):
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

struct Spread {
    double half_width = 0;
    std::size_t groups = 0;
    bool decorrelated = false;
};

/// Needs two values. If no grouping looks independent, the half width is that of the largest groups,
/// taken as independent.
Spread batch_means(Values values, double confidence) {
    Spread spread;
    std::vector<double> groups(values.begin(), values.end());
    for (;;) {
        const bool is_last = groups.size() / 2 < fewest_groups;
        if (are_independent(groups, values.size())) spread.decorrelated = true;
        if (spread.decorrelated || is_last) {
            const double half_width = student_half_width(groups, confidence);
            if (half_width >= spread.half_width) {
                spread.half_width = half_width;
                spread.groups = groups.size();
            }
        }
        if (is_last) return spread;
        groups = pairwise_means(groups);
    }
}

} // namespace

double Interval::relative_half_width() const { return (high - low) / 2 / std::abs(mean); }

Interval batch_means_interval(Values values, double confidence) {
    const double center = mean(values);
    if (values.size() < 2 || !std::isfinite(center) || !is_confidence(confidence))
        return {.mean = center, .low = unknown, .high = unknown};
    const Spread spread = batch_means(values, confidence);
    // Fully dependent groups are worth a single one: their mean is no more precise than each of them.
    const double caution = spread.decorrelated ? 1 : std::sqrt(static_cast<double>(spread.groups));
    const double half_width = caution * spread.half_width;
    return {.mean = center,
            .low = center - half_width,
            .high = center + half_width,
            .decorrelated = spread.decorrelated,
            .batches = spread.groups};
}

Drift half_drift(Values values, double confidence) {
    constexpr std::size_t fewest_values = 4; // two in each half, to estimate their noise
    if (values.size() < fewest_values || !is_confidence(confidence))
        return {.first = unknown, .second = unknown};
    const Values first = values.first(values.size() / 2);
    const Values second = values.last(values.size() / 2);
    // Without the allowance for dependence: under a steady drift each half is one ramp, and treating that
    // as noise would hide the drift.
    const double noise = std::hypot(batch_means(first, confidence).half_width,
                                    batch_means(second, confidence).half_width);
    Drift drift{.first = mean(first), .second = mean(second)};
    drift.significant = std::abs(drift.second - drift.first) > noise;
    return drift;
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
    const double between = student_half_width(logs, confidence);
    const double within = pooled_half_width(replicas);
    const double half = std::fmax(between, within); // fmax ignores a NaN
    combined.value = std::exp(mean(logs));
    combined.low = combined.value * std::exp(-half);
    combined.high = combined.value * std::exp(half);
    combined.scope = Scope::between_replicas;
    return combined;
}

Combined combine_with_zeros(std::span<const Estimate> replicas, double confidence) {
    std::vector<double> values;
    for (const Estimate& replica : replicas) values.push_back(replica.value);
    if (std::ranges::count(values, 0.0) == 0) return combine_replicas(replicas, confidence);
    Combined combined{.value = unknown, .low = unknown, .high = unknown};
    if (!is_confidence(confidence) || std::ranges::any_of(values, [](double value) {
            return !std::isfinite(value) || value < 0;
        }))
        return combined;
    combined.value = mean(values);
    if (values.size() < 2 || combined.value == 0) return combined;
    const double half = student_half_width(values, confidence);
    combined.low = std::max(combined.value - half, 0.0);
    combined.high = combined.value + half;
    combined.scope = Scope::between_replicas;
    return combined;
}

// --- student -------------------------------------------------------------------------------------

namespace {

/// In double: Boost's default, long double, takes five times as long for a 16th digit. `assay check` of 10,000 nodes
/// asks a million times.
using Student = boost::math::students_t_distribution<
    double, boost::math::policies::policy<boost::math::policies::promote_double<false>>>;

} // namespace

double student_below(double t, double degrees) { return cdf(Student{degrees}, t); }

double student_quantile(double p, double degrees) {
    // The same few are asked for again and again, each worth a microsecond.
    thread_local std::map<std::pair<double, double>, double> known;
    constexpr std::size_t most = 1000;
    if (known.size() > most) known.clear();
    const auto [found, is_new] = known.try_emplace({p, degrees});
    if (is_new) found->second = quantile(Student{degrees}, p);
    return found->second;
}

double student_factor(double degrees, double confidence) {
    return student_quantile(0.5 + (confidence / 2), degrees);
}

} // namespace assay::stats
