// SPDX-License-Identifier: Apache-2.0

#include "decide/acceptance.hpp"

#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace assay::decide {
namespace {

/// The probability of a statistic this low or lower; 1 for NaN.
double tail(double t, double degrees) {
    if (std::isnan(t)) return 1;
    if (std::isinf(t)) return t < 0 ? 0 : 1;
    return stats::student_below(t, degrees);
}

struct Mean {
    double value;
    double standard_error;
    double fixed_variance;
    double degrees;
};

/// Where runs differ by themselves, replicas are compared with the mean of their run, and the runs' share of the
/// error does not shrink with their replicas. Degrees of freedom of the sum: Satterthwaite 1946.
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
    const auto v =
        stats::moderate({.variance = own > 0 ? squares / own : stats::unknown, .degrees = own},
                        {.variance = noise.replica.variance, .degrees = noise.replica.degrees});
    double shares = 0;
    for (const auto& [run, group] : groups) shares += (group.count / count) * (group.count / count);
    const double of_replicas = v.variance / count;
    const double of_runs = by_run ? noise.run.variance * shares : 0;
    double degrees = v.degrees;
    if (of_runs > 0 && std::isfinite(v.degrees) && noise.run.degrees > 0)
        degrees =
            (of_replicas + of_runs) * (of_replicas + of_runs) /
            ((of_replicas * of_replicas / v.degrees) + (of_runs * of_runs / noise.run.degrees));
    return {.value = sum / count,
            .standard_error = std::sqrt(of_replicas + of_runs + noise.limit),
            .fixed_variance = of_runs + noise.limit,
            .degrees = degrees};
}

/// Without any noise (values that agree to the last digit) infinite: certain; at the limit itself NaN.
double statistic(const Mean& mean) { return mean.value / mean.standard_error; }

} // namespace

Acceptance acceptance(std::span<const Margin> margins, const AcceptanceNoise& noise,
                      std::span<const std::size_t> looks) {
    Acceptance result;
    if (margins.empty()) return result;
    Mean mean{};
    for (const auto count : looks) {
        if (count > margins.size()) break;
        mean = mean_of(margins.first(count), noise);
        ++result.looks;
        result.count = count;
        if (!(mean.degrees > 0)) continue;
        const auto shared = [&](double p) {
            return std::min(1.0, p * static_cast<double>(looks.size()));
        };
        result.p_pass = std::min(result.p_pass, shared(tail(-statistic(mean), mean.degrees)));
        result.p_fail = std::min(result.p_fail, shared(tail(statistic(mean), mean.degrees)));
    }
    if (result.looks == 0) {
        mean = mean_of(margins, noise);
        result.count = margins.size();
    }
    const double half = mean.degrees > 0
                            ? stats::student_factor(mean.degrees, 0.95) * mean.standard_error
                            : stats::unknown;
    result.mean = mean.value;
    result.low = mean.value - half;
    result.high = mean.value + half;
    result.standard_error = mean.standard_error;
    result.fixed_variance = mean.fixed_variance;
    result.degrees = mean.degrees;
    return result;
}

bool clears(std::span<const Margin> margins, const AcceptanceNoise& noise) {
    if (margins.size() < 2) return false;
    std::vector<double> logs;
    for (const auto& margin : margins) logs.push_back(margin.log_ratio);
    std::ranges::sort(logs, std::greater{});
    // Something outside spreads the slower half. Of a normal distribution the better one has this share of the variance
    // (of 2, 3, 4 and more values; order statistics). Moderated, for the scatter of few replicas says little.
    constexpr std::array of_half{1.0, 0.59, 0.45, 0.363};
    const auto better = stats::Values{logs}.first(std::max<std::size_t>(2, (logs.size() + 1) / 2));
    const auto seen =
        stats::moderate({.variance = stats::variance(better) /
                                     of_half.at(std::min<std::size_t>(logs.size() - 2, 3)),
                         .degrees = static_cast<double>(better.size()) - 1},
                        {.variance = noise.replica.variance, .degrees = noise.replica.degrees});
    const double of_replicas = std::max(noise.replica.variance, seen.variance);
    constexpr double deviations = 5.4;
    constexpr double least = 0.01;
    const double far =
        std::max(deviations * std::sqrt(of_replicas + noise.run.variance + noise.limit), least);
    // The two best of forty are no better a machine than the two best of five.
    const auto count = std::max<std::size_t>(2, logs.size() / 4);
    return logs[count - 1] > far;
}

namespace {

std::map<std::size_t, std::vector<Margin>> by_run(std::span<const Margin> margins) {
    std::map<std::size_t, std::vector<Margin>> runs;
    for (const auto& margin : margins) runs[margin.run].push_back(margin);
    return runs;
}

/// Without those that began too soon after the one before.
std::vector<std::vector<Margin>> runs_apart(std::span<const Margin> margins,
                                            std::span<const double> started, double apart) {
    std::vector<std::vector<Margin>> kept;
    double last = 0;
    for (auto& [run, own] : by_run(margins)) {
        if (!kept.empty() && started[run] - last < apart) continue;
        last = started[run];
        kept.push_back(std::move(own));
    }
    return kept;
}

constexpr std::size_t fewest_runs_apart = 3;
constexpr double hour = 3600; // seconds

/// Whoever measures until it passes has about as many tries.
constexpr double tries = 10;
/// Noise between runs may be twice of what is expected; more degrees let a node at its limit pass too often then.
constexpr double degrees_of_runs = 4;

} // namespace

