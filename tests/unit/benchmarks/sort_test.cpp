// SPDX-License-Identifier: Apache-2.0
//
// The sort of sort.radix against the library's, and what its check must see.
#include "sort/keys.hpp"
#include "sort/radix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::sort {
namespace {

template <class Key>
class RadixSort : public testing::Test {
protected:
    template <class Sort>
    static void expect_sorted(const std::vector<Key>& in, int threads) {
        std::vector<Key> expected{in};
        std::ranges::sort(expected);
        std::vector<Key> out(in.size());
        std::vector<Key> spare(in.size());
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): sort() must not write to `in`
        const std::vector<Key> before{in};
        Sort{threads}.sort({in.data(), out.data(), spare.data(), in.size()});
        EXPECT_EQ(out, expected) << in.size() << " keys on " << threads << " threads";
        EXPECT_EQ(in, before);
    }
    static void expect_sorted_by_all(const std::vector<Key>& in, int threads) {
        expect_sorted<Radix<Key, 8>>(in, threads);
        expect_sorted<Radix<Key, 11>>(in, threads);
        expect_sorted<Buckets<Key>>(in, threads);
    }
};
using Types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RadixSort, Types);

TYPED_TEST(RadixSort, SortsAnyNumberOfKeysByAnyDigitsOnAnyThreads) {
    for (const auto distribution : {Distribution::uniform, Distribution::skewed})
        for (const std::size_t count : {0U, 1U, 2U, 9U, 100U, 1037U})
            for (const int threads : {1, has_threads() ? 3 : 1}) {
                std::vector<TypeParam> in(count);
                for (std::size_t i = 0; i < count; ++i)
                    in[i] = keys::key_at<TypeParam>(distribution, i);
                this->expect_sorted_by_all(in, threads);
            }
}

TYPED_TEST(RadixSort, SortsEqualAndExtremeKeys) {
    constexpr auto most = static_cast<TypeParam>(~TypeParam{0});
    this->expect_sorted_by_all(std::vector<TypeParam>(77, 5), 1);
    this->expect_sorted_by_all({most, 0, most, 1, most - 1, 0, most >> 1U}, 1);
}

TEST(Keys, OfTheSkewedKindHaveOneBitInEightSet) {
    constexpr std::size_t count = 100'000;
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < count; ++i)
        set += static_cast<std::uint64_t>(
            std::popcount(keys::key_at<std::uint32_t>(Distribution::skewed, i)));
    EXPECT_NEAR(static_cast<double>(set) / (32.0 * count), 1.0 / 8, 0.001);
}

TEST(Keys, DifferInTheirMarksHoweverLittleTheyDiffer) {
    std::vector<std::uint64_t> marks;
    for (std::uint64_t key = 0; key < 10'000; ++key) marks.push_back(keys::mark_of(key));
    std::ranges::sort(marks);
    EXPECT_EQ(std::ranges::adjacent_find(marks), marks.end());
}

} // namespace
} // namespace assay::sort
