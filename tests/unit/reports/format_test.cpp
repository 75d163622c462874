// SPDX-License-Identifier: Apache-2.0

#include "record/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::record {
namespace {

TEST(Human, GivesThreeDigitsAndAPrefix) {
    EXPECT_EQ(human(5.0496e11, "FLOP/s"), "505 GFLOP/s");
    EXPECT_EQ(human(4.123e10, "B/s"), "41.2 GB/s");
    EXPECT_EQ(human(7.7e11, "OP/s"), "770 GOP/s");
    EXPECT_EQ(human(1.2345e-5, "s"), "12.3 µs");
    EXPECT_EQ(human(4.2e-9, "s"), "4.20 ns");
    EXPECT_EQ(human(1234, "1/s"), "1.23 k/s");
    EXPECT_EQ(human(3.1e6, "atom-steps/s"), "3.10 Matom-steps/s");
    EXPECT_EQ(human(3.702e9, "Hz"), "3.70 GHz");
    EXPECT_EQ(human(0, "B/s"), "0.00 B/s");
    EXPECT_EQ(human(-5e3, "B/s"), "-5.00 kB/s");
    EXPECT_EQ(human(12, ""), "12.0");
}

TEST(Human, MovesToTheNextPrefixWhenRoundingDoes) {
    EXPECT_EQ(human(999.4, "B/s"), "999 B/s");
    EXPECT_EQ(human(999.7, "B/s"), "1.00 kB/s");
    EXPECT_EQ(human(99.97, "B/s"), "100 B/s");
    EXPECT_EQ(human(9.997, "B/s"), "10.0 B/s");
    EXPECT_EQ(human(9.997e-7, "s"), "1.00 µs");
}

TEST(Human, CountsLongTimesInSeconds) { EXPECT_EQ(human(1200, "s"), "1200 s"); }

TEST(Human, StaysShortForAnyNumber) {
    EXPECT_EQ(human(std::numeric_limits<double>::infinity(), "s"), "unknown");
    EXPECT_EQ(human(std::nan(""), "s"), "unknown");
    for (const double value : {1e308, -1e308, 5e-324, 1e-30, 1e21}) {
        EXPECT_LT(human(value, "B/s").size(), 20U) << value;
        EXPECT_LT(human(value, "B").size(), 20U) << value;
    }
}

TEST(Human, WritesSizesInPowersOfTwo) {
    EXPECT_EQ(human_bytes(67108864), "64 MiB");
    EXPECT_EQ(human_bytes(8), "8 B");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human(1024, "B"), "1 KiB");
}

TEST(HumanPercent, KeepsTwoDigits) {
    EXPECT_EQ(human_percent(0.984), "98%");
    EXPECT_EQ(human_percent(0.0984), "9.8%");
    EXPECT_EQ(human_percent(0.0042), "0.42%");
    EXPECT_EQ(human_percent(0.00001), "<0.01%");
    EXPECT_EQ(human_percent(1.04), "104%");
    EXPECT_EQ(human_percent(0), "0%");
}

} // namespace
} // namespace assay::record
