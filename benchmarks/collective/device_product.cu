// SPDX-License-Identifier: Apache-2.0
#include "collective/device_product.hpp"
#include "device/instructions.cuh"
#include "device/launch.cuh"
#include "device/pack.hpp"

#include <cuda_bf16.h>

#include <cstring>

namespace assay::collective {
namespace {

constexpr unsigned tile = 128; // rows and columns of C of a block
constexpr unsigned depth = 32; // along the sums, at once
constexpr unsigned threads = 256;
constexpr unsigned warp = 32;
constexpr unsigned warp_rows = 64; // of C^T: two warps below each other, four side by side
constexpr unsigned warp_columns = 32;
/// Pairs of numbers in a row of shared memory: 16, and 4 that keep eight rows in different banks.
constexpr unsigned row_pairs = depth / 2 + 4;

/// Eight neighbouring numbers.
using Eight = device::Pack<std::uint32_t, 4>;

/// C^T = B A^T in tiles: mma's rows are those of B, so that a lane has neighbours in the memory of C. The next tiles are
/// loaded while these are multiplied.
__global__ void __launch_bounds__(threads)
    multiply(const Eight* a, const Eight* b, std::uint32_t* c, std::uint32_t size) {
    __shared__ Eight shared[2][tile * row_pairs / 4];
    const unsigned tiles = size / tile;
    const unsigned first_a = blockIdx.x % tiles * tile;
    const unsigned first_b = blockIdx.x / tiles * tile;
    constexpr unsigned row_eights = depth / 8;
    constexpr unsigned loads = tile * row_eights / threads;
    Eight next[2][loads];
    const auto load = [&](unsigned k) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            const unsigned index = threadIdx.x + i * threads;
            const std::uint64_t row = index / row_eights;
            const unsigned at = k / 8 + index % row_eights;
            next[0][i] = device::read_only(a + (first_a + row) * (size / 8) + at);
            next[1][i] = device::read_only(b + (first_b + row) * (size / 8) + at);
        }
    };
    const unsigned lane = threadIdx.x % warp;
    const unsigned own_row = threadIdx.x / warp / (tile / warp_columns) * warp_rows + lane / 4;
    const unsigned own_column =
        threadIdx.x / warp % (tile / warp_columns) * warp_columns + lane / 4;
    const auto* const pairs_a =
        reinterpret_cast<const std::uint32_t*>(shared[0]) + own_column * row_pairs + lane % 4;
    const auto* const pairs_b =
        reinterpret_cast<const std::uint32_t*>(shared[1]) + own_row * row_pairs + lane % 4;
    float sums[warp_rows / 16][warp_columns / 8][4] = {};
    load(0);
    for (unsigned k = 0; k < size; k += depth) {
        __syncthreads(); // the tiles before have been read
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            const unsigned index = threadIdx.x + i * threads;
            const unsigned at = index / row_eights * (row_pairs / 4) + index % row_eights;
            shared[0][at] = next[0][i];
            shared[1][at] = next[1][i];
        }
        __syncthreads();
        if (k + depth < size) load(k + depth);
#pragma unroll
        for (unsigned pair = 0; pair < depth / 2; pair += 8) { // mma takes 16 numbers
            std::uint32_t rows[warp_rows / 16][4];
#pragma unroll
            for (unsigned i = 0; i < warp_rows / 16; ++i)
#pragma unroll
                for (unsigned j = 0; j < 4; ++j)
                    rows[i][j] = pairs_b[(16 * i + 8 * (j % 2)) * row_pairs + pair + 4 * (j / 2)];
#pragma unroll
            for (unsigned i = 0; i < warp_columns / 8; ++i) {
                const std::uint32_t columns[2] = {pairs_a[8 * i * row_pairs + pair],
                                                  pairs_a[8 * i * row_pairs + pair + 4]};
#pragma unroll
                for (unsigned j = 0; j < warp_rows / 16; ++j)
                    device::multiply_add<device::Mma::m16n8k16_bf16>(sums[j][i], rows[j], columns);
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < warp_rows / 16; ++i)
#pragma unroll
        for (unsigned j = 0; j < warp_columns / 8; ++j)
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
                const __nv_bfloat162 pair =
                    __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                const std::uint64_t row = first_b + own_row + 16 * i + 8 * half;
                const unsigned column = first_a + own_column - lane / 4 + 8 * j + 2 * (lane % 4);
                // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): two halves
                memcpy(c + (row * size + column) / 2, &pair, sizeof pair);
            }
}

} // namespace

void multiply_bf16(const device::Stream& stream, const gemm::Operands& operands,
                   std::uint32_t size) {
    const unsigned tiles = size / tile;
    device::launch(multiply, {tiles * tiles, threads, stream.get()},
                   static_cast<const Eight*>(operands.a.data),
                   static_cast<const Eight*>(operands.b.data),
                   static_cast<std::uint32_t*>(operands.c.data), size);
    device::check_launches();
}

} // namespace assay::collective
