// SPDX-License-Identifier: Apache-2.0
//
// The kernels of an encoder layer between its products: attention of all heads, and norms. For .cu files.

#pragma once

#include "device/benchmark.cuh"
#include "device/pack.hpp"
#include "device/tiles.cuh"
#include "workload/device_attention_kernels.cuh"
#include "workload/transformer_data.hpp"

#include <cmath>
#include <cstdint>

namespace assay::workload {

// --- attention ----------------------------------------------------------------------------------------

constexpr unsigned attend_warps = 4;
constexpr unsigned attend_threads = attend_warps * warp;
constexpr unsigned attend_queries = attend_warps * tile; // of a block
constexpr unsigned attend_keys = 64;                     // of a tile in shared memory
using HeadTile = device::Tile<attend_keys, static_cast<unsigned>(head_size)>;
static_assert(attend_queries == attend_keys && head_size == 64);
/// Queries, which results take the place of, and two tiles of keys and values each: one is used, one on its way.
constexpr unsigned attend_bytes = 5 * HeadTile::bytes;

/// Tokens of a sequence, of which queries, keys and values stand side by side, and what all heads find.
template <class T>
struct HeadsOf {
    const T* qkv;
    T* results;
    std::uint32_t length; ///< of a sequence
    std::uint32_t heads;
    ASSAY_HOST_DEVICE std::uint32_t blocks_of_head() const {
        return (length + attend_queries - 1) / attend_queries;
    }
};

/// Rows from `begin` on, the last one before `end` for those behind; `stride` numbers apart.
template <class T>
__device__ void copy_rows(const HeadTile& to, const T* from, std::uint64_t stride, unsigned begin,
                          unsigned end) {
    constexpr unsigned eights = head_size / 8;
#pragma unroll
    for (unsigned i = 0; i < attend_keys; i += attend_threads / eights) {
        const unsigned row = i + threadIdx.x / eights;
        const std::uint64_t clamped = lower_of(begin + row, end - 1);
        device::copy_async(to.at(row, threadIdx.x % eights),
                           from + clamped * stride + 8 * (threadIdx.x % eights));
    }
}

/// What a warp has found for its tile of queries. Lanes have the rows g and g + 8 of it, and of each eight numbers 2 t
/// and 2 t + 1, as matrix instructions lay out sums.
struct HeadSums {
    float sums[head_size / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY}; ///< of the scores before they are scaled
    float total[2] = {}; ///< this lane's part of the sum of exp(score - largest)
};

/// A tile of keys and values, of which `count` are real. `queries`: operands of matrix instructions.
template <class T>
__device__ void attend_tile(HeadSums& found, const unsigned (&queries)[4][4], const HeadTile& keys,
                            const HeadTile& values, unsigned count) {
    constexpr unsigned everybody = 0xffffffffU;
    constexpr float scale = score_scale * 1.44269504F; // log2(e)
    const unsigned lane = threadIdx.x % warp;
    constexpr unsigned eights = attend_keys / 8;
    float scores[eights][4] = {};
    const unsigned first_key = keys.at(lane % 8, lane / 8);
#pragma unroll
    for (unsigned n = 0; n < eights; ++n)
#pragma unroll
        for (unsigned c = 0; c < 2; ++c) {
            unsigned k[4];
            device::load_matrices(k, (first_key ^ 64 * c) + 8 * HeadTile::row_bytes * n);
            multiply<T>(scores[n], queries[2 * c], k);
            multiply<T>(scores[n], queries[2 * c + 1], k + 2);
        }
    if (count < attend_keys) {
#pragma unroll
        for (unsigned n = 0; n < eights; ++n)
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (8 * n + lane % 4 * 2 + i % 2 >= count) scores[n][i] = -INFINITY;
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        float most = found.largest[half];
#pragma unroll
        for (unsigned n = 0; n < eights; ++n)
            most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
        most = fmaxf(most, __shfl_xor_sync(everybody, most, 1));
        most = fmaxf(most, __shfl_xor_sync(everybody, most, 2));
        const float shift = -scale * most;
        const float factor = device::exp2_approximate(fmaf(scale, found.largest[half], shift));
        found.largest[half] = most;
        found.total[half] *= factor;
#pragma unroll
        for (unsigned n = 0; n < eights; ++n)
#pragma unroll
            for (unsigned i = 2 * half; i < 2 * half + 2; ++i) {
                scores[n][i] = device::exp2_approximate(fmaf(scale, scores[n][i], shift));
                found.total[half] += scores[n][i];
            }
#pragma unroll
        for (auto& sums : found.sums)
#pragma unroll
            for (unsigned i = 2 * half; i < 2 * half + 2; ++i) sums[i] *= factor;
    }
    const unsigned first_value = values.at(lane % 16, lane / 16);
#pragma unroll
    for (unsigned s = 0; s < eights / 2; ++s) {
        const float(&low)[4] = scores[2 * s];
        const float(&high)[4] = scores[2 * s + 1];
        const unsigned weights[4] = {pair_of<T>(low[0], low[1]), pair_of<T>(low[2], low[3]),
                                     pair_of<T>(high[0], high[1]), pair_of<T>(high[2], high[3])};
#pragma unroll
        for (unsigned j = 0; j < head_size / 16; ++j) {
            unsigned v[4];
            device::load_matrices<true>(v, (first_value ^ 32 * j) + 16 * HeadTile::row_bytes * s);
            multiply<T>(found.sums[2 * j], weights, v);
            multiply<T>(found.sums[2 * j + 1], weights, v + 2);
        }
    }
}

/// Queries of a head against all keys of its sequence. Warps have a tile of queries each, and share keys and values,
/// which are copied to shared memory while the tile before is used.
template <class T>
__global__ void __launch_bounds__(attend_threads, 4) attend_head(HeadsOf<T> of) {
    const unsigned begin = blockIdx.x % of.blocks_of_head() * attend_queries;
    const unsigned head = blockIdx.x / of.blocks_of_head() % of.heads;
    const std::uint64_t width = std::uint64_t{of.heads} * head_size;
    const std::uint64_t token =
        std::uint64_t{blockIdx.x / of.blocks_of_head() / of.heads} * of.length;
    const T* const from = of.qkv + token * 3 * width + head * head_size;
    auto* const memory = device::dynamic_shared<T>();
    const unsigned first = device::shared_address(memory);
    const auto keys = [&](unsigned at) {
        return HeadTile{first + (1 + 2 * (at / attend_keys % 2)) * HeadTile::bytes};
    };
    const auto values = [&](unsigned at) { return HeadTile{keys(at).first + HeadTile::bytes}; };
    const auto copy = [&](unsigned at) {
        if (at < of.length) {
            copy_rows(keys(at), from + width, 3 * width, at, of.length);
            copy_rows(values(at), from + 2 * width, 3 * width, at, of.length);
        }
        device::close_copies();
    };
    copy_rows(HeadTile{first}, from, 3 * width, begin, of.length);
    copy(0);
    copy(attend_keys);

    const unsigned lane = threadIdx.x % warp;
    const unsigned own = threadIdx.x / warp * tile; // rows of this warp
    const unsigned first_query = HeadTile{first}.at(own + lane % 16, lane / 16);
    HeadSums found;
    unsigned queries[4][4];
    device::wait_for_copies<1>(); // the last group is the next tile
    __syncthreads();
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) device::load_matrices(queries[c], first_query ^ 32 * c);
    for (unsigned at = 0; at < of.length; at += attend_keys) {
        device::wait_for_copies<1>();
        __syncthreads();
        attend_tile<T>(found, queries, keys(at), values(at), lower_of(of.length - at, attend_keys));
        __syncthreads(); // the tile has been used
        copy(at + 2 * attend_keys);
    }

