// SPDX-License-Identifier: Apache-2.0
//
// The random words of montecarlo.option against published ones, its formulas against the standard library's, and its
// loops, one instruction set after the other.
#include "montecarlo/option_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::montecarlo {
namespace {

void expect_words(Words counter, std::uint32_t key0, std::uint32_t key1, Words expected) {
    const Words found = philox_words(counter, key0, key1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(found.word[i], expected.word[i]) << i;
}

/// kat_vectors of Random123.
TEST(Philox, GivesTheWordsOfItsAuthors) {
    constexpr std::uint32_t all = 0xffffffffU;
    expect_words({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}});
    expect_words({{all, all, all, all}}, all, all,
                 {{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}});
    expect_words({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}}, 0xa4093822U, 0x299f31d0U,
                 {{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}});
}

template <class T>
class OptionFormulas : public testing::Test {
protected:
    using Ops = ScalarOps<T>;
    using Bits = typename Ops::Bits;
    static constexpr double u = unit_roundoff<T>;
};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(OptionFormulas, Reals);

TYPED_TEST(OptionFormulas, AgreeWithTheStandardLibrary) {
    using Ops = typename TestFixture::Ops;
    using F = Formulas<Ops>;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto a = random_uniform<TypeParam>(1, i, -2, 2);
        const double exact = std::exp(double{a});
        EXPECT_NEAR(F::exponential({}, a), exact, 4 * this->u * exact) << a;
        const auto unit = static_cast<TypeParam>(
            std::ldexp(1 - random_unit<double>(2, i), -static_cast<int>(i % 20)));
        EXPECT_NEAR(F::logarithm({}, unit), std::log(double{unit}),
                    4 * this->u * std::fabs(std::log(double{unit})))
            << unit;
    }
    EXPECT_EQ(F::logarithm({}, TypeParam{1}), 0);
    EXPECT_EQ(F::exponential({}, TypeParam{0}), 1);
}

TYPED_TEST(OptionFormulas, MakeNormalNumbers) {
    using Ops = typename TestFixture::Ops;
    using Bits = typename TestFixture::Bits;
    constexpr std::size_t pairs = 200'000;
    std::array<double, 5> moments{};
    for (std::size_t i = 0; i < pairs; ++i) {
        const auto radius = static_cast<Bits>(random_bits(3, i));
        const auto angle = static_cast<Bits>(random_bits(4, i));
        const auto both = Formulas<Ops>::normals({}, radius, angle);
        const double unit = 2 - double{Ops::from_one_to_two(radius)};
        const double turn = (double{Ops::from_one_to_two(angle)} - 1.5) * std::numbers::pi;
        const double length = std::sqrt(-2 * std::log(unit));
        const double side = (angle & 1U) == 0 ? 1 : -1;
        EXPECT_NEAR(both.first, length * std::sin(turn), 16 * this->u * (length + 1));
        EXPECT_NEAR(both.second, side * length * std::cos(turn), 16 * this->u * (length + 1));
        for (const double x : {double{both.first}, double{both.second}}) {
            moments[0] += x;
            moments[1] += x * x;
            moments[2] += x * x * x;
            moments[3] += x * x * x * x;
            moments[4] += std::fabs(x) > 4 ? 1 : 0;
        }
    }
    constexpr double count = 2 * pairs;
    // Five standard deviations of each.
    EXPECT_NEAR(moments[0] / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(moments[1] / count, 1, 5 * std::sqrt(2 / count));
    EXPECT_NEAR(moments[2] / count, 0, 5 * std::sqrt(15 / count));
    EXPECT_NEAR(moments[3] / count, 3, 5 * std::sqrt(96 / count));
    EXPECT_NEAR(moments[4], 6.334e-5 * count, 5 * std::sqrt(6.334e-5 * count));
}

TYPED_TEST(OptionFormulas, CostWhatIsCounted) {
    // By hand: a pair's logarithm 27 or 15, the rest of its normal numbers 42 or 28, and for each price 35 or 23.
    EXPECT_EQ(2 * flops_of_path<TypeParam>(terms),
              sizeof(TypeParam) == sizeof(double) ? 27 + 42 + 2 * 35 : 15 + 28 + 2 * 23);
}

TYPED_TEST(OptionFormulas, AreThoseOfEveryInstructionSet) {
    constexpr std::uint64_t blocks = 5;
    for (const auto& loop : option_loops()) {
        SCOPED_TRACE(loop.instructions);
        std::vector<option::Tally> tallies(blocks, option::Tally{-1, -1});
        (sizeof(TypeParam) == sizeof(double) ? loop.fp64 : loop.fp32)(1, blocks, tallies.data());
        EXPECT_EQ(tallies[0].payoff, -1);
        const option::Deviation<TypeParam> deviation{tallies.data()};
        for (std::uint64_t block = 1; block < blocks; ++block) {
            EXPECT_LE(std::fabs(deviation(block)), option::bound<TypeParam>() / 8) << block;
            for (const bool counts : {false, true}) {
                auto spoiled = tallies;
                option::spoil<TypeParam>(spoiled[block], counts);
                EXPECT_GT(std::fabs(option::Deviation<TypeParam>{spoiled.data()}(block)),
                          option::bound<TypeParam>());
            }
        }
    }
}

TEST(OptionPrice, IsThatOfBlackAndScholes) {
    // Discounted, S N(d1) - K exp(-r) N(d2), computed by hand: 8.0214.
    EXPECT_NEAR(option::payoff(terms).mean * std::exp(-0.05), 8.0214, 1e-4);
    EXPECT_NEAR(
        option::below_normal((std::log(terms.floor / terms.start) - terms.drift) / terms.spread),
        risk, 1e-12);
}

TEST(OptionPrice, IsHeldAgainstMeanAndQuantile) {
    constexpr std::size_t blocks = 4096;
    std::vector<option::Tally> tallies(blocks);
    option_loops().back().fp64(0, blocks, tallies.data());
    EXPECT_LT(option::deviations(tallies), 3);
    Check passed;
    passed.passed = true;
    EXPECT_TRUE(option::with_statistics(passed, tallies).passed);
    auto shifted = tallies;
    for (auto& tally : shifted) tally.payoff *= 1.003; // 0.3%: seven standard deviations
    EXPECT_FALSE(option::with_statistics(passed, shifted).passed);
    shifted = tallies;
    for (std::size_t i = 0; i < blocks; i += 2) shifted[i].below += 2;
    EXPECT_FALSE(option::with_statistics(passed, shifted).passed);
    shifted = tallies;
    shifted[7].payoff = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(option::with_statistics(passed, shifted).passed);
}

} // namespace
} // namespace assay::montecarlo
