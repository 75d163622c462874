// SPDX-License-Identifier: Apache-2.0

#include "decide/fleet.hpp"
#include "series.hpp"
#include "stats/fast_level.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using List = std::vector<double>;

List normal_values(std::size_t count, double center, double deviation, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> law{center, deviation};
    List values(count);
    for (double& value : values) value = law(random);
    return values;
}

TEST(FleetLevel, IsTheMedianAndTheVarianceOfTheGoodNodes) {
    const auto values = normal_values(2000, 3, 0.02, 1);
    const auto level = decide::fleet_level(values);
    EXPECT_NEAR(level.center, 3, 0.002);
    EXPECT_NEAR(std::sqrt(level.variance.variance), 0.02, 0.001);
    EXPECT_EQ(level.nodes, 2000U);
}

TEST(FleetLevel, DoesNotCareHowBadTheBadNodesAre) {
    auto values = normal_values(200, 0, 0.01, 2);
    const auto clean = decide::fleet_level(values);
    List slightly = values;
    for (std::size_t i = 0; i < 6; ++i) slightly[i] = -0.2;
    for (std::size_t i = 0; i < 6; ++i) values[i] = -20;
    EXPECT_DOUBLE_EQ(decide::fleet_level(values).variance.variance,
                     decide::fleet_level(slightly).variance.variance);
    EXPECT_GE(decide::fleet_level(values).left_out, 6U);
    EXPECT_NEAR(std::sqrt(decide::fleet_level(values).variance.variance),
                std::sqrt(clean.variance.variance), 0.002);
    EXPECT_NEAR(decide::fleet_level(values).center, clean.center, 0.001);
}

TEST(FleetLevel, OfTooFewOrOfEqualNodes) {
    EXPECT_TRUE(std::isnan(decide::fleet_level({}).center));
    const List one{2};
    EXPECT_TRUE(std::isnan(decide::fleet_level(one).variance.variance));
    const List equal(7, 1.5);
    EXPECT_EQ(decide::fleet_level(equal).variance.variance, 0);
}

TEST(FleetBounds, FallWithTheLevelAndTheMetricsAndRiseWithTheNodes) {
    const stats::VarianceEstimate variance{.variance = 1e-4, .degrees = 39};
    const auto bounds = decide::fleet_bounds(variance, 5e-5, 40, 40);
    EXPECT_GT(decide::fleet_bounds(variance, 5e-5, 40, 400).accuse, bounds.accuse);
    EXPECT_GT(decide::fleet_bounds(variance, 5e-5, 10, 40).screen, bounds.screen);
    EXPECT_LT(decide::fleet_bounds(variance, 1e-4, 40, 40).accuse, bounds.accuse)
        << "retests remove noise";
    EXPECT_DOUBLE_EQ(decide::fleet_bounds(variance, 5e-5, 40, 400).screen, bounds.screen);
    // t(0.99; 39) sqrt(1 + pi / 80), by the tables of Student's t.
    EXPECT_NEAR(bounds.screen, 0.01 * 2.4258 * std::sqrt(1 + (3.14159265 / 80)), 1e-5);
    EXPECT_TRUE(std::isnan(decide::fleet_bounds({.variance = nan, .degrees = 0}, 0, 1, 1).accuse));
}

TEST(FleetBounds, AcceptTheSlowdownThatTheyNameInAtMostOnePercent) {
    for (const double noise : {0.0, 2e-5, 1e-4}) {
        const auto bounds = decide::fleet_bounds({.variance = 1e-4, .degrees = 60}, noise, 60, 20);
        const double slowdown = fleet_slowdown(bounds, 60);
        EXPECT_LE(fleet_false_accept(bounds, slowdown), 0.01);
        EXPECT_GT(fleet_false_accept(bounds, slowdown * 0.9), 0.01);
        EXPECT_NEAR(fleet_false_accept(bounds, 0), 1, 0.05);
    }
}

