// SPDX-License-Identifier: Apache-2.0
#include "collective/pair_pace.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay::collective {
namespace {

constexpr std::size_t numbers = 256U << 10U; // 1 MiB in fp32

/// Trial of a link of so many bytes a second.
Trial trial_at(double rate, double half_trip = 50e-6) {
    return {.half_trip = half_trip, .large = static_cast<double>(trial_numbers * 4) / rate};
}

TEST(PairPace, NothingIsCutWhereAllFits) {
    const std::vector<double> wanted(28, 0.02);
    EXPECT_GE(longest_of_pair(wanted, 1), 0.02);
    const auto pace = pace_of(trial_at(1e9), numbers, longest_of_pair(wanted, 1));
    EXPECT_EQ(pace, (Pace{.numbers = numbers, .round_trips = most_round_trips}));
}

TEST(PairPace, WhatIsSlowSharesTheTimeThatTheOthersLeave) {
    std::vector<double> wanted(28, 0.01);
    for (std::size_t i = 0; i < 7; ++i) wanted[4 * i] = 0.35; // of a host at a thirtieth
    const double longest = longest_of_pair(wanted, 1);
    EXPECT_NEAR(longest, (1 - 21 * 0.01) / 7, 1e-12);
    const auto pace = pace_of(trial_at(12.5e6), numbers, longest);
    EXPECT_LT(pace.numbers, numbers);
    EXPECT_NEAR(seconds_for(trial_at(12.5e6), pace.numbers), longest, 1e-3 * longest);
}

TEST(PairPace, ANetworkThatIsSlowAltogetherIsMeasuredAsAsked) {
    const std::vector<double> wanted(28, 0.5);
    EXPECT_GE(longest_of_pair(wanted, 1), 0.5);
}

TEST(PairPace, NeverLessThanTheTrialNorThanAsked) {
    EXPECT_EQ(pace_of(trial_at(1e5), numbers, 0.01).numbers, trial_numbers);
    EXPECT_EQ(pace_of(trial_at(1e5), 256, 0.0001).numbers, 256U);
}

TEST(PairPace, FewerRoundTripsWhereOneIsLong) {
    EXPECT_EQ(pace_of(trial_at(1e9, 0.9e-3), numbers, 1).round_trips, most_round_trips);
    EXPECT_EQ(pace_of(trial_at(1e9, 2.5e-3), numbers, 1).round_trips, 4);
    EXPECT_EQ(pace_of(trial_at(1e9, 50e-3), numbers, 1).round_trips, 2);
}

TEST(PairPace, OneOrNoPairIsNoReasonToDivideByNothing) {
    EXPECT_EQ(longest_of_pair({}, 1), 1);
    EXPECT_GE(longest_of_pair({3}, 1), 3);
    EXPECT_EQ(pace_of({}, numbers, 0).numbers, numbers);
}

} // namespace
} // namespace assay::collective
