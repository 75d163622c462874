// SPDX-License-Identifier: Apache-2.0
//
// The kernels of workload.attention on devices: parts of the context by matrix instructions, and what joins them.

#pragma once

#include "device/instructions.cuh"
#include "device/pack.hpp"
#include "workload/device_attention_data.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace assay::workload {

/// What a lane loads at once: eight neighbouring numbers, in pairs.
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
        memcpy(&bits, &pair, sizeof bits);
    } else {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof bits);
    }
    return bits;
}
__device__ unsigned lower_of(unsigned a, unsigned b) { return a < b ? a : b; }
/// One number of each of two pairs: the lower ones, or the upper ones.
__device__ unsigned pair_across(unsigned a, unsigned b, bool upper) {
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

template <class T>
struct Decode {
    const T* queries;
    const T* keys;
    const T* values;
    // Of each part: a tile of queries against some of the keys.
    float* sums;
    float2* states; ///< largest score, sum of exp(score - largest)
    std::uint32_t group;
    std::uint32_t context;
    std::uint32_t span; ///< keys of a part
    ASSAY_HOST_DEVICE std::uint32_t splits() const { return (context + span - 1) / span; }
    ASSAY_HOST_DEVICE std::uint32_t tiles() const { return (group + tile - 1) / tile; }
};

/// A tile of queries of one group against `span` keys, by one warp. Scores are queries times keys, 16 x 16, and stay in the
/// registers that the product with the values takes them from. Of both sides of a product the numbers may be in any order:
/// it is the one in which a lane's 16 bytes are what an instruction wants.
template <class T, unsigned size>
__global__ void __launch_bounds__(warp) attend_part(Decode<T> of) {
    constexpr unsigned everybody = 0xffffffffU;
    const unsigned g = threadIdx.x / 4; // a row: a query, or a key
    const unsigned t = threadIdx.x % 4;
    const std::uint64_t stretch = blockIdx.x / of.splits() / of.tiles();
    const unsigned first_query = blockIdx.x / of.splits() % of.tiles() * tile;
    const T* const keys = of.keys + stretch * of.context * size;
    const T* const values = of.values + stretch * of.context * size;

    unsigned queries[size / 16][4];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
        for (unsigned c = 0; c < size / 32; ++c) {
            const unsigned query = first_query + g + 8 * half;
            Eight eight{};
            if (query < of.group)
                eight =
                    load_eight(of.queries + (stretch * of.group + query) * size + 32 * c + 8 * t);
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                queries[2 * c + i / 2][half + 2 * (i % 2)] = eight.pairs[i];
        }

    float sums[size / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY}; // of the queries g and g + 8
    float total[2] = {};                       // over this lane's keys
    const unsigned first = blockIdx.x % of.splits() * of.span;
    const unsigned last = lower_of(first + of.span, of.context);
    for (unsigned at = first; at < last; at += tile) {
        // Everything is asked for before anything is used.
        Eight k[2][size / 32];
        Eight v[4][size / 64];
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 32; ++c) {
                const std::uint64_t row = lower_of(at + 8 * n + g, last - 1);
                k[n][c] = load_eight(keys + row * size + 32 * c + 8 * t);
            }
#pragma unroll
        for (unsigned n = 0; n < 4; ++n)
#pragma unroll
            for (unsigned c = 0; c < size / 64; ++c) {
                const std::uint64_t row = lower_of(at + 8 * (n / 2) + 2 * t + n % 2, last - 1);
                v[n][c] = load_eight(values + row * size + 64 * c + 8 * g);
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
                if (at + 8 * n + 2 * t + i % 2 >= last) scores[n][i] = -INFINITY;
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            float most = largest[half];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) most = fmaxf(most, scores[i / 2][2 * half + i % 2]);
            most = fmaxf(most, __shfl_xor_sync(everybody, most, 1));
            most = fmaxf(most, __shfl_xor_sync(everybody, most, 2));
            const float scale = expf(largest[half] - most);
            largest[half] = most;
            total[half] *= scale;
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                float& score = scores[i / 2][2 * half + i % 2];
                score = expf(score - most);
                total[half] += score;
            }
#pragma unroll
            for (unsigned j = 0; j < size / 8; ++j) {
                sums[j][2 * half] *= scale;
                sums[j][2 * half + 1] *= scale;
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
            multiply<T>(sums[j], weights, pairs);
        }
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        total[half] += __shfl_xor_sync(everybody, total[half], 1);
        total[half] += __shfl_xor_sync(everybody, total[half], 2);
        const std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * tile + g + 8 * half;
        if (first_query + g + 8 * half >= of.group) continue;
#pragma unroll
        for (unsigned j = 0; j < size / 8; ++j)
#pragma unroll
            for (unsigned i = 0; i < 2; ++i)
                of.sums[row * size + 64 * (j / 8) + 8 * (2 * t + i) + j % 8] =
                    sums[j][2 * half + i];
        if (t == 0) of.states[row] = {largest[half], total[half]};
    }
}

/// The parts of a query, by a block with a thread for each number.
template <class T>
__global__ void join_parts(Decode<T> of, float* results) {
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
    results[static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum / total;
}

} // namespace assay::workload