TEST(NodesWithoutDistribution, AreWilksNumbers) {
    EXPECT_EQ(decide::nodes_without_distribution(0.01), 299U);
    EXPECT_EQ(decide::nodes_without_distribution(0.05), 59U);
    EXPECT_EQ(decide::nodes_without_distribution(0.001 / 40), 119828U);
    EXPECT_FALSE(decide::rank_without_distribution(298, 0.01));
    EXPECT_EQ(decide::rank_without_distribution(299, 0.01), 1U);
    EXPECT_EQ(decide::rank_without_distribution(473, 0.01), 2U); // the next of Wilks' numbers
    EXPECT_EQ(decide::rank_without_distribution(472, 0.01), 1U);
}

TEST(NestedVariances, SplitWhatWasPutTogether) {
    std::mt19937_64 random{5};
    std::normal_distribution<> law;
    const double replica = 0.01;
    const double run = 0.03;
    const double node = 0.02;
    std::vector<decide::Nested> values;
    for (std::uint32_t n = 0; n < 400; ++n) {
        const double of_node = node * law(random);
        for (std::uint32_t r = 0; r < 2 + n % 3; ++r) {
            const double of_run = run * law(random);
            for (int i = 0; i < 5; ++i)
                values.push_back({{n, r}, of_node + of_run + replica * law(random)});
        }
    }
    const auto found = nested_variances(values);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(std::sqrt(found[0].variance), replica, 0.0005);
    EXPECT_NEAR(std::sqrt(found[1].variance), run, 0.002);
    EXPECT_NEAR(std::sqrt(found[2].variance), node, 0.003);
    EXPECT_EQ(found[2].degrees, 399);
}

TEST(NestedVariances, AreUnknownWhereNothingRepeats) {
    const std::vector<decide::Nested> values{{{0, 0}, 1.0}, {{1, 0}, 1.1}, {{2, 0}, 0.9}};
    const auto found = nested_variances(values);
    EXPECT_TRUE(std::isnan(found[0].variance));
    EXPECT_TRUE(std::isnan(found[1].variance));
    EXPECT_NEAR(found[2].variance, 0.01, 1e-12);
    EXPECT_TRUE(decide::nested_variances({}).size() == 1);
}

TEST(TwoParties, AllowTheFailuresThatBothRisksTake) {
    EXPECT_EQ(decide::allowed_failures(100, 0.001, 0.05), 1U); // 0.905 for none, 0.995 for one
    EXPECT_EQ(decide::allowed_failures(10, 0.001, 0.05), 0U);
    EXPECT_EQ(decide::allowed_failures(3, 1, 0.05), 3U);
    EXPECT_NEAR(decide::probability_of_at_most(1, 100, 0.001), 0.99536, 1e-4);
    // MIL-HDBK-781A, table of fixed-length plans: risks of 10%, ratio 3: 9.3 times the lower time with 5 failures.
    const auto plan = decide::reliability_plan(3, 0.1, 0.1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->allowed, 5U);
    EXPECT_NEAR(plan->length * 3, 9.27, 0.01);
    EXPECT_FALSE(decide::reliability_plan(1.0001, 0.1, 0.1));
}

// --- does the rule keep its promise? --------------------------------------------------------------------------

struct Fleet {
    std::size_t nodes;
    double node_deviation; ///< over that of a single value, which is 1
};

class ScreenAndRetest : public testing::TestWithParam<Fleet> {
protected:
    static constexpr std::size_t metrics = 40;
    static constexpr double scale = 0.01;

