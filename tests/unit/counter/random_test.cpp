// SPDX-License-Identifier: Apache-2.0

#include <assay/digest.hpp>
#include <assay/host.hpp>
#include <assay/parallel.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
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

// --- checks ------------------------------------------------------------------------------------------

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::span<const double> view(const std::vector<double>& values) { return values; }
double one_more(std::size_t i) { return static_cast<double>(i) + 1; }
std::vector<double> counted(std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = one_more(i);
    return values;
}

TEST(UlpsApart, CountsRepresentableNumbers) {
    EXPECT_EQ(ulps_apart(1.0, 1.0), 0);
    EXPECT_EQ(ulps_apart(0.0, -0.0), 0);
    EXPECT_EQ(ulps_apart(1.0, std::nextafter(1.0, 2.0)), 1);
    EXPECT_EQ(ulps_apart(std::nextafter(1.0F, 0.0F), std::nextafter(1.0F, 2.0F)), 2);
    const double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(ulps_apart(tiny, -tiny), 2);
    EXPECT_GT(ulps_apart(-1e308, 1e308), 1e18);
    EXPECT_EQ(ulps_apart(1.0, nan), infinity);
    EXPECT_EQ(ulps_apart(infinity, infinity), infinity);
}

TEST(CheckValue, PassesUpToItsBound) {
    EXPECT_TRUE(check_value(-0.5, 0.5, "m").passed);
    EXPECT_EQ(check_value(-0.5, 0.5, "m").error, 0.5);
    const Check failed = check_value(0.6, 0.5, "m", "why");
    EXPECT_FALSE(failed.passed);
    EXPECT_EQ(failed.method, "m");
    EXPECT_EQ(failed.detail, "why");
    EXPECT_EQ(check_value(0.1, 0.5, "m", "why").detail, "");
}

TEST(CheckValue, NeverPassesWhatIsNoNumber) {
    EXPECT_FALSE(check_value(nan, 1, "m").passed);
    EXPECT_FALSE(check_value(0, nan, "m").passed);
    EXPECT_FALSE(check_value(infinity, infinity, "m").passed);
}

TEST(CheckEach, LooksAtEveryElement) {
    for (std::size_t bad = 0; bad < 1000; bad += 37) {
        const Check check =
            check_each(1000, [&](std::size_t i) { return i == bad ? 2.0 : 0.5; }, 1, "m");
        EXPECT_FALSE(check.passed) << bad;
        EXPECT_EQ(check.error, 2);
        EXPECT_NE(check.detail.find("element " + std::to_string(bad) + " "), std::string::npos)
            << check.detail;
    }
    EXPECT_TRUE(check_each(1000, [](std::size_t) { return 0.5; }, 1, "m").passed);
}

TEST(CheckEach, NeverPassesNothing) {
    EXPECT_FALSE(check_each(0, [](std::size_t) { return 0.0; }, 1, "m").passed);
}

TEST(CheckRelative, IsRelativeToTheExpectedValue) {
    std::vector<double> values = counted(100);
    values[9] *= 1 + 1e-6;
    EXPECT_TRUE(check_relative(view(values), one_more, 1.1e-6, "m").passed);
    const Check check = check_relative(view(values), one_more, 0.9e-6, "m");
    EXPECT_FALSE(check.passed);
    EXPECT_NEAR(check.error, 1e-6, 1e-9);
    EXPECT_NE(check.detail.find("element 9 "), std::string::npos) << check.detail;
    EXPECT_NE(check.detail.find("expected 10"), std::string::npos) << check.detail;
}

TEST(CheckRelative, ExpectsZeroExactly) {
    const std::vector<double> zero{0.0};
    const std::vector<double> tiny{1e-300};
    const auto nothing = [](std::size_t) { return 0.0; };
    EXPECT_TRUE(check_relative(view(zero), nothing, 1e-9, "m").passed);
    EXPECT_FALSE(check_relative(view(tiny), nothing, 1e-9, "m").passed);
}

TEST(CheckUlps, SeesOneBit) {
    std::vector<double> values = counted(100);
    EXPECT_TRUE(check_ulps(view(values), one_more, 0, "m").passed);
    values[57] = std::nextafter(values[57], 0);
    EXPECT_FALSE(check_ulps(view(values), one_more, 0, "m").passed);
    EXPECT_TRUE(check_ulps(view(values), one_more, 1, "m").passed);
    values[57] = nan;
    EXPECT_FALSE(check_ulps(view(values), one_more, 1e9, "m").passed);
}

