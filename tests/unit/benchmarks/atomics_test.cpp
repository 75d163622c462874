// SPDX-License-Identifier: Apache-2.0
#include "peak/atomics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace assay::peak {
namespace {

constexpr std::array spaces{AtomicSpace::global, AtomicSpace::shared};
constexpr std::array spreads{Spread::same, Spread::warp, Spread::thread};

TEST(Atomics, meet_as_their_spread_says) {
    const auto shape = [](AtomicSpace space, Spread spread) {
        return AtomicShape{.space = space, .spread = spread, .blocks = 4, .rounds = 1};
    };
    EXPECT_EQ(shape(AtomicSpace::global, Spread::same).words(), 1U);
    EXPECT_EQ(shape(AtomicSpace::global, Spread::warp).words(), 4 * atomic_threads / 32);
    EXPECT_EQ(shape(AtomicSpace::global, Spread::thread).words(), 4 * atomic_threads);
    EXPECT_EQ(shape(AtomicSpace::shared, Spread::same).words(), 4U);
    EXPECT_EQ(shape(AtomicSpace::shared, Spread::warp).words_of_team(), atomic_threads / 32);
    EXPECT_EQ(shape(AtomicSpace::shared, Spread::thread).words_of_team(), atomic_threads);
}

TEST(Atomics, are_expected_modulo_2_to_the_32) {
    const AtomicShape shape{
        .space = AtomicSpace::global, .spread = Spread::same, .blocks = 528, .rounds = 64};
    const std::uint64_t calls = 1U << 20U;
    const std::uint64_t exact = 528UL * 512 * 64 * 3 * calls;
    EXPECT_GT(exact, std::uint64_t{1} << 32U);
    EXPECT_EQ(shape.expected(calls), exact % (std::uint64_t{1} << 32U));
    EXPECT_EQ(shape.additions(), 528.0 * 512 * 64);
}

TEST(Atomics, fill_any_device) {
    for (const int multiprocessors : {0, 1, 14, 132, 148})
        for (const int threads : {0, 1024, 1536, 2048})
            for (const AtomicSpace space : spaces)
                for (const Spread spread : spreads) {
                    const AtomicShape shape = atomic_shape(space, spread, multiprocessors, threads);
                    EXPECT_GE(shape.blocks, 1U);
                    EXPECT_NE(shape.expected(1), 0U) << "what was never run would pass";
                    EXPECT_EQ(shape.threads() % shape.words(), 0U);
                }
    EXPECT_EQ(atomic_shape(AtomicSpace::global, Spread::same, 132, 2048).blocks, 528U);
}

} // namespace
} // namespace assay::peak
