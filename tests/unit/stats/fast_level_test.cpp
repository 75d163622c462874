// SPDX-License-Identifier: Apache-2.0
#include "stats/fast_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr ReplicaPrior memory{.deviation = 0.03, .degrees = 6};

std::vector<Estimate> replicas(const std::vector<double>& values) {
    std::vector<Estimate> list;
    for (const double value : values) list.push_back({.value = value, .low = nan, .high = nan});
    return list;
}

TEST(FastLevel, AllReplicasOfOneLevelCount) {
    const auto level = fast_level(replicas({1.00, 1.02, 0.99, 1.01, 0.98}), memory, false);
    EXPECT_EQ(level.kept, 5U);
    EXPECT_TRUE(std::isnan(level.slow));
    EXPECT_NEAR(level.combined.value, 0.9999, 1e-4);
    // By hand: v = (6 * 0.0009 + 4 * s^2) / 10, t(0.975, 10) = 2.2281, half = t sqrt(v / 5).
    const double s2 = 2.5004e-4;
    const double half = 2.2281 * std::sqrt((6 * 0.0009 + 4 * s2) / 10 / 5);
    EXPECT_NEAR(std::log(level.combined.high / level.combined.value), half, 2e-5);
    EXPECT_NEAR(std::log(level.combined.value / level.combined.low), half, 2e-5);
    EXPECT_EQ(level.combined.scope, Scope::between_replicas);
}

TEST(FastLevel, SlowerReplicasAreAnotherLevelForTimesAndForRates) {
    const std::vector<double> times{1.00, 1.65, 1.02, 1.66, 1.01};
    const auto of_times = fast_level(replicas(times), memory, false);
    EXPECT_EQ(of_times.kept, 3U);
    EXPECT_NEAR(of_times.combined.value, 1.01, 1e-3);
    EXPECT_NEAR(of_times.slow, 1.655, 1e-3);
    std::vector<double> rates;
    for (const double time : times) rates.push_back(100 / time);
    const auto of_rates = fast_level(replicas(rates), memory, true);
    EXPECT_EQ(of_rates.kept, 3U);
    EXPECT_NEAR(of_rates.combined.value * of_times.combined.value, 100, 1e-9);
    EXPECT_NEAR(of_rates.slow * of_times.slow, 100, 1e-9);
    EXPECT_NEAR(of_rates.combined.low * of_times.combined.high, 100, 1e-9);
}

TEST(FastLevel, ReplicasThatAreThemselvesUnsureAreNotCutOff) {
    auto list = replicas({1.00, 1.30, 1.02, 1.31, 1.01});
    EXPECT_EQ(fast_level(list, memory, false).kept, 3U);
    for (auto& replica : list) {
        replica.low = 0.7 * replica.value;
        replica.high = 1.3 * replica.value;
    }
    EXPECT_EQ(fast_level(list, memory, false).kept, 5U);
}

TEST(FastLevel, OfTwoReplicasBothAreKept) {
    const auto two = fast_level(replicas({1.0, 1.6}), memory, false);
    EXPECT_EQ(two.kept, 2U);
    EXPECT_GT(two.combined.high / two.combined.value, 1.2) << "and the interval says so";
    EXPECT_EQ(fast_level(replicas({1.0, 1.6, 1.0}), memory, false).kept, 2U);
    const auto one = fast_level(replicas({1.0}), memory, false);
    EXPECT_EQ(one.combined.scope, Scope::none);
    EXPECT_EQ(one.combined.value, 1.0);
}

TEST(FastLevel, ASingleFastReplicaHasNoInterval) {
    const auto level = fast_level(replicas({1.0, 1.6, 1.61, 1.62, 1.63}), memory, false);
    EXPECT_EQ(level.kept, 1U);
    EXPECT_EQ(level.combined.value, 1.0);
    EXPECT_EQ(level.combined.scope, Scope::none);
    EXPECT_TRUE(std::isnan(level.combined.low));
}

TEST(FastLevel, ValuesThatAreNoTimesGiveNothing) {
    for (const double wrong : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()})
        EXPECT_TRUE(std::isnan(
            fast_level(replicas({1.0, wrong, 1.0, 1.0, 1.0}), memory, false).combined.value));
    EXPECT_TRUE(std::isnan(fast_level({}, memory, false).combined.value));
}

/// Coverage of the 95% interval and the mean error over many cases whose own deviation differs from the prior's by a
/// factor of exp(0.3 z), as those of one kind do.
struct Coverage {
    double covered = 0;
    double bias = 0;
};
Coverage simulate(double class_deviation, std::size_t count, double slow_share) {
    constexpr int runs = 1500;
    std::mt19937_64 random{7};
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    Coverage coverage;
    for (int run = 0; run < runs; ++run) {
        const double own = class_deviation * std::exp(0.3 * normal(random));
        std::vector<double> times;
        for (std::size_t i = 0; i < count; ++i) {
            const double slowed = uniform(random) < slow_share ? std::log(1.6) : 0;
            times.push_back(std::exp(own * normal(random) + slowed));
        }
        const auto level =
            fast_level(replicas(times), {.deviation = class_deviation, .degrees = 6}, false);
        coverage.covered += level.combined.low <= 1 && 1 <= level.combined.high ? 1.0 / runs : 0;
        coverage.bias += std::log(level.combined.value) / runs;
    }
    return coverage;
}

TEST(FastLevel, TheIntervalCoversAsItSays) {
    for (const double deviation : {0.005, 0.12})
        for (const std::size_t count : {3U, 5U, 7U}) {
            const auto quiet = simulate(deviation, count, 0);
            EXPECT_GT(quiet.covered, 0.93) << deviation << ' ' << count;
            // A cut that follows chance now and then: where a case differs by more than its kind.
            EXPECT_LT(std::abs(quiet.bias), 0.1 * deviation) << deviation << ' ' << count;
        }
}

