// SPDX-License-Identifier: Apache-2.0
//
// The kernels of workload.attention on devices: parts of the context by matrix instructions, and what joins them.

#pragma once

#include "device/instructions.cuh"
#include "device/pack.hpp"
#include "workload/device_attention_data.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace assay::workload {

/// Numbers that a lane loads at once: eight neighbouring ones, in pairs.
struct alignas(16) Eight {
    unsigned pairs[4];
};
template <class T>
__device__ Eight load_eight(const T* from) {
    return device::read_only(reinterpret_cast<const Eight*>(from));
}

template <class T>
__device__ unsigned pair_of(float low, float high) {
    unsigned bits = 0;
    if constexpr (is_bf16<T>) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): two halves
        memcpy(&bits, &pair, sizeof bits);
    } else {
        const __half2 pair = __floats2half2_rn(low, high);
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): likewise
        memcpy(&bits, &pair, sizeof bits);
    }
    return bits;
}
/// Numbers of fp8 as bf16, which holds them exactly.
__device__ inline Eight load_eight(const __nv_fp8_e4m3* from) {
    const auto bits = device::read_only(reinterpret_cast<const unsigned long long*>(from));
    Eight eight{};
    for (unsigned i = 0; i < 4; ++i) {
        __nv_fp8x2_e4m3 pair;
        pair.__x = static_cast<__nv_fp8x2_storage_t>(bits >> (16 * i));
        const auto wide = static_cast<float2>(pair);
        eight.pairs[i] = pair_of<__nv_bfloat16>(wide.x, wide.y);
    }
    return eight;
}
__device__ inline unsigned lower_of(unsigned a, unsigned b) { return a < b ? a : b; }
/// One number of each of two pairs: the lower ones, or the upper ones.
__device__ inline unsigned pair_across(unsigned a, unsigned b, bool upper) {
    return upper ? (a >> 16U) | (b & 0xffff0000U) : (a & 0xffffU) | (b << 16U);
}
template <class T>
__device__ void multiply(float* sums, const unsigned* a, const unsigned* b) {
    device::multiply_add<is_bf16<T> ? device::Mma::m16n8k16_bf16 : device::Mma::m16n8k16_fp16>(
        sums, a, b);
}

constexpr unsigned tile =
    16; // rows of a matrix instruction: queries; and keys that a warp takes at once
constexpr unsigned warp = 32;

/// C: the type of the cache; fp8 with queries in bf16.
template <class T, class C = T>
struct Decode {
    const T* queries;
    const C* keys;
    const C* values;
    // Results of each part: a tile of queries against some of the keys.
    float* sums;
    float2* states; ///< largest score, sum of exp(score - largest)
    std::uint32_t group;
    std::uint32_t context;
    std::uint32_t span;    ///< keys of a part
    float score_scale = 1; ///< of queries times keys
    float value_scale = 1;
    ASSAY_HOST_DEVICE std::uint32_t splits() const { return (context + span - 1) / span; }
    ASSAY_HOST_DEVICE std::uint32_t tiles() const { return (group + tile - 1) / tile; }
};

/// Numbers of keys of a part that are worth trying: more parts fill the device, fewer have less to join.
template <class T>
std::vector<std::uint32_t> spans_of(const Decode<T>& of, std::size_t stretches,
                                    int multiprocessors) {
    const std::size_t tiles = stretches * of.tiles();
    std::vector<std::uint32_t> spans;
    for (const std::size_t warps : {64U, 32U, 16U, 8U}) { // of a multiprocessor
        const std::size_t splits = warps * static_cast<std::size_t>(multiprocessors) / tiles + 1;
        const auto keys = static_cast<std::uint32_t>((of.context / splits + tile) / tile * tile);
        if (spans.empty() || spans.back() != keys) spans.push_back(keys);
    }
    return spans;
}