    /// Fleets with 3% of bad nodes, each slow in up to five metrics by 4 to 34 deviations.
    std::vector<decide::FleetBounds> learn(std::vector<double>& centers) {
        const auto [nodes, tau] = GetParam();
        std::vector<decide::FleetLevel> levels;
        std::vector<stats::VarianceEstimate> variances;
        std::vector<std::vector<double>> values(metrics, List(nodes));
        for (auto& metric : values)
            for (double& value : metric) value = scale * law_(random_);
        const auto bad = std::max<std::size_t>(1, nodes * 3 / 100);
        for (std::size_t i = 0; i < bad; ++i)
            for (std::size_t k = 0, some = 1 + random_() % 5; k < some; ++k)
                values[random_() % metrics][i] -=
                    scale * std::uniform_real_distribution<>{4, 34}(random_);
        for (const auto& metric : values) {
            levels.push_back(decide::fleet_level(metric));
            variances.push_back(levels.back().variance);
        }
        const auto prior = fit_prior(variances);
        std::vector<decide::FleetBounds> bounds;
        for (std::size_t m = 0; m < metrics; ++m) {
            centers.push_back(levels[m].center);
            bounds.push_back(decide::fleet_bounds(moderate(variances[m], prior),
                                                  scale * scale * (1 - tau * tau), nodes, metrics));
        }
        return bounds;
    }
    bool is_accused(const decide::FleetBounds& bounds, double center, double slower) {
        const double tau = GetParam().node_deviation;
        const double noise = scale * std::sqrt(1 - tau * tau);
        const double node = scale * tau * law_(random_) - slower;
        if (node + noise * law_(random_) >= center - bounds.screen) return false;
        List retests(9);
        for (double& value : retests) value = node + noise * law_(random_);
        return stats::median(retests) < center - bounds.accuse;
    }

    std::mt19937_64 random_{GetParam().nodes};
    std::normal_distribution<> law_;
};

TEST_P(ScreenAndRetest, AccusesOneHealthyNodeOfAThousandAtMost) {
    std::size_t accused = 0;
    std::size_t judged = 0;
    for (int fleet = 0; fleet < 50; ++fleet) {
        List centers;
        const auto bounds = learn(centers);
        for (int node = 0; node < 400; ++node) {
            bool any = false;
            for (std::size_t m = 0; m < metrics; ++m)
                any = is_accused(bounds[m], centers[m], 0) || any;
            accused += any ? 1 : 0;
            ++judged;
        }
    }
    const double promised = static_cast<double>(judged) / 1000;
    EXPECT_LE(static_cast<double>(accused), promised + 3 * std::sqrt(promised)) << "of " << judged;
}

