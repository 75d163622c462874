// SPDX-License-Identifier: Apache-2.0

#include "population/acceptance.hpp"

#include "stats/student.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace assay::stats {
namespace {

/// The probability of a statistic this low or lower; 1 where there is none.
double tail(double t, double degrees) {
    if (std::isnan(t)) return 1;
    if (std::isinf(t)) return t < 0 ? 0 : 1;
    return student_below(t, degrees);
}

struct Mean {
    double value;
    double standard_error;
    double degrees;
};

/// Where runs differ by themselves, replicas are held against the mean of their run, and the runs' share of the error
/// does not shrink with their replicas. Degrees of freedom of the sum: Satterthwaite 1946.
Mean mean_of(std::span<const Margin> margins, const AcceptanceNoise& noise) {
    struct Group {
        double sum = 0;
        double count = 0;
    };
    const bool by_run = noise.run.variance > 0;
    std::map<std::size_t, Group> groups;
    double sum = 0;
    for (const auto& margin : margins) {
        auto& group = groups[by_run ? margin.run : 0];
        group.sum += margin.log_ratio;
        group.count += 1;
        sum += margin.log_ratio;
    }
    const auto count = static_cast<double>(margins.size());
    double squares = 0;
    for (const auto& margin : margins) {
        const auto& group = groups[by_run ? margin.run : 0];
        const double away = margin.log_ratio - (group.sum / group.count);
        squares += away * away;
    }
    const double own = count - static_cast<double>(groups.size());
    const auto v = moderate({.variance = own > 0 ? squares / own : unknown, .degrees = own},
                            {.variance = noise.replica.variance, .degrees = noise.replica.degrees});
    double shares = 0;
    for (const auto& [run, group] : groups) shares += (group.count / count) * (group.count / count);
    const double of_replicas = v.variance / count;
    const double of_runs = by_run ? noise.run.variance * shares : 0;
    double degrees = v.degrees;
    if (of_runs > 0 && std::isfinite(v.degrees + noise.run.degrees) && noise.run.degrees > 0)
        degrees =
            (of_replicas + of_runs) * (of_replicas + of_runs) /
            ((of_replicas * of_replicas / v.degrees) + (of_runs * of_runs / noise.run.degrees));
    return {.value = sum / count,
            .standard_error = std::sqrt(of_replicas + of_runs + noise.limit),
            .degrees = degrees};
}

/// Of no noise at all (values that agree to the last digit) infinite: certain; at the limit itself NaN.
double statistic(const Mean& mean) { return mean.value / mean.standard_error; }

} // namespace

Acceptance acceptance(std::span<const Margin> margins, const AcceptanceNoise& noise) {
    Acceptance result;
    if (margins.empty()) return result;
    Mean mean{};
    for (const auto count : acceptance_looks) {
        if (count > margins.size()) break;
        mean = mean_of(margins.first(count), noise);
        ++result.looks;
        result.count = count;
        if (!(mean.degrees > 0)) continue;
        const auto shared = [](double p) {
            return std::min(1.0, p * static_cast<double>(acceptance_looks.size()));
        };
        result.p_pass = std::min(result.p_pass, shared(tail(-statistic(mean), mean.degrees)));
        result.p_fail = std::min(result.p_fail, shared(tail(statistic(mean), mean.degrees)));
    }
    if (result.looks == 0) {
        mean = mean_of(margins, noise);
        result.count = margins.size();
    }
    const double half =
        mean.degrees > 0 ? student_factor(mean.degrees, 0.95) * mean.standard_error : unknown;
    result.mean = mean.value;
    result.low = mean.value - half;
    result.high = mean.value + half;
    result.standard_error = mean.standard_error;
    result.degrees = mean.degrees;
    return result;
}

Acceptance acceptance_on_shared_host(std::span<const Margin> margins,
                                     std::span<const double> started, const AcceptanceNoise& noise,
                                     double apart) {
    auto result = acceptance(margins, noise);
    std::map<std::size_t, std::vector<Margin>> runs;
    for (const auto& margin : margins) runs[margin.run].push_back(margin);
    double worst = 0;
    double power = 1;
    std::size_t count = 0;
    double last = -apart;
    for (const auto& [run, own] : runs) {
        if (started[run] - last < apart && count > 0) continue;
        last = started[run];
        ++count;
        worst = std::max(worst, acceptance(own, noise).p_fail);
    }
    constexpr std::size_t fewest = 3;
    for (std::size_t i = 0; i < count; ++i) power *= worst;
    result.p_fail = count < fewest ? 1 : power;
    return result;
}

std::optional<std::size_t> replicas_to_decide(const Acceptance& found, double level) {
    if (found.count == 0 || !(found.degrees > 0) || found.mean == 0 ||
        !std::isfinite(found.standard_error))
        return {};
    constexpr double power_90 = 1.2816;
    const double of_one = found.standard_error * std::sqrt(static_cast<double>(found.count));
    const double needed =
        (student_quantile(1 - (level / static_cast<double>(acceptance_looks.size())),
                          found.degrees) +
         power_90) *
        of_one / std::abs(found.mean);
    const double replicas = std::ceil(needed * needed);
    if (!(replicas <= static_cast<double>(acceptance_looks.back()))) return {};
    const auto look = std::ranges::find_if(acceptance_looks, [&](std::size_t n) {
        return static_cast<double>(n) >= replicas && n > found.count;
    });
    return look == acceptance_looks.end() ? std::nullopt : std::optional{*look};
}

double decided_distance(const AcceptanceNoise& noise, std::size_t replicas, double level,
                        double power) {
    const auto count = static_cast<double>(replicas);
    const double degrees = noise.replica.degrees + count - 1;
    const double error = std::sqrt((noise.replica.variance / count) + noise.run.variance);
    const double each = level / static_cast<double>(acceptance_looks.size());
    return -std::expm1(-(student_quantile(1 - each, degrees) + student_quantile(power, degrees)) *
                       error);
}

} // namespace assay::stats
