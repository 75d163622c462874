// SPDX-License-Identifier: Apache-2.0

#include "decide/fleet.hpp"
#include "series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
    const auto level = fleet_level(values);
    EXPECT_NEAR(level.center, 3, 0.002);
    EXPECT_NEAR(std::sqrt(level.variance.variance), 0.02, 0.001);
    EXPECT_EQ(level.nodes, 2000U);
}

TEST(FleetLevel, DoesNotCareHowBadTheBadNodesAre) {
    auto values = normal_values(200, 0, 0.01, 2);
    const auto clean = fleet_level(values);
    List slightly = values;
    for (std::size_t i = 0; i < 6; ++i) slightly[i] = -0.2;
    for (std::size_t i = 0; i < 6; ++i) values[i] = -20;
    EXPECT_DOUBLE_EQ(fleet_level(values).variance.variance,
                     fleet_level(slightly).variance.variance);
    EXPECT_GE(fleet_level(values).left_out, 6U);
    EXPECT_NEAR(std::sqrt(fleet_level(values).variance.variance),
                std::sqrt(clean.variance.variance), 0.002);
    EXPECT_NEAR(fleet_level(values).center, clean.center, 0.001);
}

TEST(FleetLevel, MovesAndScalesWithTheValues) {
    const auto values = normal_values(41, 1, 0.05, 3);
    const auto level = fleet_level(values);
    const auto other = fleet_level(transformed(values, 3, -7));
    EXPECT_NEAR(other.center, 3 * level.center - 7, 1e-12);
    EXPECT_NEAR(other.variance.variance, 9 * level.variance.variance, 1e-12);
    EXPECT_EQ(other.left_out, level.left_out);
}

TEST(FleetLevel, OfTooFewOrOfEqualNodes) {
    EXPECT_TRUE(std::isnan(fleet_level({}).center));
    const List one{2};
    EXPECT_TRUE(std::isnan(fleet_level(one).variance.variance));
    const List equal(7, 1.5);
    EXPECT_EQ(fleet_level(equal).variance.variance, 0);
}

TEST(FleetBounds, FallWithTheLevelAndTheMetricsAndRiseWithTheNodes) {
    const VarianceEstimate variance{.variance = 1e-4, .degrees = 39};
    const auto bounds = fleet_bounds(variance, 5e-5, 40, 40);
    EXPECT_GT(fleet_bounds(variance, 5e-5, 40, 400).accuse, bounds.accuse);
    EXPECT_GT(fleet_bounds(variance, 5e-5, 10, 40).screen, bounds.screen);
    EXPECT_LT(fleet_bounds(variance, 1e-4, 40, 40).accuse, bounds.accuse) << "retests remove noise";
    EXPECT_DOUBLE_EQ(fleet_bounds(variance, 5e-5, 40, 400).screen, bounds.screen);
    // t(0.99; 39) sqrt(1 + pi / 80), by the tables of Student's t.
    EXPECT_NEAR(bounds.screen, 0.01 * 2.4258 * std::sqrt(1 + (3.14159265 / 80)), 1e-5);
    EXPECT_TRUE(std::isnan(fleet_bounds({.variance = nan, .degrees = 0}, 0, 1, 1).accuse));
}

TEST(FleetBounds, AcceptTheSlowdownThatTheyNameInAtMostOnePercent) {
    for (const double noise : {0.0, 2e-5, 1e-4}) {
        const auto bounds = fleet_bounds({.variance = 1e-4, .degrees = 60}, noise, 60, 20);
        const double slowdown = fleet_slowdown(bounds, 60);
        EXPECT_LE(fleet_false_accept(bounds, slowdown), 0.01);
        EXPECT_GT(fleet_false_accept(bounds, slowdown * 0.9), 0.01);
        EXPECT_NEAR(fleet_false_accept(bounds, 0), 1, 0.05);
    }
}

