// SPDX-License-Identifier: Apache-2.0
#include "gemm/bfloat16.hpp"

#include <assay/random.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace assay::gemm {
namespace {

TEST(Bfloat16, keeps_what_it_can_hold) {
    for (const float exact : {0.0F, -0.0F, 1.0F, -1.0F, 0.5F, 255.0F, 0x1p-100F, -0x1.fep+90F})
        EXPECT_EQ(static_cast<float>(to_bfloat16(exact)), exact);
    EXPECT_TRUE(std::signbit(static_cast<float>(to_bfloat16(-0.0F))));
}

TEST(Bfloat16, rounds_to_nearest_and_ties_to_even) {
    EXPECT_EQ(static_cast<float>(to_bfloat16(257.0F)), 256.0F); // tie: 256 has the even last bit
    EXPECT_EQ(static_cast<float>(to_bfloat16(259.0F)), 260.0F); // tie: 260
    EXPECT_EQ(static_cast<float>(to_bfloat16(257.5F)), 258.0F);
    EXPECT_EQ(static_cast<float>(to_bfloat16(-257.5F)), -258.0F);
    EXPECT_EQ(static_cast<float>(to_bfloat16(0x1.ffp0F)), 2.0F); // carries into the exponent
}

TEST(RoundToBits, agrees_with_bfloat16_at_eight_bits) {
    for (std::uint64_t i = 0; i < 10000; ++i) {
        const auto x = random_uniform<float>(7, i, -1, 1);
        EXPECT_EQ(round_to_bits(x, 8), static_cast<float>(to_bfloat16(x))) << x;
    }
}

TEST(RoundToBits, agrees_with_float_at_24_bits_of_a_double) {
    for (std::uint64_t i = 0; i < 10000; ++i) {
        const auto x = random_uniform<double>(8, i, -1, 1);
        EXPECT_EQ(round_to_bits(x, 24), static_cast<double>(static_cast<float>(x))) << x;
    }
}

} // namespace
} // namespace assay::gemm
