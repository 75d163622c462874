// SPDX-License-Identifier: Apache-2.0
//
// Which thread touches which element, in the benchmarks of access patterns on devices: memory.stride,
// memory.matrix and memory.banks. Walked through on the host by unit tests.

#pragma once

#include "device/warp.hpp"
#include "memory/device_stream_shapes.hpp"

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <cstdint>

namespace assay::memory {

inline constexpr std::uint64_t access_seed = 14;

/// Word i of the data of memory.stride and memory.banks.
ASSAY_HOST_DEVICE constexpr std::uint32_t access_word(std::uint64_t i) {
    return static_cast<std::uint32_t>(random_bits(access_seed, i));
}

// --- memory.stride --------------------------------------------------------------------------------

inline constexpr unsigned stride_threads = 256; ///< of a block
/// Words of a sector, 32 bytes: the least that a device's caches fetch.
inline constexpr unsigned sector_words = 8;

/// Neighbouring threads read words that are `stride` apart. Beyond a sector, several passes that are a sector
/// apart touch every sector once, so that a call moves the same memory for every stride.
struct StrideShape {
    unsigned blocks;
    unsigned stride;
    std::uint64_t words; ///< of the array

    ASSAY_HOST_DEVICE constexpr std::uint64_t threads() const {
        return static_cast<std::uint64_t>(blocks) * stride_threads;
    }
    ASSAY_HOST_DEVICE constexpr unsigned passes() const {
        return stride < sector_words ? 1 : stride / sector_words;
    }
    ASSAY_HOST_DEVICE constexpr std::uint64_t words_of_pass() const { return words / stride; }
    ASSAY_HOST_DEVICE constexpr std::uint64_t word(unsigned pass, std::uint64_t i) const {
        return i * stride + static_cast<std::uint64_t>(pass) * sector_words;
    }
    constexpr double bytes() const {
        return static_cast<double>(sizeof(std::uint32_t) * passes()) *
               static_cast<double>(words_of_pass());
    }
};

/// The sum modulo 2^32 that a thread makes of value(word) over its words.
template <class Value>
ASSAY_HOST_DEVICE std::uint32_t stride_sum(const StrideShape& shape, std::uint64_t thread,
                                           const Value& value) {
    std::uint32_t sums[4] = {};
    struct Take {
        const StrideShape& shape;
        const Value& value;
        unsigned pass;
        std::uint32_t* sums;
        ASSAY_HOST_DEVICE void operator()(unsigned k, std::uint64_t i) const {
            sums[k] += value(shape.word(pass, i));
        }
    };
    for (unsigned pass = 0; pass < shape.passes(); ++pass)
        walk_vectors(thread, shape.threads(), shape.words_of_pass(),
                     Take{shape, value, pass, sums});
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// --- memory.matrix --------------------------------------------------------------------------------

enum class MatrixPattern : std::uint8_t {
    rows,            // copied by blocks of 256 x 1 threads, neighbours along a row
    blocks,          // of 32 x 8 threads
    columns,         // of 1 x 256, neighbours down a column
    transpose,       // rows are read, columns are written
    transpose_tiled, // through a tile in shared memory, so that rows are written too
    transpose_padded // the tile's rows are one element longer, so that its columns spread over all banks
};

inline constexpr unsigned matrix_threads = 256; ///< of a block
inline constexpr unsigned tile_side =
    32; ///< of a transposed tile; each thread has four of its elements
inline constexpr unsigned tile_rows = matrix_threads / tile_side;

constexpr bool transposes(MatrixPattern pattern) { return pattern >= MatrixPattern::transpose; }

/// Threads of a block along a row, where the matrix is copied.
constexpr unsigned block_width(MatrixPattern pattern) {
    if (pattern == MatrixPattern::rows) return matrix_threads;
    return pattern == MatrixPattern::columns ? 1 : tile_side;
}

/// The side of a matrix of fp64 of at least so many bytes: a multiple of 256, for every block.
constexpr std::uint64_t matrix_side(std::int64_t bytes) {
    std::uint64_t side = matrix_threads;
    while (side * side * sizeof(double) < static_cast<std::uint64_t>(bytes)) side += matrix_threads;
    return side;
}

struct Place {
    std::uint64_t row;
    std::uint64_t column;
};

/// The element that a thread copies.
ASSAY_HOST_DEVICE constexpr Place copied_place(std::uint64_t block, unsigned thread, unsigned width,
                                               std::uint64_t side) {
    const unsigned height = matrix_threads / width;
    const std::uint64_t blocks_in_row = side / width;
    return {block / blocks_in_row * height + thread / width,
            block % blocks_in_row * width + thread % width};
}
/// Element `k` of 4 of a thread in the tile of a block; and the same one in the tile's mirror image.
ASSAY_HOST_DEVICE constexpr Place tile_place(std::uint64_t block, unsigned thread, unsigned k,
                                             std::uint64_t side) {
    const std::uint64_t tiles_in_row = side / tile_side;
    return {block / tiles_in_row * tile_side + thread / tile_side + std::uint64_t{k} * tile_rows,
            block % tiles_in_row * tile_side + thread % tile_side};
}
ASSAY_HOST_DEVICE constexpr Place mirrored_place(std::uint64_t block, unsigned thread, unsigned k,
                                                 std::uint64_t side) {
    const std::uint64_t tiles_in_row = side / tile_side;
    return {block % tiles_in_row * tile_side + thread / tile_side + std::uint64_t{k} * tile_rows,
            block / tiles_in_row * tile_side + thread % tile_side};
}
constexpr std::uint64_t matrix_blocks(MatrixPattern pattern, std::uint64_t side) {
    const std::uint64_t elements =
        transposes(pattern) ? std::uint64_t{tile_side} * tile_side : matrix_threads;
    return side * side / elements;
}

ASSAY_HOST_DEVICE inline double matrix_element(std::uint64_t i) {
    return random_uniform(access_seed, i, 0.5, 1.5);
}
/// Element i of the result, row by row.
ASSAY_HOST_DEVICE inline double matrix_result(bool transposed, std::uint64_t i,
                                              std::uint64_t side) {
    return matrix_element(transposed ? i % side * side + i / side : i);
}

// --- memory.banks ---------------------------------------------------------------------------------

inline constexpr unsigned bank_threads = 1024; ///< of a block
inline constexpr unsigned bank_rounds = 512;   ///< until a thread begins again
inline constexpr unsigned bank_loads = 8;      ///< of a round, of words that follow each other
inline constexpr unsigned bank_repeats = 4;    ///< of all rounds in a call
inline constexpr unsigned most_bank_stride = 32;
/// Rounds begin in the first 4096 words; lanes and loads reach a little farther.
inline constexpr unsigned bank_starts = bank_rounds * bank_loads;
inline constexpr unsigned bank_words = bank_starts + device::warp_lanes * most_bank_stride;

/// The word that a thread reads first in a round: lanes of a warp are `stride` words apart.
ASSAY_HOST_DEVICE constexpr unsigned bank_word(unsigned thread, unsigned round, unsigned stride) {
    const unsigned warp = thread / device::warp_lanes;
    return (warp * 64 + round * bank_loads) % bank_starts + thread % device::warp_lanes * stride;
}
constexpr double bank_bytes(unsigned blocks) {
    return 4.0 * bank_repeats * bank_rounds * bank_loads * bank_threads * blocks;
}
/// The sum of a thread, modulo 2^32.
ASSAY_HOST_DEVICE constexpr std::uint32_t bank_sum(unsigned thread, unsigned stride) {
    std::uint32_t sum = 0;
    for (unsigned round = 0; round < bank_rounds; ++round)
        for (unsigned k = 0; k < bank_loads; ++k)
            sum += access_word(bank_word(thread, round, stride) + k);
    return sum * bank_repeats;
}

} // namespace assay::memory
