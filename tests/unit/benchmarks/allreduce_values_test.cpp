// SPDX-License-Identifier: Apache-2.0
#include "collective/growth.hpp"
#include "collective/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

namespace assay::collective {
namespace {

TEST(Values, sum_is_the_sum_over_ranks) {
    for (const int ranks : {2, 3, 8, 251, 300, 4096}) {
        const Values values{ranks};
        for (std::size_t i = 0; i < 200; ++i) {
            std::int32_t sum = 0;
            for (int rank = 0; rank < ranks; ++rank) sum += values.at(rank, i);
            ASSERT_EQ(values.sum(i), sum) << ranks << " ranks, element " << i;
        }
    }
}

TEST(Values, differ_between_ranks_in_every_element) {
    const Values values{251};
    for (std::size_t i = 0; i < 50; ++i) {
        std::set<std::int32_t> seen;
        for (int rank = 0; rank < 251; ++rank) seen.insert(values.at(rank, i));
        EXPECT_EQ(seen.size(), 251U);
    }
}

TEST(Values, look_random_along_the_message) {
    const Values values{2};
    double sum = 0;
    double neighbours = 0;
    constexpr int count = 100000;
    for (std::size_t i = 0; i < count; ++i) {
        const int x = values.at(1, i);
        ASSERT_LE(std::abs(x), Values::largest);
        sum += x;
        neighbours += x * values.at(1, i + 1);
    }
    const double sigma = 251 / std::sqrt(12.0); // of the uniform distribution
    EXPECT_LT(std::fabs(sum / count), 5 * sigma / std::sqrt(count));
    EXPECT_LT(std::fabs(neighbours / count), 5 * sigma * sigma / std::sqrt(count));
}

TEST(Values, no_rank_can_be_left_out_unnoticed) {
    // A sum without one rank is wrong wherever that rank's value is not zero: almost everywhere.
    const Values values{4};
    for (int missing = 0; missing < 4; ++missing) {
        int unnoticed = 0;
        for (std::size_t i = 0; i < 1000; ++i) unnoticed += values.at(missing, i) == 0 ? 1 : 0;
        EXPECT_LT(unnoticed, 20);
    }
}

/// The largest element, in place, call after call; the same additions that every rank makes.
template <class T>
void expect_growth_as_foretold(int ranks) {
    const double largest = static_cast<double>(Values::largest) * ranks;
    const std::uint64_t most = finite_calls<T>(ranks, largest);
    auto value = static_cast<T>(largest);
    for (std::uint64_t call = 1; call <= most; ++call) {
        const double expected = largest * growth(ranks, call);
        ASSERT_TRUE(std::isfinite(value)) << ranks << " ranks, call " << call;
        ASSERT_LE(std::fabs(static_cast<double>(value) - expected) / expected,
                  growth_bound<T>(ranks, call, largest))
            << ranks << " ranks, call " << call;
        T sum = 0;
        for (int rank = 0; rank < ranks; ++rank) sum += value;
        value = sum;
    }
}

TEST(Growth, stays_finite_and_within_its_bound) {
    for (const int ranks : {2, 3, 4, 7, 12, 64, 96}) {
        expect_growth_as_foretold<float>(ranks);
        expect_growth_as_foretold<double>(ranks);
    }
}

TEST(Growth, gives_up_at_most_one_call_early) {
    const double largest = 2.0 * Values::largest;
    const std::uint64_t most = finite_calls<float>(2, largest);
    EXPECT_EQ(most, 120U);
    EXPECT_FALSE(std::isfinite(static_cast<float>(largest * growth(2, most + 2))));
}

TEST(Growth, one_call_is_exact_for_any_team) {
    for (int ranks = 2; ranks <= 4096; ++ranks)
        EXPECT_EQ(growth_bound<float>(ranks, 1, 125.0 * ranks), 0);
}

} // namespace
} // namespace assay::collective
