// SPDX-License-Identifier: Apache-2.0
//
// Atomic additions: which thread adds to which word, how often, and what must come out. Pure numbers: tested on the
// host.

#pragma once

#include "device/warp.hpp"

#include <assay/host_device.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace assay::peak {

enum class AtomicSpace : std::uint8_t { global, shared };
/// How many threads meet in one word: all of them, a warp, or one.
enum class Spread : std::uint8_t { same, warp, thread };

inline constexpr unsigned atomic_threads = 512; // of a block
/// Not 1: hardware and compiler have a short way for counting by one, which is another question.
inline constexpr std::uint32_t atomic_addend = 3;

struct AtomicShape {
    AtomicSpace space = AtomicSpace::global;
    Spread spread = Spread::same;
    unsigned blocks = 1;
    unsigned rounds = 1; ///< additions of each thread

    /// Threads whose word is looked for: of the whole grid, or of a block.
    constexpr std::uint64_t team() const {
        return space == AtomicSpace::shared ? atomic_threads
                                            : std::uint64_t{blocks} * atomic_threads;
    }
    constexpr std::uint64_t threads() const { return std::uint64_t{blocks} * atomic_threads; }
    /// A thread's word is its number shifted by this. A number at run time, because a compiler that sees that the
    /// threads of a warp share a word adds them up first and does one atomic addition for all.
    constexpr unsigned shift() const {
        if (spread == Spread::same) return 63;
        return spread == Spread::warp ? std::bit_width(device::warp_lanes) - 1U : 0U;
    }
    /// Words that a team adds to, and in all: each block has shared words of its own.
    constexpr std::uint64_t words_of_team() const { return ((team() - 1) >> shift()) + 1; }
    constexpr std::uint64_t words() const {
        return space == AtomicSpace::shared ? blocks * words_of_team() : words_of_team();
    }
    constexpr std::uint64_t threads_at_a_word() const { return team() / words_of_team(); }
    constexpr double additions() const {
        return static_cast<double>(threads()) * static_cast<double>(rounds);
    }
    /// Every word after so many calls, modulo 2^32.
    constexpr std::uint32_t expected(std::uint64_t calls) const {
        return static_cast<std::uint32_t>(threads_at_a_word() * rounds * calls * atomic_addend);
    }
};

ASSAY_HOST_DEVICE constexpr std::uint64_t atomic_word(std::uint64_t thread, unsigned shift) {
    return thread >> shift;
}

/// Blocks that fill the device once, and additions for tens to hundreds of microseconds on devices of today:
/// threads that meet in one word of shared memory take turns of some 30 clocks.
constexpr AtomicShape atomic_shape(AtomicSpace space, Spread spread, int multiprocessors,
                                   int threads_per_multiprocessor) {
    const int blocks = threads_per_multiprocessor / static_cast<int>(atomic_threads);
    return {.space = space,
            .spread = spread,
            .blocks = static_cast<unsigned>((multiprocessors > 0 ? multiprocessors : 1) *
                                            (blocks > 0 ? blocks : 1)),
            .rounds = space == AtomicSpace::shared ? 256U : 64U};
}

/// A chain of atomic additions to one word, each of which needs what the one before returned: the high bit of a
/// number below 2^31, which is 0.
ASSAY_HOST_DEVICE constexpr std::uint32_t chain_addend(std::uint32_t returned) {
    return 1 + (returned >> 31U);
}
inline constexpr std::uint32_t chain_steps = 4096;
inline constexpr std::size_t chain_results = 2; // the word, and the result of the last addition
constexpr std::uint32_t chain_expected(std::size_t result) {
    return result == 0 ? chain_steps : chain_steps - 1;
}

} // namespace assay::peak