    // Results of the warp take the place of its queries, so that whole rows are stored.
    T* const results = memory + own * head_size;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        float total = found.total[half];
        total += __shfl_xor_sync(0xffffffffU, total, 1);
        total += __shfl_xor_sync(0xffffffffU, total, 2);
        const float share = 1 / total;
        const unsigned row = lane / 4 + 8 * half;
#pragma unroll
        for (unsigned j = 0; j < head_size / 8; ++j)
            *reinterpret_cast<unsigned*>(results + row * head_size + (j ^ row) % 8 * 8 +
                                         lane % 4 * 2) =
                pair_of<T>(share * found.sums[j][2 * half], share * found.sums[j][2 * half + 1]);
    }
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < tile; i += warp / 8) {
        const unsigned row = i + lane / 8;
        const unsigned query = begin + own + row;
        if (query < of.length)
            *reinterpret_cast<Eight*>(of.results + (token + query) * width + head * head_size +
                                      lane % 8 * 8) =
                *reinterpret_cast<const Eight*>(results + row * head_size + (lane ^ row) % 8 * 8);
    }
}

// --- norms --------------------------------------------------------------------------------------------

/// Rows of `width` numbers.
template <class T>
struct NormOf {
    const T* from;
    const float* scales;
    const float* shifts;
    T* to;
    std::uint32_t rows;
    std::uint32_t width;
};

