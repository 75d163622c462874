// SPDX-License-Identifier: Apache-2.0
//
// How memory.hierarchy shares a footprint out on a device: one block per multiprocessor, each again and
// again over a slice of its own. Decides which thread reads what, for unit tests.

#pragma once

#include "memory/device_levels.hpp"

#include <assay/host_device.hpp>
#include <assay/machine.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay::memory {

/// One block of so many threads on every multiprocessor: the most that a block may have, and with four
/// loads each enough in flight for every memory there is.
inline constexpr unsigned sweep_threads = 1024;
inline constexpr std::size_t vector_bytes = 16; ///< of one load
/// What a block reads with one load per thread; slices are multiples of it.
inline constexpr std::int64_t sweep_tile = std::int64_t{sweep_threads} * vector_bytes;

struct SweepShape {
    unsigned blocks = 1;
    unsigned tiles = 1;         ///< of a slice: loads of a thread in one pass
    unsigned tiles_at_once = 1; ///< 1, 2, 4 or 8: those whose loads are queued together
    std::uint64_t passes = 4;   ///< of a call over the slice; a multiple of 4

    std::uint64_t vectors() const { return std::uint64_t{blocks} * tiles * sweep_threads; }
    std::uint64_t threads() const { return std::uint64_t{blocks} * sweep_threads; }
    double bytes() const { return static_cast<double>(vectors() * vector_bytes); }
};

/// The vector that a thread of a block reads with load `tile` of each pass.
ASSAY_HOST_DEVICE constexpr std::uint64_t sweep_vector(unsigned block, unsigned thread,
                                                       unsigned tile, unsigned tiles) {
    return (static_cast<std::uint64_t>(block) * tiles + tile) * sweep_threads + thread;
}

/// Bytes that a level of the caches surely holds, over all multiprocessors: half of it, because a level that is
/// nearly full misses. `first` is what one multiprocessor has, `second` what all share.
constexpr std::int64_t sweep_level(Symbol level, int multiprocessors, std::int64_t first,
                                   std::int64_t second) {
    if (level == Symbol::l2) return second / 2;
    std::int64_t slice = sweep_tile;
    while (2 * slice <= first / 2) slice *= 2;
    return multiprocessors * slice;
}

/// A slice takes 1, 2 or a multiple of 4 tiles, the nearest to what was asked for, so that at least four
/// loads are queued together in every shape: where a pass has fewer, those of the next passes.
constexpr SweepShape sweep_shape(std::int64_t footprint, int multiprocessors) {
    SweepShape shape;
    shape.blocks = static_cast<unsigned>(multiprocessors);
    const std::int64_t half_tiles = 2 * footprint / multiprocessors / sweep_tile;
    shape.tiles = half_tiles < 3   ? 1
                  : half_tiles < 6 ? 2
                                   : static_cast<unsigned>((half_tiles + 4) / 8 * 4);
    shape.tiles_at_once = shape.tiles % 8 == 0 ? 8 : std::min(shape.tiles, 4U);
    // A call should take half a millisecond or more, so that launching it and the first pass, which finds
    // nothing in a first level cache, do not count; and little more than that beyond, where one
    // multiprocessor gets some 20 to 100 bytes a nanosecond.
    constexpr std::int64_t near = std::int64_t{128} << 20U;
    constexpr std::int64_t far = std::int64_t{32} << 20U;
    const std::int64_t slice = shape.tiles * sweep_tile;
    const std::int64_t call = slice <= most_first_level ? near : far;
    shape.passes = static_cast<std::uint64_t>(std::max<std::int64_t>(call / slice / 4 * 4, 4));
    return shape;
}

inline constexpr std::uint64_t sweep_seed = 10;

/// Word i of the data, 64 bits; two are a vector.
ASSAY_HOST_DEVICE constexpr std::uint64_t sweep_word(std::uint64_t i) {
    return random_bits(sweep_seed, i);
}

/// The part of a word that a thread adds: both halves, modulo 2^32, because an addition of 64 bits takes two
/// instructions, and in the first level cache instructions count.
ASSAY_HOST_DEVICE constexpr std::uint32_t sweep_part(std::uint64_t word) {
    return static_cast<std::uint32_t>(word) + static_cast<std::uint32_t>(word >> 32U);
}

/// The sum of a thread after one call, from the seed alone.
ASSAY_HOST_DEVICE constexpr std::uint32_t sweep_sum(const SweepShape& shape, std::uint64_t thread) {
    const auto block = static_cast<unsigned>(thread / sweep_threads);
    const auto own = static_cast<unsigned>(thread % sweep_threads);
    std::uint32_t sum = 0;
    for (unsigned tile = 0; tile < shape.tiles; ++tile) {
        const std::uint64_t at = sweep_vector(block, own, tile, shape.tiles);
        sum += sweep_part(sweep_word(2 * at)) + sweep_part(sweep_word(2 * at + 1));
    }
    return sum * static_cast<std::uint32_t>(shape.passes);
}

} // namespace assay::memory
