// SPDX-License-Identifier: Apache-2.0
//
// Attention of a prompt as FlashAttention-2 computes it (arXiv:2307.08691): a block takes rows of one head and passes
// over tiles of its keys and values in shared memory; scores never leave registers.

#pragma once

#include "device/tiles.cuh"
#include "workload/device_attention_kernels.cuh"

#include <cstdint>

namespace assay::workload {

template <class T>
struct Prefill {
    const T* queries; ///< [heads of all prompts][tokens][size]
    const T* keys;    ///< [heads of all prompts / group][tokens][size]
    const T* values;
    T* results;
    std::uint32_t tokens;
    std::uint32_t group;
    bool is_causal;
    float scale; ///< of scores, times log2(e)
    ASSAY_HOST_DEVICE std::uint32_t blocks_of_head(unsigned rows) const {
        return (tokens + rows - 1) / rows;
    }
};

#if defined(ASSAY_HAS_WGMMA) || !defined(ASSAY_DEVICE_COMPILER) // or on the CPU
inline constexpr int prefill_wgmma_capability = 90;
/// Queues it by wgmma (device_prefill_90a.cu); head_size 64 or 128, T __nv_bfloat16 or __half.
template <class T>
void launch_prefill_wgmma(const Prefill<T>& of, std::int64_t heads, std::int64_t head_size,
                          const device::Stream& stream);
#else
inline constexpr int prefill_wgmma_capability = -1; ///< a build without it
template <class T>
void launch_prefill_wgmma(const Prefill<T>&, std::int64_t, std::int64_t, const device::Stream&) {}
#endif

/// What a block computes: `rows` queries of one head. Those with the most keys come first.
template <class T, unsigned rows, unsigned size>
struct PrefillBlock {
    __device__ explicit PrefillBlock(const Prefill<T>& of) {
        const unsigned blocks = of.blocks_of_head(rows);
        const std::uint64_t head = blockIdx.x / blocks;
        const std::uint64_t numbers = std::uint64_t{of.tokens} * size; // of a head
        first = (blocks - 1 - blockIdx.x % blocks) * rows;
        end = of.is_causal ? lower_of(first + rows, of.tokens) : of.tokens;
        queries = of.queries + head * numbers;
        keys = of.keys + head / of.group * numbers;
        values = of.values + head / of.group * numbers;
        results = of.results + head * numbers;
    }
    unsigned first; ///< of its queries
    unsigned end;   ///< of its keys
    const T* queries;
    const T* keys;
    const T* values;
    T* results;
};

/// Softmax of two rows of scores, tile after tile of keys. A lane has, of the rows g and g + 8, the numbers 2t and 2t + 1
/// of each eight, as matrix instructions leave them (g = lane / 4, t = lane % 4).
struct OnlineSoftmax {
    float largest[2] = {-INFINITY, -INFINITY};
    float total[2] = {}; ///< of this lane's weights, 2^(scale (score - largest))

    /// Scores of the keys from `at` on become weights; those behind `end[half]` are left out if `masks`. Returns in
    /// `share` what weights of earlier tiles are multiplied with.
    template <unsigned eights>
    __device__ void weigh(float (&scores)[eights][4], float scale, bool masks, unsigned at,
                          const unsigned (&end)[2], float (&share)[2]) {
        if (masks)
#pragma unroll
            for (unsigned n = 0; n < eights; ++n)
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    if (at + 8 * n + threadIdx.x % 4 * 2 + i % 2 >= end[i / 2])
                        scores[n][i] = -INFINITY;
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            float most = largest[half];
#pragma unroll
            for (unsigned n = 0; n < eights; ++n)
                most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
            most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 1));
            most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 2));
            share[half] = device::exp2_approximate(scale * (largest[half] - most));
            largest[half] = most;
            total[half] *= share[half];
#pragma unroll
            for (unsigned n = 0; n < eights; ++n)
#pragma unroll
                for (unsigned i = 2 * half; i < 2 * half + 2; ++i) {
                    scores[n][i] =
                        device::exp2_approximate(fmaf(scores[n][i], scale, -scale * most));
                    total[half] += scores[n][i];
                }
        }
    }
};

/// Weights of 16 keys as operand a of matrix instructions.
template <class T>
__device__ void pack_weights(const float (&low)[4], const float (&high)[4], unsigned (&to)[4]) {
    to[0] = pair_of<T>(low[0], low[1]);
    to[1] = pair_of<T>(low[2], low[3]);
    to[2] = pair_of<T>(high[0], high[1]);
    to[3] = pair_of<T>(high[2], high[3]);
}
template <unsigned eights>
__device__ void multiply_rows(float (&sums)[eights][4], const float (&by)[2]) {
#pragma unroll
    for (unsigned n = 0; n < eights; ++n)
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) sums[n][i] *= by[i / 2];
}
/// A warp's 16 rows from `row` on; those from `end` on do not exist.
template <class T, unsigned eights>
__device__ void store_rows(T* results, unsigned row, unsigned end, OnlineSoftmax& softmax,
                           float (&sums)[eights][4]) {
    float share[2];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        float total = softmax.total[half];
        total += __shfl_xor_sync(0xffffffffU, total, 1);
        total += __shfl_xor_sync(0xffffffffU, total, 2);
        share[half] = 1 / total;
    }
    multiply_rows(sums, share);
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        const std::uint64_t own = row + threadIdx.x % warp / 4 + 8 * half;
        if (own >= end) continue;
