// SPDX-License-Identifier: Apache-2.0
#include "peak/atomics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay::peak {
namespace {

constexpr std::array spaces{AtomicSpace::global, AtomicSpace::shared};
constexpr std::array spreads{Spread::same, Spread::warp, Spread::thread};

/// What the kernels do, one thread after another.
std::vector<std::uint32_t> words_after(const AtomicShape& shape, std::uint64_t calls) {
    std::vector<std::uint32_t> words(shape.words(), 0);
    for (std::uint64_t call = 0; call < calls; ++call)
        for (std::uint64_t thread = 0; thread < shape.threads(); ++thread) {
            const std::uint64_t block = thread / atomic_threads;
            const std::uint64_t word = shape.space == AtomicSpace::shared
                                           ? block * shape.words_of_team() +
                                                 atomic_word(thread % atomic_threads, shape.shift())
                                           : atomic_word(thread, shape.shift());
            for (unsigned round = 0; round < shape.rounds; ++round) words.at(word) += atomic_addend;
        }
    return words;
}

TEST(Atomics, come_to_what_is_expected) {
    for (const AtomicSpace space : spaces)
        for (const Spread spread : spreads) {
            const AtomicShape shape{.space = space, .spread = spread, .blocks = 3, .rounds = 5};
            for (const std::uint64_t calls : {1U, 2U})
                for (const std::uint32_t word : words_after(shape, calls))
                    ASSERT_EQ(word, shape.expected(calls));
        }
}

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

TEST(AtomicChain, ends_as_expected) {
    std::uint32_t word = 0;
    std::uint32_t returned = 0;
    for (std::uint32_t step = 0; step < chain_steps; ++step) {
        returned = std::exchange(word, word + chain_addend(returned));
    }
    EXPECT_EQ(word, chain_expected(0));
    EXPECT_EQ(returned, chain_expected(1));
}

} // namespace
} // namespace assay::peak
