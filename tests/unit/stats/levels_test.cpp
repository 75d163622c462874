// SPDX-License-Identifier: Apache-2.0
#include "stats/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

constexpr double kibi = 1024;
constexpr double mebi = 1024 * kibi;
using Curve = std::vector<CurvePoint>;

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
void expect_usual(const std::vector<Level>& levels, double tolerance, double step) {
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
        const auto levels = find_levels(sharp_sweep(per_octave), Trend::rising);
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
        expect_usual(find_levels(curve, Trend::rising), 0.35, 2);
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
            for (CurvePoint& point : curve) point.value *= std::exp(factor(random));
            const auto levels = find_levels(curve, Trend::rising);
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
            expect_usual(find_levels(curve, Trend::rising), 0.05, std::numbers::sqrt2);
        }
}

TEST(FindLevels, copes_with_missing_points_and_any_order) {
    std::mt19937 random{8};
    for (int trial = 0; trial < 100; ++trial) {
        Curve curve = sharp_sweep(4);
        std::ranges::shuffle(curve, random);
        curve.resize(curve.size() * 2 / 3);     // 4 an octave leave every level enough
        curve.push_back(curve.front());         // measured twice
        std::vector<double> ends(usual.size()); // the largest size that is left of each level
        for (const CurvePoint& point : curve)
            for (std::size_t i = 0; i < usual.size(); ++i)
                if (point.value == usual[i].latency) ends[i] = std::max(ends[i], point.size);
        curve.push_back({.size = 1 * mebi, .value = std::numeric_limits<double>::quiet_NaN()});
        curve.push_back({.size = -1, .value = 1});
        curve.push_back({.size = 1 * mebi, .value = 0});
        const auto levels = find_levels(curve, Trend::rising);
        ASSERT_EQ(levels.size(), usual.size());
        for (std::size_t i = 0; i < usual.size(); ++i) {
            EXPECT_NEAR(levels[i].to, ends[i], 1);
            EXPECT_NEAR(levels[i].value / usual[i].latency, 1, 1e-9);
        }
    }
}

TEST(FindLevels, drops_a_stretch_that_contradicts_the_trend) {
    Curve curve = sharp_sweep(2);
    // A neighbour kept two points of the second cache busy: slower than the third.
    curve[7].value = 60e-9;
    curve[8].value = 60e-9;
    expect_usual(find_levels(curve, Trend::rising), 0.05, std::numbers::sqrt2);
}

TEST(FindLevels, reads_bandwidths_the_other_way_round) {
    Curve curve = sharp_sweep(2);
    for (CurvePoint& point : curve) point.value = 64 / point.value;
    const auto levels = find_levels(curve, Trend::falling);
    ASSERT_EQ(levels.size(), 4U);
    EXPECT_NEAR(levels[0].value, 64 / 1.1e-9, 1);
    EXPECT_NEAR(levels[3].value, 64 / 110e-9, 1);
    // Held against the wrong trend nothing agrees, and only one level is left.
    EXPECT_EQ(find_levels(curve, Trend::rising).size(), 1U);
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
    const auto levels = find_levels(curve, Trend::rising);
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
    EXPECT_TRUE(find_levels({}, Trend::rising).empty());
    EXPECT_TRUE(find_levels(Curve{{.size = 8, .value = 1}}, Trend::rising).empty());
    // A slope all the way.
    Curve slope;
    for (int i = 0; i < 20; ++i) slope.push_back({.size = std::exp2(i), .value = std::exp2(i)});
    EXPECT_TRUE(find_levels(slope, Trend::rising).empty());
    const auto one =
        find_levels(Curve{{.size = 8, .value = 1}, {.size = 16, .value = 1}}, Trend::rising);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].to, 16);
}

} // namespace
} // namespace assay::stats
