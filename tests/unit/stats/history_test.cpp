// SPDX-License-Identifier: Apache-2.0

#include "series.hpp"
#include "stats/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using List = std::vector<double>;

// scipy: stats.theilslopes(y, x, 0.95)
TEST(TheilSen, AgreesWithScipy) {
    const auto far = theil_sen(List{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                               List{2.1, 3.9, 6.2, 7.8, 30, 12.1, 13.8, 16.1, 18, 20.2});
    EXPECT_NEAR(far.value, 2, 1e-12);
    EXPECT_NEAR(far.low, 1.95, 1e-12);
    EXPECT_NEAR(far.high, 2.0666666666666664, 1e-12);
    const auto tied = theil_sen(List{3, 1, 2, 1, 3, 5, 8}, List{3.9, 4.5, 4.1, 4, 3.5, 3.5, 1});
    EXPECT_NEAR(tied.value, -0.3, 1e-12);
    EXPECT_NEAR(tied.low, -0.58, 1e-12);
    EXPECT_NEAR(tied.high, -0.05, 1e-12);
}

TEST(TheilSen, OfManyPointsIsThatOfFewer) {
    List x;
    List y;
    const auto noise = correlated_series(20000, 0, 3);
    for (std::size_t i = 0; i < noise.size(); ++i) {
        x.push_back(static_cast<double>(i));
        y.push_back(0.01 * x[i] + noise[i]);
    }
    const auto slope = theil_sen(x, y);
    EXPECT_NEAR(slope.value, 0.01, 1e-5);
    EXPECT_LT(slope.low, 0.01);
    EXPECT_GT(slope.high, 0.01);
}

TEST(TheilSen, NeedsThreeDifferentPlaces) {
    for (const auto& slope : {theil_sen({}, {}), theil_sen(List{1, 2}, List{1, 2}),
                              theil_sen(List{1, 2, 2, nan}, List{1, 2, 3, 4}),
                              theil_sen(List{1, 2, 3}, List{1, infinity, 3})})
        EXPECT_TRUE(std::isnan(slope.value) && std::isnan(slope.low) && std::isnan(slope.high));
    EXPECT_EQ(theil_sen(List{1, 2, 3}, List{5, 5, 5}).value, 0);
}

// scipy: mean - nct.ppf(.95, 6, norm.ppf(.95) * 7**.5) / 7**.5 * std(ddof=1)
TEST(ToleranceBound, AgreesWithScipyAndTables) {
    EXPECT_NEAR(lower_tolerance_bound(List{9.8, 10.1, 10.0, 9.9, 10.3, 9.7, 10.2}),
                9.265630767543099, 1e-9);
    // Mean 0, deviation 1: the factor itself, in every table of tolerance limits.
    EXPECT_NEAR(lower_tolerance_bound(List{-1, 0, 1}), -7.655900133153338, 1e-8);
    const List seven = [] {
        List values{-3, -2, -1, 0, 1, 2, 3};
        for (double& value : values) value /= std::sqrt(28.0 / 6);
        return values;
    }();
    EXPECT_NEAR(lower_tolerance_bound(seven, 0.99, 0.9), -3.9720228414883727, 1e-8);
}

TEST(ToleranceBound, IsKeptWithItsConfidence) {
    std::mt19937_64 random{11};
    std::normal_distribution<> machines{100, 2};
    int kept = 0;
    constexpr int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
        List values(6);
        for (double& value : values) value = machines(random);
        if (lower_tolerance_bound(values) < 100 - 2 * 1.6448536) ++kept; // 95% of all are above it
    }
    EXPECT_NEAR(kept / double{rounds}, 0.95, 0.015); // three standard errors
}

TEST(ToleranceBound, OfLittleIsUnknown) {
    EXPECT_TRUE(std::isnan(lower_tolerance_bound({})));
    EXPECT_TRUE(std::isnan(lower_tolerance_bound(List{1})));
    EXPECT_TRUE(std::isnan(lower_tolerance_bound(List{1, nan})));
    EXPECT_TRUE(std::isnan(lower_tolerance_bound(List{1, 2}, 1, 0.95)));
    EXPECT_EQ(lower_tolerance_bound(List{4, 4, 4}), 4);
    const List many = correlated_series(20000, 0, 1);
    EXPECT_NEAR(lower_tolerance_bound(many), 10 - 1.645, 0.06);
}

TEST(ExpectedSmallest, IsTheMeanOfAllDraws) {
    const List values{5, 1, 3};
    EXPECT_DOUBLE_EQ(expected_smallest(values, 1), 3);
    // Nine draws of two: 1 five times, 3 three times, 5 once.
    EXPECT_DOUBLE_EQ(expected_smallest(values, 2), (5 * 1 + 3 * 3 + 5) / 9.0);
    EXPECT_NEAR(expected_smallest(values, 512), 1, 1e-12);
    EXPECT_TRUE(std::isnan(expected_smallest({}, 2)));
    EXPECT_TRUE(std::isnan(expected_smallest(values, 0)));
    EXPECT_TRUE(std::isnan(expected_smallest(List{1, nan}, 2)));
}

List with_step(List series, std::size_t at, double by) {
    for (std::size_t i = at; i < series.size(); ++i) series[i] += by;
    return series;
}

