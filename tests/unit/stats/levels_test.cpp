// SPDX-License-Identifier: Apache-2.0

#include "series.hpp"
#include "stats/history.hpp"
#include "stats/levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

using namespace testing;
using List = std::vector<double>;

constexpr double kibi = 1024;
constexpr double mebi = 1024 * kibi;
using Curve = std::vector<stats::CurvePoint>;

struct Cache {
    double size; // infinite for the memory
    double latency;
};
const std::vector<Cache> usual{{32 * kibi, 1.1e-9},
                               {1 * mebi, 3.9e-9},
                               {32 * mebi, 16e-9},
                               {std::numeric_limits<double>::infinity(), 110e-9}};

/// Steps at the sizes of the caches.
double sharp(double size, const std::vector<Cache>& caches) {
    for (const Cache& cache : caches)
        if (size <= cache.size) return cache.latency;
    return 0;
}

/// A chase through twice a cache still hits it half of the time where lines are replaced at random.
double smooth(double size, const std::vector<Cache>& caches) {
    double latency = 0;
    double reached = 0;
    for (const Cache& cache : caches) {
        const double hits = std::min(1.0, cache.size / size);
        latency += (hits - reached) * cache.latency;
        reached = hits;
    }
    return latency;
}

template <class Shape>
Curve sweep(Shape shape, int per_octave, double largest = 256 * mebi) {
    Curve curve;
    for (int i = 0;; ++i) {
        const double size = 8 * kibi * std::exp2(static_cast<double>(i) / per_octave);
        if (size > largest * 1.001) return curve;
        curve.push_back({.size = size, .value = shape(size)});
    }
}
Curve sharp_sweep(int per_octave) {
    return sweep([](double size) { return sharp(size, usual); }, per_octave);
}

/// The levels of `usual`, `to` within one point of the sweep.
void expect_usual(const std::vector<stats::Level>& levels, double tolerance, double step) {
    ASSERT_EQ(levels.size(), usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
        EXPECT_NEAR(levels[i].value / usual[i].latency, 1, tolerance) << i;
        if (i + 1 == usual.size()) continue;
        EXPECT_LE(levels[i].to, usual[i].size * step * 1.001) << i;
        EXPECT_GE(levels[i].to, usual[i].size / step / 1.001) << i;
        EXPECT_GT(levels[i + 1].from, levels[i].to);
    }
}

TEST(FindLevels, finds_sharp_ones_exactly) {
    for (const int per_octave : {1, 2, 4}) {
        SCOPED_TRACE(per_octave);
        const auto levels = find_levels(sharp_sweep(per_octave), stats::Trend::rising);
        expect_usual(levels, 1e-9, 1);
        EXPECT_NEAR(levels.front().from, 8 * kibi, 1);
        EXPECT_NEAR(levels.back().to, 256 * mebi, 1);
    }
}

TEST(FindLevels, finds_smooth_ones_about_where_they_are) {
    for (const int per_octave : {2, 4}) {
        SCOPED_TRACE(per_octave);
        const auto curve =
            sweep([](double size) { return smooth(size, usual); }, per_octave, 1024 * mebi);
        expect_usual(find_levels(curve, stats::Trend::rising), 0.35, 2);
    }
}

TEST(FindLevels, is_not_misled_by_noise) {
    std::mt19937 random{7};
    for (const double noise : {0.01, 0.05, 0.1}) {
        std::normal_distribution<double> factor{0, noise};
        int right = 0;
        constexpr int trials = 200;
        for (int trial = 0; trial < trials; ++trial) {
            Curve curve = sharp_sweep(2);
            for (stats::CurvePoint& point : curve) point.value *= std::exp(factor(random));
            const auto levels = find_levels(curve, stats::Trend::rising);
            bool good = levels.size() == usual.size();
            for (std::size_t i = 0; good && i < levels.size(); ++i)
                good = std::fabs(levels[i].value / usual[i].latency - 1) < 4 * noise &&
                       (i == 3 || std::fabs(std::log2(levels[i].to / usual[i].size)) < 0.6);
            right += good ? 1 : 0;
        }
        EXPECT_GE(right, trials * 95 / 100) << "noise " << noise;
    }
}

