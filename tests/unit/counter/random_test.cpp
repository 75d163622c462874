// SPDX-License-Identifier: Apache-2.0

#include <assay/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace assay {
namespace {

template <class T>
double mean_of(const std::vector<T>& values) {
    double sum = 0;
    for (const T value : values) sum += static_cast<double>(value);
    return sum / static_cast<double>(values.size());
}

template <class T>
double variance_of(const std::vector<T>& values) {
    const double mean = mean_of(values);
    double sum = 0;
    for (const T value : values) sum += std::pow(static_cast<double>(value) - mean, 2);
    return sum / static_cast<double>(values.size());
}

TEST(RandomBits, AreTheSameForEver) {
    // Data, and with it verification, of an old result can be made again.
    EXPECT_EQ(random_bits(0, 0), 0xa706dd2f4d197e6fU);
    static_assert(random_bits(1, 2) == random_bits(1, 2));
}

TEST(RandomBits, DependOnEveryBitOfSeedAndIndex) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (std::uint64_t index = 0; index < 100; ++index) seen.insert(random_bits(seed, index));
    EXPECT_EQ(seen.size(), 10'000U);

    // A flipped input bit flips half of the 64 output bits, give or take.
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t flip = std::uint64_t{1} << bit;
        int by_seed = 0;
        int by_index = 0;
        for (std::uint64_t i = 0; i < 100; ++i) {
            by_seed += std::popcount(random_bits(i, 7) ^ random_bits(i ^ flip, 7));
            by_index += std::popcount(random_bits(7, i) ^ random_bits(7, i ^ flip));
        }
        EXPECT_NEAR(by_seed / 100.0, 32, 3) << bit; // standard deviation is 0.4
        EXPECT_NEAR(by_index / 100.0, 32, 3) << bit;
    }
}

template <class T>
class Uniform : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Uniform, Reals);

TYPED_TEST(Uniform, FillsItsRangeEvenly) {
    std::vector<TypeParam> values(100'000);
    fill_uniform(std::span{values}, 3, TypeParam{-2}, TypeParam{6});
    const auto [low, high] = std::ranges::minmax(values);
    EXPECT_GE(low, -2);
    EXPECT_LE(high, 6);
    EXPECT_NEAR(mean_of(values), 2, 0.05);            // six standard errors
    EXPECT_NEAR(variance_of(values), 64.0 / 12, 0.1); // seven
    std::array<int, 8> counts{};
    for (const TypeParam value : values)
        ++counts.at(std::min<std::size_t>(7, static_cast<std::size_t>(value + 2)));
    for (const int count : counts) EXPECT_NEAR(count, 12'500, 700);
}

TYPED_TEST(Uniform, IsTheSameForEveryNumberOfThreads) {
    std::vector<TypeParam> alone(10'007);
    std::vector<TypeParam> together(alone.size());
    fill_uniform(std::span{alone}, 3, TypeParam{0}, TypeParam{1}, 1);
    for (const int threads : {2, 3, 5}) {
        fill_uniform(std::span{together}, 3, TypeParam{0}, TypeParam{1}, threads);
        EXPECT_EQ(alone, together);
    }
    EXPECT_EQ(alone[123], random_uniform<TypeParam>(3, 123, 0, 1)); // any element by itself
}

// Compiled for processors with multiply-adds, which round once.
#if defined(__x86_64__)
#define ASSAY_WITH_FMA __attribute__((target("fma"), flatten))
bool has_fma() { return __builtin_cpu_supports("fma") != 0; }
#else
#define ASSAY_WITH_FMA __attribute__((flatten))
bool has_fma() { return true; }
#endif
template <class T>
ASSAY_WITH_FMA T by_fma(std::uint64_t i) {
    return random_uniform(11, i, T{-1.7F}, T{1.7F});
}

TYPED_TEST(Uniform, HasTheSameBitsWhereThereAreMultiplyAdds) {
    using T = TypeParam;
    if (!has_fma()) GTEST_SKIP() << "this processor has none";
    for (std::uint64_t i = 0; i < 10000; ++i) {
        volatile T product = (T{1.7F} - T{-1.7F}) * random_unit<T>(11, i);
        EXPECT_EQ(by_fma<T>(i), T{-1.7F} + product);
    }
}

TYPED_TEST(Uniform, HasNormalValues) {
    std::vector<TypeParam> values(100'000);
    fill_normal(std::span{values}, 11);
    EXPECT_TRUE(std::ranges::all_of(values, [](auto value) { return std::isfinite(value); }));
    EXPECT_NEAR(mean_of(values), 0, 0.02);
    EXPECT_NEAR(variance_of(values), 1, 0.03);
    const auto beyond = std::ranges::count_if(values, [](auto v) { return std::fabs(v) > 2; });
    EXPECT_NEAR(static_cast<double>(beyond), 4550, 400);
}

TEST(RandomInteger, TakesEveryValueOfItsRange) {
    std::vector<std::int8_t> values(10'000);
    fill_integers(std::span{values}, 5, -3, 3);
    std::array<int, 7> counts{};
    for (const std::int8_t value : values) ++counts.at(static_cast<std::size_t>(value + 3));
    for (const int count : counts) EXPECT_NEAR(count, 10'000 / 7.0, 250);
    EXPECT_EQ(random_integer<int>(1, 1, 4, 4), 4);
    EXPECT_LE(random_integer<std::uint32_t>(1, 1, 0, 0xffffffff), 0xffffffff);
}

TEST(RandomInteger, MayBeAFloatingPointNumber) {
    std::vector<float> values(1000);
    fill_integers(std::span{values}, 5, -8, 8);
    EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == std::round(v); }));
}

} // namespace
} // namespace assay