/// A lane's numbers of a tile of queries: in the rows g and g + 8, the numbers 64 (j / 8) + 8 (2 t + i) + j % 8.
template <unsigned size>
struct Attended {
    float sums[size / 8][4] = {};              ///< [j][2 half + i]
    float largest[2] = {-INFINITY, -INFINITY}; ///< score
    float total[2] = {};                       ///< of exp(score - largest)
};
/// Rows of queries, keys and values; neighbours are `stride` numbers apart.
template <class T>
struct Rows {
    const T* first;
    std::uint64_t stride;
    const __device__ T* operator[](std::uint64_t row) const { return first + row * stride; }
};

/// A tile of queries, rows of [first_query, end_query), against the keys [first, last), by one warp. Scores are `scale`
/// times queries times keys, 16 x 16, and stay in the registers that the product with the values takes them from. Of
/// both sides of a product the numbers may be in any order: it is the one in which a lane's 16 bytes are what an
/// instruction wants. `causal`: query i attends to the keys up to i, the others are behind `last`.
template <class T, unsigned size, bool causal = false, class C = T>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one kernel
__device__ Attended<size> attend(const Rows<T>& all_queries, unsigned first_query,
                                 unsigned end_query, const Rows<C>& keys, const Rows<C>& values,
                                 unsigned first, unsigned last, float scale) {
    constexpr unsigned everybody = 0xffffffffU;
    const unsigned g = threadIdx.x % warp / 4; // a row: a query, or a key
    const unsigned t = threadIdx.x % 4;

    unsigned queries[size / 16][4];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
        for (unsigned c = 0; c < size / 32; ++c) {
            const unsigned query = first_query + g + 8 * half;
            Eight eight{};
            if (query < end_query) eight = load_eight(all_queries[query] + 32 * c + 8 * t);
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                queries[2 * c + i / 2][half + 2 * (i % 2)] = eight.pairs[i];
        }

    const auto end_of = [&](unsigned half) { // of the keys of a query
        return causal ? lower_of(first_query + g + 8 * half + 1, last) : last;
    };
    Attended<size> found;
    for (unsigned at = first; at < last; at += tile) {
        // Everything is asked for before anything is used.
        Eight k[2][size / 32];
        Eight v[4][size / 64];
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 32; ++c) {
                const std::uint64_t row = lower_of(at + 8 * n + g, last - 1);
                k[n][c] = load_eight(keys[row] + 32 * c + 8 * t);
            }
#pragma unroll
        for (unsigned n = 0; n < 4; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 64; ++c) {
                const std::uint64_t row = lower_of(at + 8 * (n / 2) + 2 * t + n % 2, last - 1);
                v[n][c] = load_eight(values[row] + 64 * c + 8 * g);
            }
        float scores[2][4] = {}; // of queries g and g + 8, and keys 2t and 2t + 1 of each eight
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 32; ++c) {
                multiply<T>(scores[n], queries[2 * c], k[n][c].pairs);
                multiply<T>(scores[n], queries[2 * c + 1], k[n][c].pairs + 2);
            }
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                scores[n][i] =
                    at + 8 * n + 2 * t + i % 2 >= end_of(i / 2) ? -INFINITY : scale * scores[n][i];
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            float most = found.largest[half];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) most = fmaxf(most, scores[i / 2][2 * half + i % 2]);
            most = fmaxf(most, __shfl_xor_sync(everybody, most, 1));
            most = fmaxf(most, __shfl_xor_sync(everybody, most, 2));
            const float scale = expf(found.largest[half] - most);
            found.largest[half] = most;
            found.total[half] *= scale;
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                float& score = scores[i / 2][2 * half + i % 2];
                score = expf(score - most);
                found.total[half] += score;
            }
#pragma unroll
            for (unsigned j = 0; j < size / 8; ++j) {
                found.sums[j][2 * half] *= scale;
                found.sums[j][2 * half + 1] *= scale;
            }
        }
        const unsigned weights[4] = {
            pair_of<T>(scores[0][0], scores[0][1]), pair_of<T>(scores[0][2], scores[0][3]),
            pair_of<T>(scores[1][0], scores[1][1]), pair_of<T>(scores[1][2], scores[1][3])};
