// SPDX-License-Identifier: Apache-2.0
//
// The launch shapes that memory.stream tries on a device. Pure numbers: tested on the host.

#pragma once

#include <assay/host_device.hpp>

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

} // namespace assay::memory
