// SPDX-License-Identifier: Apache-2.0
//
// fft.transform on a device, as far as a host can tell: half precision and room.
#include "fft/half.hpp"
#include "fft/plan_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace assay::fft {
namespace {

TEST(Half, widens_as_the_standard_says) {
    EXPECT_EQ(to_float({0x3c00}), 1.0F);
    EXPECT_EQ(to_float({0xc000}), -2.0F);
    EXPECT_EQ(to_float({0x7bff}), 65504.0F);
    EXPECT_EQ(to_float({0x0400}), 0x1p-14F);
    EXPECT_EQ(to_float({0x0001}), 0x1p-24F);
    EXPECT_EQ(to_float({0x3555}), 0.333251953125F);
    EXPECT_FALSE(std::isfinite(to_float({0x7c00})));
    EXPECT_FALSE(std::isfinite(to_float({0xfc00})));
    EXPECT_TRUE(std::isnan(to_float({0xffff})));
}

TEST(Half, comes_back_from_every_number_that_it_holds) {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const float value = to_float(half);
        if (std::isnan(value) || bits == 0x8000U) continue; // -0 becomes 0
        ASSERT_EQ(to_half(value).bits, bits) << value;
    }
}

TEST(Half, takes_the_nearest_and_even_ones_of_two) {
    EXPECT_EQ(to_half(1.0F + 0x1p-11F).bits, 0x3c00);            // a tie, down to even
    EXPECT_EQ(to_half(1.0F + 3 * 0x1p-11F).bits, 0x3c02);        // a tie, up to even
    EXPECT_EQ(to_half(1.0F + 0x1p-11F + 0x1p-20F).bits, 0x3c01); // just above
    EXPECT_EQ(to_half(-(2.0F - 0x1p-12F)).bits, 0xc000);         // carries
    EXPECT_EQ(to_half(0x1p-25F).bits, 0);                        // half of the smallest, a tie
    EXPECT_EQ(to_half(0x1p-14F - 0x1p-26F).bits, 0x0400);        // into the normal ones
    EXPECT_EQ(to_half(65519.0F).bits, 0x7bff);
    EXPECT_EQ(to_half(1e30F).bits, 0x7c00);
    EXPECT_EQ(to_half(-1e30F).bits, 0xfc00);
}

TEST(DeviceBytes, are_counted_without_overflow) {
    const Shape cube{.dimensions = 3, .points = 128, .batch = 1, .type = Type::c2c};
    EXPECT_EQ(device_bytes(cube, 8, 8), 4LL * 128 * 128 * 128 * 16 + 64);
    const Shape prime{.dimensions = 1, .points = 100003, .batch = 1, .type = Type::c2c};
    EXPECT_EQ(device_bytes(prime, 8, 8), 15LL * 100003 * 16 + 64);
    const Shape largest{
        .dimensions = 3, .points = longest, .batch = most_transforms, .type = Type::c2c};
    EXPECT_EQ(device_bytes(largest, 8, 8), 1LL << 62U);
}

TEST(HalfPrecision, is_for_powers_of_two_of_some_size) {
    const auto why = [](std::int64_t dimensions, std::int64_t points, std::int64_t batch) {
        return why_not_half(
            {.dimensions = dimensions, .points = points, .batch = batch, .type = Type::c2c});
    };
    EXPECT_EQ(why(1, 2, 1), "");
    EXPECT_EQ(why(3, 256, 1), "");
    EXPECT_NE(why(3, 100, 1).find("not applicable: cuFFT transforms powers of two"),
              std::string::npos);
    EXPECT_NE(why(3, 512, 1).find("65504"), std::string::npos);
    EXPECT_NE(why(1, 4096, 1 << 20U).find("2^32"), std::string::npos);
    EXPECT_NE(why(3, longest, most_transforms), "");
}

} // namespace
} // namespace assay::fft