#pragma unroll
        for (unsigned n = 0; n < eights; ++n)
            reinterpret_cast<unsigned*>(results + own * 8 * eights)[4 * n + threadIdx.x % 4] =
                pair_of<T>(sums[n][2 * half], sums[n][2 * half + 1]);
    }
}

/// mma.sync: a block of four warps with 32 rows each, so that what is loaded of keys and values serves two instructions.
/// Values of a tile are copied while its scores are computed, keys of the next one while values are summed up.
struct PrefillByMma {
    static constexpr unsigned threads = 128;
    static constexpr unsigned rows = 128;
    static constexpr unsigned keys = 64; ///< of a tile
    static constexpr unsigned shared_bytes(unsigned size) { return (rows + 2 * keys) * size * 2; }
};
template <class T, unsigned size>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one kernel
__global__ void __launch_bounds__(PrefillByMma::threads, 2) prefill_by_mma(Prefill<T> of) {
    using By = PrefillByMma;
    const PrefillBlock<T, By::rows, size> block{of};
    const unsigned shared = device::shared_address(device::dynamic_shared<T>());
    using KeyTile = device::Tile<By::keys, size>;
    const device::Tile<By::rows, size> q{shared};
    const KeyTile k{shared + q.bytes};
    const KeyTile v{k.first + KeyTile::bytes};

    const unsigned lane = threadIdx.x % warp;
    const unsigned row = block.first + threadIdx.x / warp * 32; // the warp's first
    unsigned end[2][2];                                         // of the keys of each row
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
#pragma unroll
        for (unsigned half = 0; half < 2; ++half)
            end[m][half] = of.is_causal
                               ? lower_of(row + 16 * m + lane / 4 + 8 * half + 1, of.tokens)
                               : of.tokens;
    const unsigned q_at = q.at(threadIdx.x / warp * 32 + lane % 16, lane / 16);
    const unsigned k_at = k.at(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const unsigned v_at = v.at(lane % 16, lane / 16);
    constexpr unsigned sixteen_rows = 16 * KeyTile::row_bytes;

    OnlineSoftmax softmax[2];
    float sums[2][size / 8][4] = {};
    q.template copy<By::threads>(block.queries, block.first, of.tokens);
    k.template copy<By::threads>(block.keys, 0, block.end);
    device::close_copies();
    for (unsigned at = 0; at < block.end; at += By::keys) {
        device::wait_for_copies<0>();
        __syncthreads(); // the keys are there, and the values of the last tile have been used
        v.template copy<By::threads>(block.values, at, block.end);
        device::close_copies();
        float scores[2][By::keys / 8][4] = {};
        // Or its rows do not exist, or all of these keys come later.
        const bool works = row < of.tokens && (!of.is_causal || at < row + 32);
        if (works)
#pragma unroll
            for (unsigned step = 0; step < size / 16; ++step) {
                unsigned a[2][4];
#pragma unroll
                for (unsigned m = 0; m < 2; ++m)
                    device::load_matrices(a[m], q.along(q_at, step) + m * sixteen_rows);
#pragma unroll
                for (unsigned n = 0; n < By::keys / 16; ++n) {
                    unsigned b[4];
                    device::load_matrices(b, k.along(k_at, step) + n * sixteen_rows);
#pragma unroll
                    for (unsigned m = 0; m < 2; ++m) {
                        multiply<T>(scores[m][2 * n], a[m], b);
                        multiply<T>(scores[m][2 * n + 1], a[m], b + 2);
                    }
                }
            }
        device::wait_for_copies<0>();
        __syncthreads(); // the values are there, and the keys have been used
        if (at + By::keys < block.end)
            k.template copy<By::threads>(block.keys, at + By::keys, block.end);
        device::close_copies();
        if (!works) continue;
        const bool masks =
            at + By::keys > (of.is_causal ? lower_of(row + 1, of.tokens) : of.tokens);
#pragma unroll
        for (unsigned m = 0; m < 2; ++m) {
            float share[2];
            softmax[m].weigh(scores[m], of.scale, masks, at, end[m], share);
            multiply_rows(sums[m], share);
        }
#pragma unroll
        for (unsigned step = 0; step < By::keys / 16; ++step) {
            unsigned a[2][4];
#pragma unroll
            for (unsigned m = 0; m < 2; ++m)
                pack_weights<T>(scores[m][2 * step], scores[m][2 * step + 1], a[m]);
#pragma unroll
            for (unsigned n = 0; n < size / 16; ++n) {
                unsigned b[4];
                device::load_matrices<true>(b, v.along(v_at, n) + step * sixteen_rows);
#pragma unroll
                for (unsigned m = 0; m < 2; ++m) {
                    multiply<T>(sums[m][2 * n], a[m], b);
                    multiply<T>(sums[m][2 * n + 1], a[m], b + 2);
                }
            }
        }
    }
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
        store_rows(block.results, row + 16 * m, of.tokens, softmax[m], sums[m]);
}

} // namespace assay::workload
