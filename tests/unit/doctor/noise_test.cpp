// SPDX-License-Identifier: Apache-2.0
#include "doctor/noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::harness {
namespace {

TEST(WatchCore, DoesBothPiecesInTurnUntilTheTimeIsOver) {
    double time = 5;
    const auto watch = watch_core({.now = [&] { return time; },
                                   .arithmetic = [&] { time += 0.25; },
                                   .memory = [&] { time += 0.5; }},
                                  3);
    ASSERT_EQ(watch.arithmetic.size(), 4U);
    ASSERT_EQ(watch.memory.size(), 4U);
    EXPECT_DOUBLE_EQ(watch.arithmetic[1].start, 0.75);
    EXPECT_DOUBLE_EQ(watch.arithmetic[1].seconds, 0.25);
    EXPECT_DOUBLE_EQ(watch.memory[1].start, 1.0);
    EXPECT_DOUBLE_EQ(watch.memory[1].seconds, 0.5);
}

TEST(ClockRange, ComesFromTheFastestPieceOfEveryTenthOfASecond) {
    CoreWatch core;
    for (int i = 0; i < 100; ++i) {
        const double clock = i < 50 ? 2e9 : 1e9; // half way it slows down
        const double pause = i % 2 == 0 ? 0.0 : 1e-4;
        core.arithmetic.push_back({.start = 0.01 * i, .seconds = 1000 / clock + pause});
    }
    const auto range = clock_range({core}, 1000);
    EXPECT_NEAR(range.low, 1e9, 1);
    EXPECT_NEAR(range.high, 2e9, 1);
    EXPECT_EQ(clock_range({}, 1000).median, 0);
}

TEST(ProfileNoise, WatchesEveryCpuItIsGiven) {
    double done = 0;
    const auto profile = profile_noise({0}, 0.05, 1 << 20U, [&](double share) { done = share; });
    ASSERT_EQ(profile.cores.size(), 1U);
    EXPECT_EQ(profile.cores[0].cpu, 0);
    EXPECT_GT(profile.cores[0].arithmetic.size(), 3U);
    EXPECT_EQ(profile.cores[0].arithmetic.size(), profile.cores[0].memory.size());
    EXPECT_GT(profile.clock.median, 1e7);
    EXPECT_GT(done, 0);
    EXPECT_GE(profile.telemetry.window_seconds.value_or(0), 0.05);
}

} // namespace
} // namespace assay::harness