TEST(NodesWithoutDistribution, AreWilksNumbers) {
    EXPECT_EQ(nodes_without_distribution(0.01), 299U);
    EXPECT_EQ(nodes_without_distribution(0.05), 59U);
    EXPECT_EQ(nodes_without_distribution(0.001 / 40), 119828U);
    EXPECT_FALSE(rank_without_distribution(298, 0.01));
    EXPECT_EQ(rank_without_distribution(299, 0.01), 1U);
    EXPECT_EQ(rank_without_distribution(473, 0.01), 2U); // the next of Wilks' numbers
    EXPECT_EQ(rank_without_distribution(472, 0.01), 1U);
}

TEST(NestedVariances, SplitWhatWasPutTogether) {
    std::mt19937_64 random{5};
    std::normal_distribution<> law;
    const double replica = 0.01;
    const double run = 0.03;
    const double node = 0.02;
    std::vector<Nested> values;
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
    const std::vector<Nested> values{{{0, 0}, 1.0}, {{1, 0}, 1.1}, {{2, 0}, 0.9}};
    const auto found = nested_variances(values);
    EXPECT_TRUE(std::isnan(found[0].variance));
    EXPECT_TRUE(std::isnan(found[1].variance));
    EXPECT_NEAR(found[2].variance, 0.01, 1e-12);
    EXPECT_TRUE(nested_variances({}).size() == 1);
}

TEST(TwoParties, AllowTheFailuresThatBothRisksTake) {
    EXPECT_EQ(allowed_failures(100, 0.001, 0.05), 1U); // 0.905 for none, 0.995 for one
    EXPECT_EQ(allowed_failures(10, 0.001, 0.05), 0U);
    EXPECT_EQ(allowed_failures(3, 1, 0.05), 3U);
    EXPECT_NEAR(probability_of_at_most(1, 100, 0.001), 0.99536, 1e-4);
    // MIL-HDBK-781A, table of fixed-length plans: risks of 10%, ratio 3: 9.3 times the lower time with 5 failures.
    const auto plan = reliability_plan(3, 0.1, 0.1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->allowed, 5U);
    EXPECT_NEAR(plan->length * 3, 9.27, 0.01);
    EXPECT_FALSE(reliability_plan(1.0001, 0.1, 0.1));
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
    std::vector<FleetBounds> learn(std::vector<double>& centers) {
        const auto [nodes, tau] = GetParam();
        std::vector<FleetLevel> levels;
        std::vector<VarianceEstimate> variances;
        std::vector<std::vector<double>> values(metrics, List(nodes));
        for (auto& metric : values)
            for (double& value : metric) value = scale * law_(random_);
        const auto bad = std::max<std::size_t>(1, nodes * 3 / 100);
        for (std::size_t i = 0; i < bad; ++i)
            for (std::size_t k = 0, some = 1 + random_() % 5; k < some; ++k)
                values[random_() % metrics][i] -=
                    scale * std::uniform_real_distribution<>{4, 34}(random_);
        for (const auto& metric : values) {
            levels.push_back(fleet_level(metric));
            variances.push_back(levels.back().variance);
        }
        const auto prior = fit_prior(variances);
        std::vector<FleetBounds> bounds;
        for (std::size_t m = 0; m < metrics; ++m) {
            centers.push_back(levels[m].center);
            bounds.push_back(fleet_bounds(moderate(variances[m], prior),
                                          scale * scale * (1 - tau * tau), nodes, metrics));
        }
        return bounds;
    }
    bool is_accused(const FleetBounds& bounds, double center, double slower) {
        const double tau = GetParam().node_deviation;
        const double noise = scale * std::sqrt(1 - tau * tau);
        const double node = scale * tau * law_(random_) - slower;
        if (node + noise * law_(random_) >= center - bounds.screen) return false;
        List retests(9);
        for (double& value : retests) value = node + noise * law_(random_);
        return median(retests) < center - bounds.accuse;
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
    std::vector<FleetBounds> bounds;
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

} // namespace
} // namespace assay::stats