TEST(FindLevels, is_not_misled_by_single_points_that_are_far_off) {
    for (std::size_t hit = 1; hit + 1 < sharp_sweep(2).size(); ++hit)
        for (const double factor : {0.3, 3.0, 30.0}) {
            SCOPED_TRACE(testing::Message() << hit << " " << factor);
            Curve curve = sharp_sweep(2);
            curve[hit].value *= factor;
            expect_usual(find_levels(curve, stats::Trend::rising), 0.05, std::numbers::sqrt2);
        }
}

TEST(FindLevels, copes_with_useless_points_and_any_order) {
    std::mt19937 random{8};
    for (int trial = 0; trial < 100; ++trial) {
        Curve curve = sharp_sweep(4);
        curve.push_back(curve.front()); // measured twice
        curve.push_back({.size = 1 * mebi, .value = std::numeric_limits<double>::quiet_NaN()});
        curve.push_back({.size = -1, .value = 1});
        curve.push_back({.size = 1 * mebi, .value = 0});
        std::ranges::shuffle(curve, random);
        expect_usual(find_levels(curve, stats::Trend::rising), 1e-9, 1);
    }
}

TEST(FindLevels, drops_a_stretch_that_contradicts_the_trend) {
    Curve curve = sharp_sweep(2);
    // A neighbour kept two points of the second cache busy: slower than the third.
    curve[7].value = 60e-9;
    curve[8].value = 60e-9;
    expect_usual(find_levels(curve, stats::Trend::rising), 0.05, std::numbers::sqrt2);
}

TEST(FindLevels, reads_bandwidths_the_other_way_round) {
    Curve curve = sharp_sweep(2);
    for (stats::CurvePoint& point : curve) point.value = 64 / point.value;
    const auto levels = find_levels(curve, stats::Trend::falling);
    ASSERT_EQ(levels.size(), 4U);
    EXPECT_NEAR(levels[0].value, 64 / 1.1e-9, 1);
    EXPECT_NEAR(levels[3].value, 64 / 110e-9, 1);
    // Held against the wrong trend nothing agrees, and only one level is left.
    EXPECT_EQ(find_levels(curve, stats::Trend::rising).size(), 1U);
}

TEST(FindLevels, finds_what_this_machine_showed) {
    // Nanoseconds per load, Zen 4 in a cloud, huge pages, 8 KiB and doubling: the last cache is shared
    // with other tenants, so that its end is a slope.
    const std::vector<double> measured{1.10, 1.10, 1.25, 3.84, 3.85, 3.86, 5.47, 9.98,
                                       14.2, 16.9, 20.7, 71.5, 125,  140,  145};
    Curve curve;
    for (std::size_t i = 0; i < measured.size(); ++i)
        curve.push_back(
            {.size = 8 * kibi * std::exp2(static_cast<double>(i)), .value = measured[i]});
    const auto levels = find_levels(curve, stats::Trend::rising);
    ASSERT_EQ(levels.size(), 4U);
    EXPECT_NEAR(levels[0].to, 32 * kibi, 1);
    EXPECT_NEAR(levels[1].value, 3.85, 0.1);
    EXPECT_GE(levels[1].to, 256 * kibi);
    EXPECT_LE(levels[1].to, 512 * kibi);
    EXPECT_NEAR(levels[2].value, 16.9, 3);
    EXPECT_NEAR(levels[3].value, 140, 10);
    EXPECT_NEAR(levels[3].from, 32 * mebi, 1);
}

