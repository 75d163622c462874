// SPDX-License-Identifier: Apache-2.0
//
// The launch shapes that memory.stream tries on a device. Pure numbers: tested on the host.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::memory {

struct StreamShape {
    unsigned blocks = 1;
    unsigned threads = 256; ///< of a block
    unsigned unroll = 1;    ///< 16-byte loads of each array that a thread has in flight
};

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
    for (const unsigned threads : stream_threads)
        for (const unsigned unroll : stream_unrolls)
            shapes.push_back({.blocks = static_cast<unsigned>(count / 2 / threads / unroll),
                              .threads = threads,
                              .unroll = unroll});
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
