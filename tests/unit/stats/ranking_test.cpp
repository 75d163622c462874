// SPDX-License-Identifier: Apache-2.0
//
// Rankings of types of machines whose truth is known.

#include "stats/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace assay::stats {
namespace {

/// Machines vary by 3%, and each is measured by three replicas of 2%.
constexpr double between = 0.03;
const double measured = std::sqrt(between * between + 0.02 * 0.02 / 3);

class Truth {
public:
    explicit Truth(std::uint64_t seed) : random_{seed} {}
    std::vector<double> machines(double type, std::size_t count) {
        std::vector<double> logs(count);
        for (auto& log : logs) log = type + measured * normal_(random_);
        return logs;
    }
    double type(double spread) { return spread * normal_(random_); }

private:
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
};

double sure_of_best(const std::vector<std::vector<double>>& types) {
    const auto spread = pool_spread(types);
    const auto a = type_score(types[0]);
    const auto b = type_score(types[1]);
    const double above = probability_above(a, b, 0, spread);
    return std::max(above, 1 - above);
}

TEST(Ranking, EqualOffersAreCalledSureInAtMostOneOfTwentyCases) {
    for (std::size_t machines = 2; machines <= 10; ++machines) {
        Truth truth{machines};
        int called = 0;
        constexpr int trials = 4000;
        for (int i = 0; i < trials; ++i)
            called += sure_of_best({truth.machines(0, machines), truth.machines(0, machines)}) >=
                      sure_probability;
        // 5%, and three standard deviations of what 4,000 trials show.
        EXPECT_LT(called, trials * 0.05 + 3 * std::sqrt(trials * 0.05 * 0.95)) << machines;
        EXPECT_GT(called, trials * 0.02) << machines; // it is not deaf either
    }
}

TEST(Ranking, OfPrintedProbabilitiesOfNineTenthsAsManyAreRight) {
    Truth truth{7};
    int printed = 0;
    int right = 0;
    while (printed < 2000) {
        const double a = truth.type(between);
        const double b = truth.type(between);
        const std::size_t machines = 2 + static_cast<std::size_t>(printed % 9);
        const std::vector<std::vector<double>> types{truth.machines(a, machines),
                                                     truth.machines(b, machines)};
        const double above =
            probability_above(type_score(types[0]), type_score(types[1]), 0, pool_spread(types));
        const double said = std::max(above, 1 - above);
        if (said < 0.85 || said > 0.95) continue;
        ++printed;
        right += (above > 0.5) == (a > b) ? 1 : 0;
    }
    EXPECT_GE(right, 2000 * 0.85);
    EXPECT_LE(right, 2000 * 0.95);
}

TEST(Ranking, FewerThanOneMachineInTwentyLiesBelowTheFifthPercentile) {
    for (const std::size_t machines : {2, 3, 10}) {
        Truth truth{machines};
        int below = 0;
        for (int i = 0; i < 4000; ++i) {
            const std::vector<std::vector<double>> types{truth.machines(0, machines)};
            below += truth.machines(0, 1)[0] <
                     percentile_of_next(type_score(types[0]), pool_spread(types));
        }
        // Few machines show little of the spread, and the prior makes up for it: 3 to 5%.
        EXPECT_LT(below, 4000 * 0.05 + 3 * std::sqrt(4000 * 0.05 * 0.95)) << machines;
        EXPECT_GT(below, 4000 * 0.025) << machines;
    }
}

TEST(Ranking, SharesOfDrawsAreTheProbabilityOfTwo) {
    const std::vector<std::vector<double>> types{{0.1, 0.14}, {0.08, 0.1, 0.06}};
    const auto spread = pool_spread(types);
    const std::vector scores{type_score(types[0]), type_score(types[1])};
    const std::vector<Candidate> candidates{
        {0, std::numbers::ln10}, {1, std::log(9.8)}, {1, std::log(12.0)}};
    const auto best = probabilities_best(scores, candidates, spread, 200'000);
    EXPECT_NEAR(best[0], probability_above(scores[0], scores[1], std::log(10 / 9.8), spread),
                0.005);
    EXPECT_EQ(best[2], 0); // the same type for less
    EXPECT_NEAR(std::accumulate(best.begin(), best.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(best, probabilities_best(scores, candidates, spread, 200'000)); // seeded
}

TEST(Ranking, OneMachineATypeHasThePriorAlone) {
    const std::vector<std::vector<double>> types{{0.2}, {0.1}};
    const auto spread = pool_spread(types);
    EXPECT_DOUBLE_EQ(spread.deviation, 0.03);
    EXPECT_DOUBLE_EQ(spread.degrees, 4);
    const double expected = 0.2 - 2.131847 * 0.03 * std::numbers::sqrt2; // t of 4 degrees at 5%
    EXPECT_NEAR(percentile_of_next(type_score(types[0]), spread), expected, 1e-6);
}

TEST(Ranking, TheSpreadIsPooledOverTypesAndMovedToThePrior) {
    const std::vector<std::vector<double>> types{{0, 0.02}, {1, 1.04, 1.08}};
    const auto spread = pool_spread(types);
    EXPECT_DOUBLE_EQ(spread.degrees, 4 + 1 + 2);
    EXPECT_NEAR(spread.deviation, std::sqrt((4 * 0.0009 + 0.0002 + 0.0032) / 7), 1e-12);
}

} // namespace
} // namespace assay::stats