TEST(FindLevels, finds_nothing_where_there_is_nothing) {
    EXPECT_TRUE(find_levels({}, stats::Trend::rising).empty());
    EXPECT_TRUE(find_levels(Curve{{.size = 8, .value = 1}}, stats::Trend::rising).empty());
    // A slope all the way.
    Curve slope;
    for (int i = 0; i < 20; ++i) slope.push_back({.size = std::exp2(i), .value = std::exp2(i)});
    EXPECT_TRUE(find_levels(slope, stats::Trend::rising).empty());
    const auto one =
        find_levels(Curve{{.size = 8, .value = 1}, {.size = 16, .value = 1}}, stats::Trend::rising);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].to, 16);
}

// --- levels and trends over time ---------------------------------------------------------------------

// scipy: stats.theilslopes(y, x, 0.95)
TEST(TheilSen, AgreesWithScipy) {
    const auto far = stats::theil_sen(List{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                      List{2.1, 3.9, 6.2, 7.8, 30, 12.1, 13.8, 16.1, 18, 20.2});
    EXPECT_NEAR(far.value, 2, 1e-12);
    EXPECT_NEAR(far.low, 1.95, 1e-12);
    EXPECT_NEAR(far.high, 2.0666666666666664, 1e-12);
    const auto tied =
        stats::theil_sen(List{3, 1, 2, 1, 3, 5, 8}, List{3.9, 4.5, 4.1, 4, 3.5, 3.5, 1});
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
    const auto slope = stats::theil_sen(x, y);
    EXPECT_NEAR(slope.value, 0.01, 1e-5);
    EXPECT_LT(slope.low, 0.01);
    EXPECT_GT(slope.high, 0.01);
}

TEST(TheilSen, NeedsThreeDifferentPlaces) {
    for (const auto& slope : {stats::theil_sen({}, {}), stats::theil_sen(List{1, 2}, List{1, 2}),
                              stats::theil_sen(List{1, 2, 2, nan}, List{1, 2, 3, 4}),
                              stats::theil_sen(List{1, 2, 3}, List{1, infinity, 3})})
        EXPECT_TRUE(std::isnan(slope.value) && std::isnan(slope.low) && std::isnan(slope.high));
    EXPECT_EQ(stats::theil_sen(List{1, 2, 3}, List{5, 5, 5}).value, 0);
}

// scipy: mean - nct.ppf(.95, 6, norm.ppf(.95) * 7**.5) / 7**.5 * std(ddof=1)
TEST(ToleranceBound, AgreesWithScipyAndTables) {
    EXPECT_NEAR(stats::lower_tolerance_bound(List{9.8, 10.1, 10.0, 9.9, 10.3, 9.7, 10.2}),
                9.265630767543099, 1e-9);
    // Mean 0, deviation 1: the factor itself, in every table of tolerance limits.
    EXPECT_NEAR(stats::lower_tolerance_bound(List{-1, 0, 1}), -7.655900133153338, 1e-8);
    const List seven = [] {
        List values{-3, -2, -1, 0, 1, 2, 3};
        for (double& value : values) value /= std::sqrt(28.0 / 6);
        return values;
    }();
    EXPECT_NEAR(stats::lower_tolerance_bound(seven, 0.99, 0.9), -3.9720228414883727, 1e-8);
}

TEST(ToleranceBound, IsKeptWithItsConfidence) {
    std::mt19937_64 random{11};
    std::normal_distribution<> machines{100, 2};
    int kept = 0;
    constexpr int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
        List values(6);
        for (double& value : values) value = machines(random);
        if (stats::lower_tolerance_bound(values) < 100 - 2 * 1.6448536)
            ++kept; // 95% of all are above it
    }
    EXPECT_NEAR(kept / double{rounds}, 0.95, 0.015); // three standard errors
}