PassTest pass_test(std::span<const Margin> margins, const AcceptanceNoise& noise,
                   std::span<const double> started) {
    PassTest result;
    if (margins.empty()) return result;
    const auto newest = by_run(margins).rbegin()->second;
    const auto is_below = [](const Margin& margin) {
        return !margin.disturbed && margin.log_ratio < 0;
    };
    result.below = std::ranges::any_of(newest, is_below);
    // Any run counts: otherwise a node at its limit has a new chance with each.
    result.clears = std::ranges::none_of(margins, is_below) && clears(newest, noise);
    auto wary = noise;
    if (wary.run.variance > 0)
        wary.run.degrees =
            wary.run.degrees > 0 ? std::min(wary.run.degrees, degrees_of_runs) : degrees_of_runs;
    // All replicas count: the first two must not pass a device that is slow in the others.
    const auto test_of = [&](std::span<const Margin> own) {
        const std::array look{std::clamp(own.size(), pass_looks.front(), pass_looks.back())};
        auto test = acceptance(own, wary, look);
        test.p_pass = std::min(1.0, test.p_pass * static_cast<double>(pass_looks.size()));
        return test;
    };
    result.sequential = test_of(newest);
    double p = 1;
    if (started.empty()) {
        p = result.sequential.p_pass;
    } else {
        const auto runs = runs_apart(margins, started, hour);
        if (runs.size() < fewest_runs_apart) return result;
        double worst = 0;
        for (const auto& own : std::span{runs}.last(fewest_runs_apart))
            worst = std::max(worst, test_of(own).p_pass);
        p = std::pow(worst, fewest_runs_apart);
    }
    result.p_pass = std::min(1.0, tries * p);
    return result;
}

Acceptance fail_test(std::span<const Margin> margins, const AcceptanceNoise& noise) {
    auto result = acceptance(margins, noise);
    const auto runs = by_run(margins);
    if (runs.size() < 2) return result;
    double least = 1;
    for (const auto& [run, own] : runs) least = std::min(least, acceptance(own, noise).p_fail);
    least *= static_cast<double>(runs.size());
    result.p_fail = std::min(1.0, 2 * std::min(result.p_fail, least));
    return result;
}

Acceptance fail_test_on_shared_host(std::span<const Margin> margins,
                                    std::span<const double> started, const AcceptanceNoise& noise,
                                    double apart) {
    auto result = acceptance(margins, noise);
    result.p_fail = 1;
    std::vector<double> each;
    for (const auto& own : runs_apart(margins, started, apart))
        each.push_back(acceptance(own, noise).p_fail);
    // Any three or more runs in a row; as many tests as there are such rows.
    double tests = 0;
    for (std::size_t begin = 0; begin + fewest_runs_apart <= each.size(); ++begin) {
        double worst = each[begin];
        for (std::size_t end = begin + 1; end < each.size(); ++end) {
            worst = std::max(worst, each[end]);
            const auto count = end - begin + 1;
            if (count < fewest_runs_apart) continue;
            ++tests;
            result.p_fail = std::min(result.p_fail, std::pow(worst, static_cast<double>(count)));
        }
    }
    if (tests > 0) result.p_fail = std::min(1.0, result.p_fail * tests);
    return result;
}

std::optional<std::size_t> replicas_to_decide(const Acceptance& found, double level,
                                              std::span<const std::size_t> looks) {
    if (found.count == 0 || !(found.degrees > 0) || found.mean == 0 ||
        !std::isfinite(found.standard_error))
        return {};
    constexpr double power_90 = 1.2816;
    const double factor =
        stats::student_quantile(1 - (level / static_cast<double>(looks.size())), found.degrees) +
        power_90;
    const double allowed =
        (found.mean * found.mean / (factor * factor)) - found.fixed_variance; // of the mean
    if (!(allowed > 0)) return {};
    const double of_one =
        std::max(0.0, (found.standard_error * found.standard_error) - found.fixed_variance) *
        static_cast<double>(found.count);
    const double replicas = std::ceil(of_one / allowed);
    const auto look = std::ranges::find_if(looks, [&](std::size_t n) {
        return static_cast<double>(n) >= replicas && n > found.count;
    });
    return look == looks.end() ? std::nullopt : std::optional{*look};
}

double decided_distance(const AcceptanceNoise& noise, std::size_t replicas, double level,
                        double power) {
    const auto count = static_cast<double>(replicas);
    const double degrees = noise.replica.degrees + count - 1;
    const double error = std::sqrt((noise.replica.variance / count) + noise.run.variance);
    const double each = level / static_cast<double>(fail_looks.size());
    return -std::expm1(
        -(stats::student_quantile(1 - each, degrees) + stats::student_quantile(power, degrees)) *
        error);
}

} // namespace assay::decide