TEST_P(ScreenAndRetest, FindsTheSlowdownThatItNames) {
    constexpr int draws = 2000; // held out, each by another fleet's limits
    int found = 0;
    List centers;
    std::vector<decide::FleetBounds> bounds;
    for (int i = 0; i < draws; ++i) {
        const auto m = static_cast<std::size_t>(i) % metrics;
        if (m == 0) {
            centers.clear();
            bounds = learn(centers);
        }
        const double slowdown = fleet_slowdown(bounds[m], GetParam().nodes);
        found += is_accused(bounds[m], centers[m], -std::log1p(-slowdown)) ? 1 : 0;
    }
    EXPECT_GE(found, draws * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(Fleets, ScreenAndRetest,
                         testing::Values(Fleet{40, 0.5}, Fleet{40, 0.9}, Fleet{200, 0.5},
                                         Fleet{200, 0.9}));

// --- levels of replicas ------------------------------------------------------------------------------

constexpr stats::ReplicaPrior memory{.deviation = 0.03, .degrees = 6};

std::vector<stats::Estimate> replicas(const std::vector<double>& values) {
    std::vector<stats::Estimate> list;
    for (const double value : values) list.push_back({.value = value, .low = nan, .high = nan});
    return list;
}

TEST(FastLevel, AllReplicasOfOneLevelCount) {
    const auto level = fast_level(replicas({1.00, 1.02, 0.99, 1.01, 0.98}), memory, false);
    EXPECT_EQ(level.kept.size(), 5U);
    EXPECT_TRUE(std::isnan(level.slow));
    EXPECT_NEAR(level.combined.value, 0.9999, 1e-4);
    // By hand: v = (6 * 0.0009 + 4 * s^2) / 10, t(0.975, 10) = 2.2281, half = t sqrt(v / 5).
    const double s2 = 2.5004e-4;
    const double half = 2.2281 * std::sqrt((6 * 0.0009 + 4 * s2) / 10 / 5);
    EXPECT_NEAR(std::log(level.combined.high / level.combined.value), half, 2e-5);
    EXPECT_NEAR(std::log(level.combined.value / level.combined.low), half, 2e-5);
    EXPECT_EQ(level.combined.scope, stats::Scope::between_replicas);
}

TEST(FastLevel, SlowerReplicasAreAnotherLevelForTimesAndForRates) {
    const std::vector<double> times{1.00, 1.65, 1.02, 1.66, 1.01};
    const auto of_times = fast_level(replicas(times), memory, false);
    EXPECT_EQ(of_times.kept.size(), 3U);
    EXPECT_NEAR(of_times.combined.value, 1.01, 1e-3);
    EXPECT_NEAR(of_times.slow, 1.655, 1e-3);
    std::vector<double> rates;
    for (const double time : times) rates.push_back(100 / time);
    const auto of_rates = fast_level(replicas(rates), memory, true);
    EXPECT_EQ(of_rates.kept.size(), 3U);
    EXPECT_NEAR(of_rates.combined.value * of_times.combined.value, 100, 1e-9);
    EXPECT_NEAR(of_rates.slow * of_times.slow, 100, 1e-9);
    EXPECT_NEAR(of_rates.combined.low * of_times.combined.high, 100, 1e-9);
}

TEST(FastLevel, ReplicasThatAreThemselvesUnsureAreNotCutOff) {
    auto list = replicas({1.00, 1.30, 1.02, 1.31, 1.01});
    EXPECT_EQ(fast_level(list, memory, false).kept.size(), 3U);
    for (auto& replica : list) {
        replica.low = 0.7 * replica.value;
        replica.high = 1.3 * replica.value;
    }
    EXPECT_EQ(fast_level(list, memory, false).kept.size(), 5U);
}

TEST(FastLevel, OfTwoReplicasBothAreKept) {
    const auto two = fast_level(replicas({1.0, 1.6}), memory, false);
    EXPECT_EQ(two.kept.size(), 2U);
    EXPECT_GT(two.combined.high / two.combined.value, 1.2) << "and the interval says so";
    EXPECT_EQ(fast_level(replicas({1.0, 1.6, 1.0}), memory, false).kept.size(), 2U);
    const auto one = fast_level(replicas({1.0}), memory, false);
    EXPECT_EQ(one.combined.scope, stats::Scope::none);
    EXPECT_EQ(one.combined.value, 1.0);
}

TEST(FastLevel, LeavesOutLoneFastReplica) {
    using testing::ElementsAre;
    const auto near = fast_level(replicas({1.0, 1.25, 1.26, 1.27, 1.24}), memory, false);
    EXPECT_THAT(near.kept, ElementsAre(4, 1, 2, 3)) << "the fastest first";
    EXPECT_NEAR(near.slow, 1.0, 1e-9) << "the others' mean, also where they are faster";
    const auto far = fast_level(replicas({1.0, 1.6, 1.61, 1.62, 1.63}), memory, false);
    EXPECT_EQ(far.kept.size(), 4U);
    EXPECT_EQ(far.combined.scope, stats::Scope::between_replicas);
    const auto two = fast_level(replicas({1.0, 1.01, 1.61, 1.62, 1.63}), memory, false);
    EXPECT_THAT(two.kept, ElementsAre(0, 1)) << "two that agree are a level";
    const auto none = fast_level(replicas({1.0, 1.6, 2.5, 4.0, 7.0}), memory, false);
    EXPECT_EQ(none.kept.size(), 5U) << "no two agree";
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
    EXPECT_LT(std::abs(simulate(0.03, 3, 0.2).bias), 0.05)
        << "two slow ones of three agree; 9% without a cut";
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
                two_levels += level.kept.size() < count ? 1 : 0;
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

TEST(OwnNoise, NeedsFiveRuns) {
    EXPECT_FALSE(stats::own_noise(made_runs(4, 0.03, 1), 0.03));
    EXPECT_TRUE(stats::own_noise(made_runs(5, 0.03, 1), 0.03));
    auto unreadable = made_runs(5, 0.03, 1);
    unreadable.back() = {0, 1};
    EXPECT_FALSE(stats::own_noise(unreadable, 0.03)) << "a time of nothing is none";
}

TEST(OwnNoise, IsTheOneThatWasPut) {
    for (const double own : {0.01, 0.03, 0.06}) {
        double sum = 0;
        for (unsigned seed = 0; seed < 20; ++seed)
            sum += stats::own_noise(made_runs(10, own, seed), 0.03)->between_replicas / 20;
        // Where replicas differ by more than their kind, some of it is cut off as another level.
        EXPECT_GT(sum, own < 0.05 ? 0.9 * own : 0.6 * own) << own;
        EXPECT_LT(sum, 1.1 * own) << own;
    }
}

TEST(OwnNoise, ReplicasThatAgreeByChanceAreWorthAQuarterOfTheirKind) {
    const std::vector<std::vector<double>> same(12, std::vector<double>(5, 2.0));
    const auto noise = stats::own_noise(same, 0.04);
    ASSERT_TRUE(noise);
    EXPECT_DOUBLE_EQ(noise->between_replicas, 0.01);
    EXPECT_DOUBLE_EQ(noise->between_runs, 0);
}

TEST(OwnNoise, RunsAtOtherTimesDifferByMore) {
    auto runs = made_runs(10, 0.01, 3);
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (double& time : runs[run]) time *= run % 2 == 0 ? 1.0 : 1.1;
    const auto noise = stats::own_noise(runs, 0.03);
    EXPECT_NEAR(noise->between_replicas, 0.01, 0.003);
    EXPECT_NEAR(noise->between_runs, std::log(1.1) / 2 * std::sqrt(10.0 / 9), 0.006);
}

TEST(OwnNoise, IntervalsFromItAreNarrowerAndCover) {
    constexpr double own = 0.01;
    constexpr double kind = 0.03;
    constexpr int cases = 400;
    int covered = 0;
    int tried = 0;
    double by_kind = 0;
    double by_history = 0;
    for (unsigned seed = 0; seed < cases; ++seed) {
        auto runs = made_runs(6, own, seed);
        const auto now = replicas(runs.back());
        runs.pop_back();
        const auto known = stats::own_noise(runs, kind);
        if (!known) continue; // too many replicas were slow
        const stats::ReplicaPrior prior{.deviation = known->between_replicas, .degrees = 6};
        const auto level = fast_level(now, prior, false).combined;
        const auto usual = fast_level(now, {.deviation = kind, .degrees = 6}, false).combined;
        if (!std::isfinite(level.low) || !std::isfinite(usual.low)) continue;
        ++tried;
        covered += level.low <= 1 && 1 <= level.high ? 1 : 0;
        by_history += level.high - level.low;
        by_kind += usual.high - usual.low;
    }
    EXPECT_GT(covered, 0.92 * tried);
    EXPECT_GT(tried, 0.95 * cases);
    EXPECT_LT(by_history, 0.6 * by_kind);
}

TEST(FastLevel, TheExpectedHalfWidthIsThatOfReplicasThatDifferAsExpected) {
    EXPECT_NEAR(expected_half_width(memory, 5), std::expm1(2.2281 * 0.03 / std::sqrt(5.0)), 1e-5);
    EXPECT_TRUE(std::isnan(expected_half_width(memory, 0)));
    EXPECT_TRUE(std::isnan(expected_half_width({.deviation = 0.05, .degrees = 0}, 1)));
}

} // namespace
} // namespace assay::stats
