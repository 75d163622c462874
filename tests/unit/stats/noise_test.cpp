// SPDX-License-Identifier: Apache-2.0
#include "stats/noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// `count` pieces of a millisecond, one after the other.
std::vector<Quantum> steady(std::size_t count) {
    std::vector<Quantum> quanta;
    for (std::size_t i = 0; i < count; ++i)
        quanta.push_back({.start = 1e-3 * static_cast<double>(i), .seconds = 1e-3});
    return quanta;
}

TEST(Jitter, OfASteadyMachineIsNone) {
    const auto jitter = jitter_of(steady(1000));
    EXPECT_EQ(jitter.count, 1000U);
    EXPECT_DOUBLE_EQ(jitter.usual, 1e-3);
    EXPECT_DOUBLE_EQ(jitter.lost, 0);
    EXPECT_EQ(jitter.bins.front().count, 1000U);
    EXPECT_EQ(jitter_of({}).count, 0U);
}

TEST(Jitter, PutsLongPiecesIntoTheirBinAndAddsUpWhatWasLost) {
    auto quanta = steady(1000);
    quanta[10].seconds = 1.05e-3; // 5% longer
    quanta[20].seconds = 21e-3;   // 20 times longer
    const auto jitter = jitter_of(quanta);
    EXPECT_EQ(jitter.bins[2].from, 0.01);
    EXPECT_EQ(jitter.bins[2].count, 1U);
    EXPECT_EQ(jitter.bins[5].from, 10);
    EXPECT_EQ(jitter.bins[5].count, 1U);
    EXPECT_NEAR(jitter.bins[5].lost_seconds, 20e-3, 1e-12);
    EXPECT_NEAR(jitter.lost, (20e-3 + 0.05e-3) / (1.0 + 20e-3 + 0.05e-3), 1e-9);
    EXPECT_DOUBLE_EQ(jitter.longest, 21e-3);
}

TEST(WindowLevels, AreThoseOfTheSlowestCore) {
    std::vector<std::vector<Quantum>> cores{steady(1000), steady(1000)};
    for (std::size_t i = 0; i < 100; ++i) cores[0][i].seconds = 1.1e-3;   // its first window
    for (std::size_t i = 100; i < 200; ++i) cores[1][i].seconds = 1.3e-3; // the other's second
    const auto levels = window_levels(cores, 0.1);
    ASSERT_THAT(levels, SizeIs(10));
    EXPECT_NEAR(levels[0], std::log(1.1), 1e-9);
    EXPECT_NEAR(levels[1], std::log(1.3), 1e-9);
    EXPECT_NEAR(levels[2], 0, 1e-9);
    EXPECT_THAT(window_levels(cores, 0), IsEmpty());
    EXPECT_THAT(window_levels({}, 0.1), IsEmpty());
    cores[1].clear();
    EXPECT_THAT(window_levels(cores, 0.1), IsEmpty());
}

TEST(WindowLevels, AWindowThatNobodySawIsLeftOut) {
    std::vector<std::vector<Quantum>> cores{steady(100)};
    cores[0].push_back({.start = 0.1, .seconds = 0.2}); // a pause over two windows
    cores[0].push_back({.start = 0.3, .seconds = 0.1});
    EXPECT_THAT(window_levels(cores, 0.1), SizeIs(3));
}

TEST(Expectation, NeedsTheWindowsOfTwoRuns) {
    const std::vector<double> levels(5, 0.0);
    EXPECT_TRUE(std::isnan(expectation_of(levels, 3).usual));
    EXPECT_TRUE(std::isnan(expectation_of(levels, 1).usual));
    EXPECT_DOUBLE_EQ(expectation_of(std::vector<double>(6, 0.0), 3).difference, 0);
}

/// Normal levels with a deviation of 1%: the half width of three is 4.30 s / sqrt(3) with s from three
/// values, whose median is 0.83 of its square root mean square; means of two runs differ by a normal
/// deviation of 1% sqrt(2/3), 1.96 of it in 95%.
TEST(Expectation, OfNormalNoiseIsWhatTheTextbookSays) {
    std::mt19937_64 random{7};
    std::normal_distribution<double> noise{0, 0.01};
    std::vector<double> levels;
    for (int i = 0; i < 2000; ++i) levels.push_back(noise(random));
    const auto expected = expectation_of(levels, 3);
    EXPECT_NEAR(expected.usual, 0.83 * 4.303 * 0.01 / std::sqrt(3.0), 0.0012);
    EXPECT_NEAR(expected.difference, 1.96 * 0.01 * std::sqrt(2.0 / 3.0), 0.0010);
    EXPECT_GT(expected.one_in_ten, 1.6 * expected.usual);
}

TEST(Expectation, OneLongPauseIsNotWhatIsUsual) {
    std::vector<double> levels(30, 0.0);
    levels[17] = std::log(1.8);
    const auto expected = expectation_of(levels, 3);
    EXPECT_DOUBLE_EQ(expected.usual, 0);
    EXPECT_GT(expected.one_in_ten + expected.difference, 0.1) << "but it is not hidden";
}

} // namespace
} // namespace assay::stats