/// The sum over the warps of a row, in every thread of it.
template <unsigned warps>
__device__ float sum_of_row(float own) {
    for (unsigned distance = warp / 2; distance > 0; distance /= 2)
        own += __shfl_xor_sync(device::every_lane, own, distance);
    if constexpr (warps == 1) {
        return own;
    } else {
        __shared__ float sums[warps];
        __syncthreads(); // the sum before has been read
        if (device::lane() == 0) sums[device::warp()] = own;
        __syncthreads();
        float sum = 0;
        for (const float each : sums) sum += each;
        return sum;
    }
}

constexpr unsigned norm_warps = 4; // of a block, or those of one row

/// A row by `warps` warps, `packs` times eight numbers a thread, which stay in registers. Memory is read once.
template <class T, unsigned warps, unsigned packs>
__global__ void __launch_bounds__((warps > norm_warps ? warps : norm_warps) * warp)
    normalise(NormOf<T> of) {
    using Eight = device::Pack<T, 8>;
    using Four = device::Pack<float, 4>;
    constexpr unsigned threads = warps * warp; // of a row
    const unsigned row = blockIdx.x * (blockDim.x / threads) + threadIdx.x / threads;
    if (row >= of.rows) return; // whole warps, or no thread of the block
    const std::uint64_t first = std::uint64_t{row} * of.width;
    // Packs behind the row read its end and count nothing, so that all loads are on their way at once.
    unsigned columns[packs];
    float counts[packs];
    Eight eights[packs];
#pragma unroll
    for (unsigned p = 0; p < packs; ++p) {
        const unsigned column = 8 * (threads * p + threadIdx.x % threads);
        counts[p] = column < of.width ? 1 : 0;
        columns[p] = lower_of(column, of.width - 8);
        eights[p] = device::read_only(reinterpret_cast<const Eight*>(of.from + first + columns[p]));
    }
    float x[packs][8];
    float sum = 0;
#pragma unroll
    for (unsigned p = 0; p < packs; ++p) {
        float part = 0;
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) part += x[p][k] = static_cast<float>(eights[p].values[k]);
        sum = fmaf(counts[p], part, sum);
    }
    const auto count = static_cast<float>(of.width);
    const float mean = sum_of_row<warps>(sum) / count;
    float squares = 0;
#pragma unroll
    for (unsigned p = 0; p < packs; ++p) {
        float part = 0;
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            x[p][k] -= mean;
            part = fmaf(x[p][k], x[p][k], part);
        }
        squares = fmaf(counts[p], part, squares);
    }
    const float factor = 1 / sqrtf(sum_of_row<warps>(squares) / count + norm_epsilon);
#pragma unroll
    for (unsigned p = 0; p < packs; ++p) {
#pragma unroll
        for (unsigned half = 0; half < 8; half += 4) {
            const unsigned column = columns[p] + half;
            const auto scales =
                device::read_only(reinterpret_cast<const Four*>(of.scales + column));
            const auto shifts =
                device::read_only(reinterpret_cast<const Four*>(of.shifts + column));
#pragma unroll
            for (unsigned k = 0; k < 4; ++k)
                eights[p].values[half + k] = static_cast<T>(
                    fmaf(x[p][half + k] * factor, scales.values[k], shifts.values[k]));
        }
        if (counts[p] > 0) *reinterpret_cast<Eight*>(of.to + first + columns[p]) = eights[p];
    }
}

/// Queues it for rows of any width of a layer.
template <class T>
void queue_norm(const NormOf<T>& of, const device::Stream& stream) {
    const auto queue = [&]<unsigned warps, unsigned packs>() {
        constexpr unsigned rows = warps < norm_warps ? norm_warps / warps : 1; // of a block
        device::launch(normalise<T, warps, packs>,
                       {(of.rows + rows - 1) / rows, rows * warps * warp, stream.get()}, of);
    };
    if (of.width <= 8 * warp * 3) return queue.template operator()<1, 3>();
    if (of.width <= 8 * warp * 4) return queue.template operator()<1, 4>();
    if (of.width <= 8 * warp * 16) return queue.template operator()<4, 4>();
    return queue.template operator()<16, 8>();
}

} // namespace assay::workload