TEST(CheckEqual, ComparesIntegers) {
    std::vector<std::int64_t> values(50, (1LL << 60U) + 1);
    const auto expected = [](std::size_t) { return (std::int64_t{1} << 60U) + 1; };
    EXPECT_TRUE(check_equal(std::span<const std::int64_t>{values}, expected, "m").passed);
    ++values[49]; // a difference that a double cannot tell
    const Check check = check_equal(std::span<const std::int64_t>{values}, expected, "m");
    EXPECT_FALSE(check.passed);
    EXPECT_GE(check.error, 1);
}

TEST(CheckEqual, DoesNotAcceptInfinity) {
    const std::vector<double> values{infinity};
    EXPECT_FALSE(check_equal(view(values), [](std::size_t) { return infinity; }, "m").passed);
}

TEST(CheckNorm, IsTheErrorOfTheWholeVector) {
    std::vector<double> values = counted(1000);
    EXPECT_EQ(check_norm(view(values), one_more, 1e-9, "m").error, 0);
    for (double& value : values) value *= 1 + 1e-6;
    EXPECT_NEAR(check_norm(view(values), one_more, 1e-9, "m").error, 1e-6, 1e-10);
    EXPECT_FALSE(check_norm(view(values), one_more, 1e-9, "m").passed);
    values[3] = nan;
    EXPECT_FALSE(check_norm(view(values), one_more, 1e9, "m").passed);
    EXPECT_FALSE(check_norm(view({}), one_more, 1, "m").passed);
}

// --- hashes of outputs -------------------------------------------------------------------------------

// Hashes of outputs: every change changes its block's, and only that.

std::vector<std::uint64_t> hashes_of(const Outputs& outputs) {
    std::vector<std::uint64_t> hashes(ASSAY_MOST_BLOCKS);
    assay_digest to{};
    to.struct_size = sizeof to;
    to.hashes = hashes.data();
    to.capacity = hashes.size();
    detail::digest(outputs, to);
    hashes.resize(to.count);
    return hashes;
}

TEST(Digest, EveryBitOfABlockCounts) {
    for (const std::size_t size : {1U, 7U, 8U, 63U, 64U, 65U, 200U}) {
        std::vector<std::byte> data(size, std::byte{0x5a});
        std::set<std::uint64_t> seen{detail::hash_of(data.data(), size)};
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            data[bit / 8] ^= std::byte{1} << (bit % 8);
            EXPECT_TRUE(seen.insert(detail::hash_of(data.data(), size)).second)
                << size << ' ' << bit;
            data[bit / 8] ^= std::byte{1} << (bit % 8);
        }
    }
}

TEST(Digest, EqualFlipsOfTwoElementsDoNotCancel) {
    std::vector<double> values(1024, 1.0);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    const auto right = detail::hash_of(bytes, 8 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::size_t j : {i + 1, i + 8, i + 64})
            if (j < values.size()) {
                values[i] = values[j] = -1; // the highest bit, which multiplication carries nowhere
                EXPECT_NE(detail::hash_of(bytes, 8 * values.size()), right) << i << ' ' << j;
                values[i] = values[j] = 1;
            }
}

TEST(Digest, LengthAndOrderCount) {
    const std::vector<std::byte> zeros(128);
    EXPECT_NE(detail::hash_of(zeros.data(), 64), detail::hash_of(zeros.data(), 128));
    const std::array<std::uint64_t, 2> one{1, 2};
    const std::array<std::uint64_t, 2> other{2, 1};
    EXPECT_NE(detail::hash_of(reinterpret_cast<const std::byte*>(one.data()), 16),
              detail::hash_of(reinterpret_cast<const std::byte*>(other.data()), 16));
}

