// SPDX-License-Identifier: Apache-2.0
#include "peak/device_fma_chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

namespace assay::peak {
namespace {

/// The value of a 16-bit format, decoded by its definition.
double decoded(std::uint32_t bits, int fraction, int bias) {
    const double sign = (bits >> 15U) != 0 ? -1 : 1;
    const int exponent = static_cast<int>((bits & 0x7fffU) >> fraction) - bias;
    const double mantissa = 1 + (bits & ((1U << fraction) - 1)) * std::ldexp(1.0, -fraction);
    return sign * std::ldexp(mantissa, exponent);
}

TEST(DeviceFma, rounds_to_16_bits_like_the_formats) {
    EXPECT_EQ(Fp16Fma::rounded(1.0F + 0x1p-11F), 1.0F);                // a tie goes to even
    EXPECT_EQ(Fp16Fma::rounded(1.0F + 3 * 0x1p-11F), 1.0F + 0x1p-9F);  // also upwards
    EXPECT_EQ(Fp16Fma::rounded(1.0F + 0x1.002p-11F), 1.0F + 0x1p-10F); // beyond the middle
    EXPECT_EQ(Fp16Fma::rounded(-2.0F + 0x1p-13F), -2.0F);              // into the next binade
    EXPECT_EQ(Bf16Fma::rounded(1.0F + 0x1p-8F), 1.0F);
    EXPECT_EQ(Bf16Fma::rounded(1.0F + 3 * 0x1p-8F), 1.0F + 0x1p-6F);
    EXPECT_EQ(Fp16Fma::packed(1.0F), 0x3c00U);
    EXPECT_EQ(Fp16Fma::packed(-0.75F), 0xba00U);
    EXPECT_EQ(Bf16Fma::packed(1.0F), 0x3f80U);
    EXPECT_EQ(Bf16Fma::packed(-1.9921875F), 0xbfffU);
}

/// Constants of the chain must be numbers of the format, or the device would round them.
template <class Format>
void expect_constants(int fraction, int bias) {
    for (const float constant : {Format::factor, Format::addend}) {
        EXPECT_EQ(Format::rounded(constant), constant);
        EXPECT_EQ(decoded(Format::packed(constant), fraction, bias), constant);
    }
    EXPECT_EQ(Format::addend, 1 - Format::factor);
}

TEST(DeviceFma, constants_of_narrow_chains_are_exact) {
    expect_constants<Fp16Fma>(10, 15);
    expect_constants<Bf16Fma>(7, 127);
}

/// Every step against arithmetic in double, where nothing is rounded before the end.
template <class Format>
void expect_steps(int fraction, int bias) {
    const double unit = std::ldexp(1.0, -fraction);
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const float value = Format::start_value(i);
        const double exact = double{value} * Format::factor + Format::addend;
        const double grid = exact < 1 ? unit / 2 : unit;
        EXPECT_EQ(Format::value_after(value, 1), std::nearbyint(exact / grid) * grid) << value;
        EXPECT_EQ(decoded(Format::packed(value), fraction, bias), value);
    }
}

TEST(DeviceFma, narrow_steps_round_once) {
    expect_steps<Fp16Fma>(10, 15);
    expect_steps<Bf16Fma>(7, 127);
}

TEST(DeviceFma, narrow_values_stay_apart_and_show_that_steps_were_taken) {
    std::set<float> fp16;
    std::set<float> bf16;
    int moved = 0;
    constexpr std::uint64_t steps = 64 * 20 + 1;
    for (std::uint64_t i = 0; i < 500; ++i) {
        fp16.insert(Fp16Fma::value_after(Fp16Fma::start_value(i), steps));
        bf16.insert(Bf16Fma::value_after(Bf16Fma::start_value(i), steps));
        moved += Fp16Fma::result(i, steps) != Fp16Fma::start(i) ? 1 : 0;
    }
    EXPECT_GT(fp16.size(), 200U);
    EXPECT_GT(bf16.size(), 40U);
    EXPECT_GT(moved, 490);
    EXPECT_GT(*fp16.begin(), 0.7F);
    EXPECT_LT(*fp16.rbegin(), 1.3F);
}

TEST(DeviceFma, wide_values_keep_their_distance_to_the_end) {
    const FmaShape shape{.blocks = 1, .chains = 8, .rounds = fma_rounds(FmaPrecision::fp32, 90)};
    std::set<float> ends;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const float end = fma_result<Fp32Fma>(i, fma_steps(shape));
        EXPECT_GT(end, 0.5F);
        EXPECT_LT(end, 1.5F);
        ends.insert(end);
    }
    EXPECT_EQ(ends.size(), 100U);
    EXPECT_EQ(fma_result<Fp64Fma>(3, 1),
              std::fma(Fp64Fma::start(3), Fp64Fma::factor, Fp64Fma::addend));
}

} // namespace
} // namespace assay::peak
