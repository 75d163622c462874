// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay {
namespace {

TEST(Quantity, DurationsTakeUnits) {
    EXPECT_EQ(parse_duration("90"), 90);
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("1.5m"), 90);
    EXPECT_EQ(parse_duration("15m"), 900);
    EXPECT_EQ(parse_duration("1h"), 3600);
    EXPECT_EQ(parse_duration("20ms"), 0.02);
    for (const char* text : {"", "s", "-1s", "0", "1x", "nan", "inf", "1e999", "1h30m"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Quantity, SizesAndRatesTakeUnits) {
    EXPECT_EQ(*parse_bytes("1GiB"), 1 << 30);
    EXPECT_EQ(*parse_bytes("64 KiB"), 64 << 10);
    EXPECT_EQ(*parse_bytes("8"), 8);
    EXPECT_EQ(*parse_bytes("100MB"), 1e8);
    EXPECT_EQ(*parse_rate("400Gb/s"), 50e9);
    EXPECT_EQ(*parse_rate("50GB/s"), 50e9);
    for (const auto* text : {"", "GiB", "-1", "1e400", "nan", "4x", "0", "9999999TiB"})
        EXPECT_FALSE(parse_bytes(text)) << text;
    for (const auto* text : {"", "400", "0GB/s", "-5GB/s", "fast"})
        EXPECT_FALSE(parse_rate(text)) << text;
}

TEST(Quantity, WholeNumbersTakeUnitsAndDoNotOverflow) {
    EXPECT_EQ(parse_integer("-3"), -3);
    EXPECT_EQ(parse_integer("64MiB"), 64 << 20);
    EXPECT_EQ(parse_integer("64Ki"), 64 << 10);
    EXPECT_EQ(parse_integer("4Mi"), 4 << 20);
    EXPECT_EQ(parse_integer("2Ti"), parse_integer("2TiB"));
    EXPECT_EQ(parse_integer("2TiB"), std::int64_t{2} << 40);
    EXPECT_EQ(parse_integer("3k"), 3000);
    EXPECT_EQ(parse_integer("4M"), 4'000'000);
    EXPECT_EQ(parse_integer("2e9"), 2'000'000'000);
    EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    for (const char* text :
         {"", "MiB", "1.5", "1MB", "1 MiB", "9223372036854775807KiB", "8589934592GiB", "64Kx",
          "64K", "64ki", "1e", "1e-3", "1e19", "1e6k", "1e999", "9e18Ti", "Ki"})
        EXPECT_FALSE(parse_integer(text)) << text;
    EXPECT_EQ(parse_real("0.5"), 0.5);
    EXPECT_FALSE(parse_real("0.5s"));
    EXPECT_FALSE(parse_real(""));
}

TEST(Quantity, VersionsAreTheirNumbers) {
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(parse_version("580.65.06"), (Numbers{580, 65, 6}));
    EXPECT_EQ(parse_version("6.1.0-18-amd64"), (Numbers{6, 1, 0}));
    EXPECT_EQ(parse_version("13"), Numbers{13});
    for (const char* text : {"", ".", "1.", "v2", "-1", "1..2", "1234567890"})
        EXPECT_FALSE(parse_version(text)) << text;
}

} // namespace
} // namespace assay