TEST(Digest, ABlockIsFoundWithItsElements) {
    const float first = 3;
    std::vector<double> second(20'000);
    const Outputs outputs{first, second};
    const auto right = hashes_of(outputs);
    ASSERT_EQ(right.size(), 1U + 3U) << "blocks of 64 KiB";
    second[9'000] = 1;
    const auto wrong = hashes_of(outputs);
    for (std::size_t i = 0; i < right.size(); ++i) EXPECT_EQ(right[i] == wrong[i], i != 2) << i;
    assay_digest block{};
    block.struct_size = sizeof block;
    block.wanted = 2;
    detail::digest(outputs, block);
    EXPECT_EQ(block.output, 1U);
    EXPECT_EQ(block.element_bytes, sizeof(double));
    EXPECT_EQ(block.first_element, 8192U);
    ASSERT_EQ(block.byte_count, 65536U);
    std::vector<double> copy(8192);
    block.bytes = copy.data();
    block.byte_capacity = block.byte_count;
    detail::digest(outputs, block);
    EXPECT_EQ(copy[9'000 - 8192], 1);
}

TEST(Digest, LargeOutputsHaveFewBlocks) {
    const std::vector<std::byte> large(std::size_t{200} << 20U);
    const auto count = hashes_of({large}).size();
    EXPECT_GT(count, 500U);
    EXPECT_LE(count, ASSAY_MOST_BLOCKS / 2);
}

// --- memory and threads ------------------------------------------------------------------------------

template <class T>
std::uintptr_t address(const HostBuffer<T>& buffer) {
    return reinterpret_cast<std::uintptr_t>(buffer.data());
}

TEST(HostBuffer, IsZeroAlignedAndWritableToTheEnd) {
    for (const std::size_t count : {1U, 100U, 5000U, 300'000U, 3'000'000U}) {
        HostBuffer<double> buffer{count};
        ASSERT_EQ(buffer.size(), count);
        EXPECT_EQ(buffer.bytes(), count * sizeof(double));
        EXPECT_EQ(address(buffer) % (buffer.bytes() >= huge_page ? huge_page : cache_line), 0U);
        EXPECT_TRUE(std::ranges::all_of(buffer.view(), [](double value) { return value == 0; }));
        std::ranges::fill(buffer.view(), 1.0);
        EXPECT_EQ(buffer[count - 1], 1.0);
    }
}

TEST(HostBuffer, KeepsItsOffset) {
    const HostBuffer<float> large{huge_page, {.threads = 1, .offset = 17 * cache_line}};
    EXPECT_EQ(address(large) % huge_page, 17 * cache_line);
    const HostBuffer<float> small{10, {.huge = false, .offset = cache_line}};
    EXPECT_EQ(address(small) % cache_line, 0U);
    EXPECT_THROW((HostBuffer<float>{10, {.offset = 8}}), std::invalid_argument);
}

TEST(HostBuffer, MovesWithoutCopying) {
    HostBuffer<int> first{1000};
    first[999] = 7;
    const int* const data = first.data();
    HostBuffer<int> second{std::move(first)};
    EXPECT_EQ(second.data(), data);
    HostBuffer<int> third{5};
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third[999], 7);
}

TEST(HostBuffer, SaysWhenThereIsNotSoMuch) {
    EXPECT_THROW(HostBuffer<double>{std::numeric_limits<std::size_t>::max() / 4},
                 std::length_error);
    // Half a pebibyte times eight: more than an address space of 47 bits has.
    EXPECT_THROW(HostBuffer<double>{std::size_t{1} << 52U}, std::system_error);
}

// Once keep() has been given the address of a value, the optimiser can no longer know that it is 1, and
// after an assignment clobber() makes it forget again. (Unoptimised, it never knows.)
TEST(Barriers, HideWhatMemoryHolds) {
    int value = 1;
    int* const seen = &value;
    keep(seen);
    EXPECT_FALSE(__builtin_constant_p(value));
    value = 2;
    clobber();
    EXPECT_FALSE(__builtin_constant_p(value));
    EXPECT_EQ(value, 2);
}

// --- threads -----------------------------------------------------------------------------------------

TEST(SliceOf, CoversEveryElementOnce) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 1000U, 1001U})
        for (const std::size_t parts : {1U, 2U, 3U, 7U, 64U})
            for (const std::size_t granule : {1U, 8U, 64U}) {
                std::size_t next = 0;
                for (std::size_t part = 0; part < parts; ++part) {
                    const Slice slice = slice_of(count, part, parts, granule);
                    ASSERT_EQ(slice.first, next);
                    ASSERT_GE(slice.last, slice.first);
                    next = slice.last;
                }
                ASSERT_EQ(next, count) << parts << " parts, granule " << granule;
            }
}

TEST(SliceOf, CutsOnGranulesIntoNearlyEqualParts) {
    const std::size_t count = 1003;
    const std::size_t granule = 8;
    for (std::size_t part = 0; part < 5; ++part) {
        const Slice slice = slice_of(count, part, 5, granule);
        EXPECT_EQ(slice.first % granule, 0U);
        EXPECT_TRUE(slice.last % granule == 0 || slice.last == count);
        EXPECT_NEAR(static_cast<double>(slice.size()), 1003.0 / 5, granule);
    }
}

TEST(OnEachThread, CallsTheBodyOncePerThread) {
    std::vector<std::atomic<int>> calls(3);
    std::atomic<std::size_t> team = 0;
    on_each_thread(3, [&](std::size_t thread, std::size_t size) {
        ++calls.at(thread);
        team = size;
    });
    EXPECT_EQ(team, has_threads() ? 3U : 1U);
    for (std::size_t thread = 0; thread < team; ++thread) EXPECT_EQ(calls.at(thread), 1);
}

} // namespace
} // namespace assay