TEST(FastLevel, UnseenSlowReplicasHardlyMoveTheValue) {
    const auto level = simulate(0.03, 5, 0.2);
    EXPECT_LT(std::abs(level.bias), 0.005);
    EXPECT_GT(level.covered, 0.92);
    EXPECT_LT(std::abs(simulate(0.03, 3, 0.2).bias), 0.01) << "9% without a cut";
}

TEST(FastLevel, APriorThatIsTooSmallCutsNothingOff) {
    constexpr int cases = 4000;
    std::normal_distribution<double> normal;
    for (const std::size_t count : {3U, 5U})
        for (const double true_to_prior : {0.5, 1.0, 2.0, 4.0}) {
            std::mt19937_64 random{5};
            double bias = 0;
            int two_levels = 0;
            for (int i = 0; i < cases; ++i) {
                std::vector<double> times;
                for (std::size_t k = 0; k < count; ++k)
                    times.push_back(std::exp(0.001 * true_to_prior * normal(random)));
                const auto level =
                    fast_level(replicas(times), {.deviation = 0.001, .degrees = 3}, false);
                bias += std::log(level.combined.value) / cases / (0.001 * true_to_prior);
                two_levels += level.kept < count ? 1 : 0;
            }
            EXPECT_LT(std::abs(bias), 0.1) << count << ' ' << true_to_prior;
            if (true_to_prior <= 2) EXPECT_LT(two_levels, cases / 20) << count;
        }
}

/// Runs of five replicas that differ by `deviation`, a fifth of them slowed.
std::vector<std::vector<double>> made_runs(std::size_t count, double deviation, unsigned seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<std::vector<double>> runs(count);
    for (auto& times : runs)
        for (int i = 0; i < 5; ++i)
            times.push_back(
                std::exp(deviation * normal(random) + (uniform(random) < 0.2 ? std::log(1.6) : 0)));
    return runs;
}

TEST(OwnNoise, TenRunsAreNeeded) {
    EXPECT_FALSE(own_noise(made_runs(9, 0.03, 1), 0.03));
    EXPECT_TRUE(own_noise(made_runs(10, 0.03, 1), 0.03));
    auto unreadable = made_runs(10, 0.03, 1);
    unreadable.back() = {0, 1};
    EXPECT_FALSE(own_noise(unreadable, 0.03)) << "a time of nothing is none";
}

TEST(OwnNoise, IsTheOneThatWasPut) {
    for (const double own : {0.01, 0.03, 0.06}) {
        double sum = 0;
        for (unsigned seed = 0; seed < 20; ++seed)
            sum += own_noise(made_runs(10, own, seed), 0.03)->between_replicas / 20;
        // Where replicas differ by more than their kind, some of it is cut off as another level.
        EXPECT_GT(sum, own < 0.05 ? 0.9 * own : 0.6 * own) << own;
        EXPECT_LT(sum, 1.1 * own) << own;
    }
}

TEST(OwnNoise, ReplicasThatAgreeByChanceAreWorthAQuarterOfTheirKind) {
    const std::vector<std::vector<double>> same(12, std::vector<double>(5, 2.0));
    const auto noise = own_noise(same, 0.04);
    ASSERT_TRUE(noise);
    EXPECT_DOUBLE_EQ(noise->between_replicas, 0.01);
    EXPECT_DOUBLE_EQ(noise->between_runs, 0);
}

TEST(OwnNoise, RunsAtOtherTimesDifferByMore) {
    auto runs = made_runs(10, 0.01, 3);
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (double& time : runs[run]) time *= run % 2 == 0 ? 1.0 : 1.1;
    const auto noise = own_noise(runs, 0.03);
    EXPECT_NEAR(noise->between_replicas, 0.01, 0.003);
    EXPECT_NEAR(noise->between_runs, std::log(1.1) / 2 * std::sqrt(10.0 / 9), 0.006);
}

TEST(OwnNoise, IntervalsFromItAreNarrowerAndCover) {
    constexpr double own = 0.01;
    constexpr double kind = 0.03;
    constexpr int cases = 400;
    int covered = 0;
    double by_kind = 0;
    double by_history = 0;
    for (unsigned seed = 0; seed < cases; ++seed) {
        auto runs = made_runs(11, own, seed);
        const auto now = replicas(runs.back());
        runs.pop_back();
        const ReplicaPrior prior{.deviation = own_noise(runs, kind)->between_replicas,
                                 .degrees = 6};
        const auto level = fast_level(now, prior, false).combined;
        const auto usual = fast_level(now, {.deviation = kind, .degrees = 6}, false).combined;
        if (!std::isfinite(level.low) || !std::isfinite(usual.low)) continue;
        covered += level.low <= 1 && 1 <= level.high ? 1 : 0;
        by_history += level.high - level.low;
        by_kind += usual.high - usual.low;
    }
    EXPECT_GT(covered, 0.92 * cases);
    EXPECT_LT(by_history, 0.6 * by_kind);
}

TEST(FastLevel, TheExpectedHalfWidthIsThatOfReplicasThatDifferAsExpected) {
    EXPECT_NEAR(expected_half_width(memory, 5), std::expm1(2.2281 * 0.03 / std::sqrt(5.0)), 1e-5);
    EXPECT_TRUE(std::isnan(expected_half_width(memory, 0)));
    EXPECT_TRUE(std::isnan(expected_half_width({.deviation = 0.05, .degrees = 0}, 1)));
}

} // namespace
} // namespace assay::stats