TEST(FindSteps, FindsOneWhereItIs) {
    for (const std::size_t count : {8U, 20U, 200U}) {
        const auto steps = find_steps(with_step(correlated_series(count, 0, count), count / 2, 9));
        ASSERT_THAT(steps, SizeIs(1)) << count;
        EXPECT_EQ(steps[0].index, count / 2);
        EXPECT_NEAR(steps[0].before, 10, 1);
        EXPECT_NEAR(steps[0].after, 19, 1);
        EXPECT_LE(steps[0].p, 0.01);
    }
}

TEST(FindSteps, TakesNoSpikeForALevel) {
    for (const std::size_t at : {0U, 1U, 15U, 28U, 29U}) {
        auto series = correlated_series(30, 0, 7);
        series[at] += 50;
        EXPECT_THAT(find_steps(series), IsEmpty()) << at;
        const auto steps = find_steps(with_step(series, 20, 8)); // nor does it hide a step
        ASSERT_THAT(steps, SizeIs(1)) << at;
        EXPECT_EQ(steps[0].index, 20U);
    }
}

TEST(FindSteps, FindsThereAndBack) {
    // A level that came and went moves neither end of the series.
    for (const std::size_t width : {4U, 8U, 30U}) {
        const auto up = with_step(correlated_series(90, 0, width), 40, 10);
        const auto steps = find_steps(with_step(up, 40 + width, -10));
        ASSERT_THAT(steps, SizeIs(2)) << width;
        EXPECT_EQ(steps[0].index, 40U);
        EXPECT_EQ(steps[1].index, 40U + width);
        EXPECT_NEAR(steps[0].after, steps[1].before, 1e-12);
    }
}

TEST(FindSteps, FindsEachOfAStaircase) {
    auto series = correlated_series(120, 0, 9);
    for (const std::size_t at : {30U, 60U, 90U}) series = with_step(series, at, 6);
    const auto steps = find_steps(series);
    ASSERT_THAT(steps, SizeIs(3));
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(static_cast<double>(steps[i].index), 30.0 * static_cast<double>(i + 1), 1);
}

TEST(FindSteps, DoesNotMindUnitOrDirection) {
    const auto series = with_step(correlated_series(40, 0, 4), 17, 7);
    const auto steps = find_steps(series);
    ASSERT_THAT(steps, SizeIs(1));
    for (const double factor : {1e-9, -1.0, 1e9}) {
        const auto other = find_steps(transformed(series, factor, 0));
        ASSERT_THAT(other, SizeIs(1)) << factor;
        EXPECT_EQ(other[0].index, steps[0].index);
        EXPECT_NEAR(other[0].p, steps[0].p, 1e-3 * steps[0].p);
    }
}

struct Chance {
    const char* name;
    double correlation;
    bool
        heavy_tails; ///< Student's t of three degrees: one value in a hundred is six deviations off
    double most;     ///< share of series with a step
};
class StepsOfNoise : public testing::TestWithParam<Chance> {};

TEST_P(StepsOfNoise, AreRare) {
    const Chance chance = GetParam();
    std::mt19937_64 random{31};
    std::student_t_distribution<> student{3};
    for (const std::size_t count : {5U, 8U, 20U, 60U, 300U}) {
        const int rounds = count < 100 ? 1500 : 300;
        int with_steps = 0;
        for (int round = 0; round < rounds; ++round) {
            auto series = correlated_series(count, chance.correlation, random());
            if (chance.heavy_tails)
                for (double& value : series) value = student(random);
            if (!find_steps(series).empty()) ++with_steps;
        }
        EXPECT_LE(with_steps, rounds * chance.most + 3 * std::sqrt(rounds * chance.most)) << count;
    }
}
INSTANTIATE_TEST_SUITE_P(Kinds, StepsOfNoise,
                         testing::Values(Chance{"normal", 0, false, 0.01},
                                         Chance{"heavy", 0, true, 0.01},
                                         Chance{"correlated", 0.2, false, 0.013},
                                         Chance{"strongly", 0.5, false, 0.03}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

TEST(FindSteps, FindsMostStepsOfAUsefulSize) {
    struct Case {
        std::size_t count;
        double size; ///< deviations
        int least;   ///< of 200
    };
    for (const Case& wanted :
         {Case{8, 8, 185}, Case{12, 6, 185}, Case{20, 4, 190}, Case{200, 2.5, 190}}) {
        int found = 0;
        const std::size_t middle = wanted.count / 2;
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            const auto steps = find_steps(
                with_step(correlated_series(wanted.count, 0, seed), middle, wanted.size));
            if (steps.size() != 1) continue;
            const auto place = static_cast<double>(steps[0].index);
            if (std::abs(place - static_cast<double>(middle)) <= 2) ++found;
        }
        EXPECT_GE(found, wanted.least) << wanted.count;
    }
}

TEST(FindSteps, OfWhatIsNoSeries) {
    EXPECT_THAT(find_steps({}), IsEmpty());
    EXPECT_THAT(find_steps(List{1, 1, 9, 9}), IsEmpty());
    EXPECT_THAT(find_steps(List(50, 3.7)), IsEmpty());
    EXPECT_THAT(find_steps(List{1, 1, 1, nan, 9, 9, 9, 9}), IsEmpty());
    const auto steps = find_steps(List{0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3});
    ASSERT_THAT(steps, SizeIs(1)); // without any noise
    EXPECT_EQ(steps[0].index, 4U);
    EXPECT_EQ(steps[0].p, 0);
}

} // namespace
} // namespace assay::stats
