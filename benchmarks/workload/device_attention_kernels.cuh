// SPDX-License-Identifier: Apache-2.0
//
// Attention on devices: a tile of queries against keys and values, by a warp with matrix instructions.

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

namespace assay::workload {

/// Numbers that a lane loads at once: eight neighbouring ones, in pairs.
struct alignas(16) Eight {
    unsigned pairs[4];
};

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
/// Eight numbers as they lie in memory.
template <class C>
using Stored = std::conditional_t<sizeof(C) == 1, unsigned long long, Eight>;
__device__ inline Eight eight_of(const Eight& stored) { return stored; }
/// Numbers of fp8 as bf16, which holds them exactly.
__device__ inline Eight eight_of(unsigned long long stored) {
    Eight eight{};
    for (unsigned i = 0; i < 4; ++i) {
        __nv_fp8x2_e4m3 pair;
        pair.__x = static_cast<__nv_fp8x2_storage_t>(stored >> (16 * i));
        const auto wide = static_cast<float2>(pair);
        eight.pairs[i] = pair_of<__nv_bfloat16>(wide.x, wide.y);
    }
    return eight;
}
template <class C>
__device__ Eight load_eight(const C* from) {
    return eight_of(device::read_only(reinterpret_cast<const Stored<C>*>(from)));
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

/// Keys and values as attend() takes them: by each lane from memory, a tile's before any is used.
template <class C, unsigned size>
struct FromMemory {
    Rows<C> keys;
    Rows<C> values;
    unsigned last;
    Eight k[2][size / 32];
    Eight v[4][size / 64];

    __device__ void begin(unsigned /*first*/) {}
    __device__ void turn_to_keys(unsigned at) {
        const unsigned g = threadIdx.x % warp / 4;
        const unsigned t = threadIdx.x % 4;
        const unsigned end = last - 1;
#pragma unroll
        for (unsigned n = 0; n < 2; ++n) {
            const C* const row = keys[lower_of(at + 8 * n + g, end)] + 8 * t;
#pragma unroll
            for (unsigned c = 0; c < size / 32; ++c) k[n][c] = load_eight(row + 32 * c);
        }
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
            const C* const row = values[lower_of(at + 8 * (n / 2) + 2 * t + n % 2, end)] + 8 * g;
#pragma unroll
            for (unsigned c = 0; c < size / 64; ++c) v[n][c] = load_eight(row + 64 * c);
        }
    }
    __device__ void turn_to_values(unsigned /*at*/) {}
    /// The numbers 32 c + 8 t of key 8 n + g of the tile.
    const __device__ Eight& key(unsigned n, unsigned c) const { return k[n][c]; }
    /// The numbers 64 c + 8 g of value 8 (n / 2) + 2 t + n % 2.
    const __device__ Eight& value(unsigned n, unsigned c) const { return v[n][c]; }
};

/// A tile of queries, rows of [first_query, end_query), against the keys [first, last), by one warp. Scores are `scale`
/// times queries times keys, 16 x 16, and stay in the registers that the product with the values takes them from. Of
/// both sides of a product the numbers may be in any order: it is the one in which a lane's 16 bytes are what an
/// instruction wants. `causal`: query i attends to the keys up to i, the others are behind `last`.
template <class T, unsigned size, bool causal, class Source>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one kernel
__device__ Attended<size> attend_to(const Rows<T>& all_queries, unsigned first_query,
                                    unsigned end_query, Source from, unsigned first, unsigned last,
                                    float scale) {
    constexpr unsigned everybody = 0xffffffffU;
    const unsigned g = threadIdx.x % warp / 4; // a row: a query, or a key
    const unsigned t = threadIdx.x % 4;

    from.begin(first);
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
        from.turn_to_keys(at);
        float scores[2][4] = {}; // of queries g and g + 8, and keys 2t and 2t + 1 of each eight
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 32; ++c) {
                const Eight key = from.key(n, c);
                multiply<T>(scores[n], queries[2 * c], key.pairs);
                multiply<T>(scores[n], queries[2 * c + 1], key.pairs + 2);
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
        from.turn_to_values(at);
#pragma unroll
        for (unsigned c = 0; c < size / 64; ++c) {
            Eight v[4];
#pragma unroll
            for (unsigned n = 0; n < 4; ++n) v[n] = from.value(n, c);
#pragma unroll
            for (unsigned j = 0; j < 8; ++j) {
                const bool upper = j % 2 != 0;
                const unsigned pairs[2] = {
                    pair_across(v[0].pairs[j / 2], v[1].pairs[j / 2], upper),
                    pair_across(v[2].pairs[j / 2], v[3].pairs[j / 2], upper)};
                multiply<T>(found.sums[8 * c + j], weights, pairs);
            }
        }
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) { // until here over this lane's keys
        found.total[half] += __shfl_xor_sync(everybody, found.total[half], 1);
        found.total[half] += __shfl_xor_sync(everybody, found.total[half], 2);
    }
    return found;
}
template <class T, unsigned size, bool causal = false, class C = T>
__device__ Attended<size> attend(const Rows<T>& queries, unsigned first_query, unsigned end_query,
                                 const Rows<C>& keys, const Rows<C>& values, unsigned first,
                                 unsigned last, float scale) {
    return attend_to<T, size, causal>(queries, first_query, end_query,
                                      FromMemory<C, size>{keys, values, last, {}, {}}, first, last,
                                      scale);
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

} // namespace assay::workload
