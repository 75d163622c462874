// SPDX-License-Identifier: Apache-2.0
#include "latency/pairs.hpp"
#include "latency/spin.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace assay::latency {
namespace {

TEST(Pairs, have_a_number_each_in_the_order_of_two_loops) {
    for (const std::size_t cores : {0, 1, 2, 3, 7, 64, 200}) {
        std::size_t number = 0;
        for (std::size_t first = 0; first < cores; ++first)
            for (std::size_t second = first + 1; second < cores; ++second)
                ASSERT_EQ(pair_number(cores, first, second), number++);
        EXPECT_EQ(pair_count(cores), number) << cores;
    }
}

TEST(SymmetricMatrix, puts_every_pair_into_both_triangles) {
    constexpr std::size_t cores = 5;
    std::vector<double> pairs(pair_count(cores));
    std::iota(pairs.begin(), pairs.end(), 1.0);
    const auto matrix = symmetric_matrix(cores, pairs);
    ASSERT_EQ(matrix.size(), cores * cores);
    EXPECT_EQ(matrix[0 * cores + 1], 1);
    EXPECT_EQ(matrix[0 * cores + 4], 4);
    EXPECT_EQ(matrix[1 * cores + 2], 5);
    EXPECT_EQ(matrix[3 * cores + 4], 10);
    for (std::size_t i = 0; i < cores; ++i) {
        EXPECT_TRUE(std::isnan(matrix[i * cores + i]));
        for (std::size_t k = 0; k < i; ++k) EXPECT_EQ(matrix[i * cores + k], matrix[k * cores + i]);
    }
}

TEST(RoundTrips, are_bounded_for_any_number_of_pairs) {
    EXPECT_EQ(round_trips(0), 2000U);
    EXPECT_EQ(round_trips(1), 2000U);
    EXPECT_EQ(round_trips(pair_count(64)), 520U);
    EXPECT_EQ(round_trips(pair_count(512)), 250U);
}

TEST(Spin, ends_though_both_sides_share_one_core) {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    std::uint64_t word = 0;
    constexpr std::uint64_t rounds = 100;
    std::thread partner{[&word] {
        Spin spin;
        for (std::uint64_t i = 0; i < rounds; ++i) publish(word, spin.until(word, 2 * i + 1) + 1);
    }};
    Spin spin;
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        publish(word, seen + 1);
        seen = spin.until(word, seen + 2);
    }
    partner.join();
    ::sched_setaffinity(0, sizeof before, &before);
    EXPECT_EQ(seen, 2 * rounds);
}

} // namespace
} // namespace assay::latency
