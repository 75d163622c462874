// SPDX-License-Identifier: Apache-2.0
//
// The launch shapes that memory.stream tries on a device, and the rings of memory.bulk_copy. Pure numbers: tested on
// the host.

#pragma once

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::memory {

struct StreamShape {
    unsigned blocks = 1;
    unsigned threads = 256;   ///< of a block
    unsigned unroll = 1;      ///< 16-byte loads of each array that a thread has in flight
    bool evict_first = false; ///< tells the caches that nothing is used twice
};

/// The vector of two elements that is number k of those of a thread, where each thread does its loads once.
ASSAY_HOST_DEVICE constexpr std::uint64_t
map_vector(std::uint64_t block, unsigned thread, unsigned k, unsigned threads, unsigned unroll) {
    return block * threads * unroll + static_cast<std::uint64_t>(k) * threads + thread;
}

/// The vectors that a thread of a reduction takes, in its order: those from `first` in steps of `stride`, four
/// queued together as long as there are four. take(k, vector) adds to sum number k.
template <class Take>
ASSAY_HOST_DEVICE void walk_vectors(std::uint64_t first, std::uint64_t stride, std::uint64_t count,
                                    const Take& take) {
    std::uint64_t at = first;
    for (; at + 3 * stride < count; at += 4 * stride) {
        take(0U, at);
        take(1U, at + stride);
        take(2U, at + 2 * stride);
        take(3U, at + 3 * stride);
    }
    for (; at < count; at += stride) take(0U, at);
}

inline constexpr std::array<unsigned, 3> stream_threads{256, 512, 1024};
inline constexpr std::array<unsigned, 3> stream_unrolls{1, 2, 4};

/// Arrays are multiples of what one block of the largest shape works on, so that no loop has a
/// remainder: 1024 threads, 4 loads, 2 elements in a load.
inline constexpr std::uint64_t stream_tile = 1024UL * 4 * 2;

constexpr std::size_t stream_elements(std::int64_t bytes) {
    const auto tiles = static_cast<std::uint64_t>(bytes) / (stream_tile * sizeof(double));
    return tiles == 0 ? stream_tile : tiles * stream_tile;
}

/// Each thread does its loads once: as many blocks as it takes.
inline std::vector<StreamShape> map_shapes(std::uint64_t count) {
    std::vector<StreamShape> shapes;
    for (const bool evict_first : {false, true})
        for (const unsigned threads : stream_threads)
            for (const unsigned unroll : stream_unrolls)
                shapes.push_back({.blocks = static_cast<unsigned>(count / 2 / threads / unroll),
                                  .threads = threads,
                                  .unroll = unroll,
                                  .evict_first = evict_first});
    return shapes;
}

/// Threads walk over the array; blocks are multiples of the multiprocessors. BabelStream's dot went from
/// 1555 to 1745 GB/s on an A100 by their number alone.
inline std::vector<StreamShape> reduction_shapes(int multiprocessors) {
    std::vector<StreamShape> shapes;
    for (const unsigned threads : stream_threads)
        for (const unsigned each : {2U, 4U, 8U, 16U})
            shapes.push_back({.blocks = each * static_cast<unsigned>(multiprocessors),
                              .threads = threads,
                              .unroll = 4});
    return shapes;
}

// --- memory.bulk_copy ------------------------------------------------------------------------------------------------

/// One block per multiprocessor; each of its warps has a ring of slots in shared memory, through which pieces of the
/// array go one after the other: those from number `ring` in steps of rings().
struct BulkShape {
    std::uint32_t piece = 1024; ///< bytes of one copy
    unsigned blocks = 1;
    unsigned warps = 1; ///< of a block
    unsigned slots = 2; ///< of a ring: 2, 4, 8 or 16
    std::uint64_t pieces = 1;

    ASSAY_HOST_DEVICE constexpr unsigned rings() const { return blocks * warps; }
    ASSAY_HOST_DEVICE constexpr std::uint64_t words() const { return piece / 8; }
    /// Pieces that a ring takes.
    ASSAY_HOST_DEVICE constexpr std::uint64_t turns(unsigned ring) const {
        return ring < pieces ? (pieces - ring - 1) / rings() + 1 : 0;
    }
    ASSAY_HOST_DEVICE constexpr std::uint64_t piece_of(unsigned ring, std::uint64_t turn) const {
        return ring + turn * rings();
    }
    /// The slots of all warps, then a barrier for each.
    constexpr std::size_t shared_bytes() const {
        return std::size_t{warps} * slots * (piece + bulk_barrier);
    }
    static constexpr unsigned bulk_barrier = 8;
};

/// Warps of a block at most.
inline constexpr unsigned most_bulk_warps = 8;

/// Few slots are shared out over warps first, because a warp that adds up a slot does not fill another one.
constexpr BulkShape bulk_shape(std::int64_t array_bytes, std::int64_t piece, std::int64_t in_flight,
                               int multiprocessors) {
    const auto all = static_cast<unsigned>(in_flight / piece);
    const unsigned slots = std::clamp(all / 4, 2U, 16U);
    return {.piece = static_cast<std::uint32_t>(piece),
            .blocks = static_cast<unsigned>(multiprocessors),
            .warps = all / slots,
            .slots = slots,
            .pieces = static_cast<std::uint64_t>(std::max<std::int64_t>(array_bytes / piece, 1))};
}

inline constexpr std::uint64_t bulk_seed = 19;

/// Word i of what is read.
ASSAY_HOST_DEVICE constexpr std::uint64_t bulk_word(std::uint64_t i) {
    return random_bits(bulk_seed, i);
}
/// Word of a slot that is written again and again: the number of the piece, then random ones that stay.
ASSAY_HOST_DEVICE constexpr std::uint64_t bulk_slot_word(const BulkShape& shape, unsigned ring,
                                                         std::uint64_t turn, std::uint64_t word) {
    if (word == 0) return shape.piece_of(ring, turn);
    return bulk_word((ring * std::uint64_t{shape.slots} + turn % shape.slots) * shape.words() +
                     word);
}
/// Word i of the array that was written.
ASSAY_HOST_DEVICE constexpr std::uint64_t bulk_written(const BulkShape& shape, std::uint64_t i) {
    const std::uint64_t piece = i / shape.words();
    return bulk_slot_word(shape, static_cast<unsigned>(piece % shape.rings()),
                          piece / shape.rings(), i % shape.words());
}

/// Vectors of two words that a lane adds up in each piece: those from number `lane` in steps of `lanes`.
ASSAY_HOST_DEVICE constexpr std::uint32_t bulk_part(std::uint64_t first, std::uint64_t second) {
    return static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(first >> 32U) +
           static_cast<std::uint32_t>(second) + static_cast<std::uint32_t>(second >> 32U);
}
/// The sum of a thread over all its pieces, modulo 2^32.
ASSAY_HOST_DEVICE constexpr std::uint32_t bulk_sum(const BulkShape& shape, std::uint64_t thread,
                                                   unsigned lanes) {
    const auto ring = static_cast<unsigned>(thread / lanes);
    std::uint32_t sum = 0;
    for (std::uint64_t turn = 0; turn < shape.turns(ring); ++turn)
        for (std::uint64_t at = thread % lanes * 2; at < shape.words(); at += 2 * lanes) {
            const std::uint64_t word = shape.piece_of(ring, turn) * shape.words() + at;
            sum += bulk_part(bulk_word(word), bulk_word(word + 1));
        }
    return sum;
}

} // namespace assay::memory