TEST(ToleranceBound, OfLittleIsUnknown) {
    EXPECT_TRUE(std::isnan(stats::lower_tolerance_bound({})));
    EXPECT_TRUE(std::isnan(stats::lower_tolerance_bound(List{1})));
    EXPECT_TRUE(std::isnan(stats::lower_tolerance_bound(List{1, nan})));
    EXPECT_TRUE(std::isnan(stats::lower_tolerance_bound(List{1, 2}, 1, 0.95)));
    EXPECT_EQ(stats::lower_tolerance_bound(List{4, 4, 4}), 4);
    const List many = correlated_series(20000, 0, 1);
    EXPECT_NEAR(stats::lower_tolerance_bound(many), 10 - 1.645, 0.06);
}

TEST(ExpectedSmallest, IsTheMeanOfAllDraws) {
    const List values{5, 1, 3};
    EXPECT_DOUBLE_EQ(stats::expected_smallest(values, 1), 3);
    // Nine draws of two: 1 five times, 3 three times, 5 once.
    EXPECT_DOUBLE_EQ(stats::expected_smallest(values, 2), (5 * 1 + 3 * 3 + 5) / 9.0);
    EXPECT_NEAR(stats::expected_smallest(values, 512), 1, 1e-12);
    EXPECT_TRUE(std::isnan(stats::expected_smallest({}, 2)));
    EXPECT_TRUE(std::isnan(stats::expected_smallest(values, 0)));
    EXPECT_TRUE(std::isnan(stats::expected_smallest(List{1, nan}, 2)));
}

List with_step(List series, std::size_t at, double by) {
    for (std::size_t i = at; i < series.size(); ++i) series[i] += by;
    return series;
}

TEST(FindSteps, FindsOneWhereItIs) {
    for (const std::size_t count : {8U, 20U, 200U}) {
        const auto steps =
            stats::find_steps(with_step(correlated_series(count, 0, count), count / 2, 9));
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
        EXPECT_THAT(stats::find_steps(series), IsEmpty()) << at;
        const auto steps = stats::find_steps(with_step(series, 20, 8)); // nor does it hide a step
        ASSERT_THAT(steps, SizeIs(1)) << at;
        EXPECT_EQ(steps[0].index, 20U);
    }
}

TEST(FindSteps, FindsThereAndBack) {
    // A level that came and went moves neither end of the series.
    for (const std::size_t width : {4U, 8U, 30U}) {
        const auto up = with_step(correlated_series(90, 0, width), 40, 10);
        const auto steps = stats::find_steps(with_step(up, 40 + width, -10));
        ASSERT_THAT(steps, SizeIs(2)) << width;
        EXPECT_EQ(steps[0].index, 40U);
        EXPECT_EQ(steps[1].index, 40U + width);
        EXPECT_NEAR(steps[0].after, steps[1].before, 1e-12);
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
            if (!stats::find_steps(series).empty()) ++with_steps;
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
            const auto steps = stats::find_steps(
                with_step(correlated_series(wanted.count, 0, seed), middle, wanted.size));
            if (steps.size() != 1) continue;
            const auto place = static_cast<double>(steps[0].index);
            if (std::abs(place - static_cast<double>(middle)) <= 2) ++found;
        }
        EXPECT_GE(found, wanted.least) << wanted.count;
    }
}

TEST(FindSteps, OfWhatIsNoSeries) {
    EXPECT_THAT(stats::find_steps({}), IsEmpty());
    EXPECT_THAT(stats::find_steps(List{1, 1, 9, 9}), IsEmpty());
    EXPECT_THAT(stats::find_steps(List(50, 3.7)), IsEmpty());
    EXPECT_THAT(stats::find_steps(List{1, 1, 1, nan, 9, 9, 9, 9}), IsEmpty());
    const auto steps = stats::find_steps(List{0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3});
    ASSERT_THAT(steps, SizeIs(1)); // without any noise
    EXPECT_EQ(steps[0].index, 4U);
    EXPECT_EQ(steps[0].p, 0);
}

} // namespace
} // namespace assay::stats