#pragma unroll
        for (unsigned j = 0; j < size / 8; ++j) {
            const unsigned c = j / 8;
            const unsigned i = j % 8 / 2;
            const bool upper = j % 2 != 0;
            const unsigned pairs[2] = {pair_across(v[0][c].pairs[i], v[1][c].pairs[i], upper),
                                       pair_across(v[2][c].pairs[i], v[3][c].pairs[i], upper)};
            multiply<T>(found.sums[j], weights, pairs);
        }
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) { // until here over this lane's keys
        found.total[half] += __shfl_xor_sync(everybody, found.total[half], 1);
        found.total[half] += __shfl_xor_sync(everybody, found.total[half], 2);
    }
    return found;
}

/// A lane's numbers of a tile of rows (Attended), times each row's share, eight neighbours at a time: put(row of the tile,
/// the first number, the eight).
template <class T, unsigned parts, class Put>
__device__ void each_eight(const float (&sums)[parts][4], const float (&share)[2], const Put& put) {
    const unsigned g = threadIdx.x % warp / 4;
    const unsigned t = threadIdx.x % 4;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
        for (unsigned c = 0; c < parts / 8; ++c)
#pragma unroll
            for (unsigned i = 0; i < 2; ++i) {
                device::Pack<T, 8> eight;
#pragma unroll
                for (unsigned j = 0; j < 8; ++j)
                    eight.values[j] = static_cast<T>(share[half] * sums[8 * c + j][2 * half + i]);
                put(g + 8 * half, 64 * c + 8 * (2 * t + i), eight);
            }
}

/// A tile of queries of one group against `span` keys, by one warp.
template <class T, unsigned size, class C = T>
__global__ void __launch_bounds__(warp) attend_part(Decode<T, C> of) {
    const unsigned g = threadIdx.x / 4;
    const unsigned t = threadIdx.x % 4;
    const std::uint64_t stretch = blockIdx.x / of.splits() / of.tiles();
    const unsigned first_query = blockIdx.x / of.splits() % of.tiles() * tile;
    const unsigned first = blockIdx.x % of.splits() * of.span;
    const std::uint64_t cached = stretch * of.context * size;
    const Attended<size> found =
        attend<T, size, false, C>({of.queries + stretch * of.group * size, size}, first_query,
                                  of.group, {of.keys + cached, size}, {of.values + cached, size},
                                  first, lower_of(first + of.span, of.context), of.score_scale);
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        const std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * tile + g + 8 * half;
        if (first_query + g + 8 * half >= of.group) continue;
#pragma unroll
        for (unsigned j = 0; j < size / 8; ++j)
#pragma unroll
            for (unsigned i = 0; i < 2; ++i)
                of.sums[row * size + 64 * (j / 8) + 8 * (2 * t + i) + j % 8] =
                    found.sums[j][2 * half + i];
        if (t == 0) of.states[row] = {found.largest[half], found.total[half]};
    }
}

template <class Result>
__device__ void store_at(Result* results, std::uint64_t at, float value) {
    results[at] = static_cast<Result>(value);
}

/// The parts of a query, by a block with a thread for each number. store_at(results, at, value) says where it is kept.
template <class T, class Results, class C = T>
__global__ void join_parts(Decode<T, C> of, Results results) {
    const std::uint64_t stretch = blockIdx.x / of.group;
    const unsigned query = blockIdx.x % of.group;
    const std::uint64_t first = (stretch * of.tiles() + query / tile) * of.splits();
    float largest = -INFINITY;
    for (unsigned part = 0; part < of.splits(); ++part)
        largest = fmaxf(largest, of.states[(first + part) * tile + query % tile].x);
    float sum = 0;
    float total = 0;
    for (unsigned part = 0; part < of.splits(); ++part) {
        const std::uint64_t row = (first + part) * tile + query % tile;
        const float weight = expf(of.states[row].x - largest);
        total = fmaf(weight, of.states[row].y, total);
        sum = fmaf(weight, of.sums[row * blockDim.x + threadIdx.x], sum);
    }
    store_at(results, static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
             of.value_scale * (sum / total));
}

} // namespace assay::workload
