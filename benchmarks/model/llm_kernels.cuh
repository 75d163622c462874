// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a language model between its products, and the product of few tokens. For .cu files.

#pragma once

#include "device/benchmark.cuh"
#include "device/pack.hpp"
#include "workload/device_decoding_kernels.cuh"

#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace assay::model {

using workload::lower_of;
using workload::tile;
using workload::warp;

template <class T>
using Eight = device::Pack<T, 8>;
/// Rows of a multiple of eight numbers.
template <class T>
ASSAY_HOST_DEVICE const Eight<T>* in_eights(const T* numbers) {
    return reinterpret_cast<const Eight<T>*>(numbers);
}
template <class T>
ASSAY_HOST_DEVICE Eight<T>* in_eights(T* numbers) {
    return reinterpret_cast<Eight<T>*>(numbers);
}

using E4m3 = __nv_fp8_e4m3;

/// Where a kernel stores: in T, and that times a power of two in fp8, each where it is wanted.
template <class T>
struct Results {
    T* wide = nullptr;
    E4m3* narrow = nullptr;
    float scale = 1;

    ASSAY_HOST_DEVICE void put(std::uint64_t at, float value) const {
        const T rounded = static_cast<T>(value);
        if (wide != nullptr) wide[at] = rounded;
        if (narrow != nullptr) narrow[at] = E4m3{scale * static_cast<float>(rounded)};
    }
    ASSAY_HOST_DEVICE void put(std::uint64_t at, const Eight<T>& eight) const {
        if (wide != nullptr) *in_eights(wide + at) = eight;
        if (narrow == nullptr) return;
        Eight<E4m3> few;
        for (unsigned k = 0; k < 8; ++k)
            few.values[k] = E4m3{scale * static_cast<float>(eight.values[k])};
        *in_eights(narrow + at) = few;
    }
};
/// Called by attend_part().
template <class T>
__device__ void store_at(const Results<T>& results, std::uint64_t at,
                         const workload::Four& values) {
    for (unsigned k = 0; k < 4; ++k) results.put(at + k, values.values[k]);
}

/// Numbers of fp8, from those before they are scaled and rounded.
struct InFp8 {
    device::Uniform<float> from;
    float scale;
    ASSAY_HOST_DEVICE E4m3 operator()(std::uint64_t i) const { return E4m3{scale * from(i)}; }
};

/// Rows of the table, one for each token; `packs` of a row.
template <class T>
struct Embed {
    const std::int32_t* tokens;
    const T* table;
    T* to;
    std::uint64_t packs;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const auto token = static_cast<std::uint64_t>(tokens[i / packs]);
        in_eights(to)[i] = device::read_only(in_eights(table) + token * packs + i % packs);
    }
};

constexpr unsigned norm_threads = 256;

/// x / sqrt(mean of squares + epsilon) scale: row `step` i + `first` of the input by block i.
template <class T>
__global__ void __launch_bounds__(norm_threads)
    rms_norm(const T* from, const float* scales, Results<T> to, std::uint32_t width,
             std::uint32_t step, std::uint32_t first) {
    __shared__ float sums[norm_threads / warp];
    const T* const row = from + (static_cast<std::uint64_t>(blockIdx.x) * step + first) * width;
    const std::uint64_t result = static_cast<std::uint64_t>(blockIdx.x) * width;
    float squares = 0;
    for (unsigned i = 8 * threadIdx.x; i < width; i += 8 * norm_threads) {
        const Eight<T> eight = device::read_only(in_eights(row + i));
        for (const T& number : eight.values) {
            const auto x = static_cast<float>(number);
            squares = fmaf(x, x, squares);
        }
    }
    squares = device::sum_of_warp(squares);
    if (device::lane() == 0) sums[device::warp()] = squares;
    __syncthreads();
    float sum = 0;
    for (const float each : sums) sum += each;
    const float factor = 1 / sqrtf(sum / static_cast<float>(width) + workload::norm_epsilon);
    for (unsigned i = 8 * threadIdx.x; i < width; i += 8 * norm_threads) { // from the first level
        Eight<T> eight = device::read_only(in_eights(row + i));
        for (unsigned k = 0; k < 8; ++k)
            eight.values[k] =
                static_cast<T>(static_cast<float>(eight.values[k]) * factor * scales[i + k]);
        to.put(result + i, eight);
    }
}

/// The projection of each token: queries are turned and scaled, keys turned and cached, values cached.
template <class T>
struct Rotate {
    const T* qkv;
    T* queries;
    Results<T> keys; ///< [sequence][head][position]
    Results<T> values;
    const float2* turns;       ///< cos and sin, [new token of a sequence][pair]
    const float* query_scales; ///< of a norm of each head; null: heads are not normalised
    const float* key_scales;
    float score_scale;
    std::uint32_t heads;
    std::uint32_t key_heads;
    std::uint32_t size; ///< of a head
    std::uint32_t context;
    std::uint32_t new_tokens; ///< of a sequence
    std::uint64_t tokens;

    ASSAY_HOST_DEVICE std::uint32_t all_heads() const { return heads + 2 * key_heads; }
    /// Where a new token's row of a key head lies.
    ASSAY_HOST_DEVICE std::uint64_t cached_at(std::uint64_t token, std::uint32_t head) const {
        const std::uint64_t sequence = token / new_tokens;
        const std::uint64_t position = context - new_tokens + token % new_tokens;
        return ((sequence * key_heads + head) * context + position) * size;
    }
};
constexpr unsigned rotate_warps = 8;

/// A head of a token by a warp.
template <class T>
__global__ void __launch_bounds__(rotate_warps* warp) rotate_heads(Rotate<T> of) {
    const std::uint64_t row =
        static_cast<std::uint64_t>(blockIdx.x) * rotate_warps + device::warp();
    const std::uint64_t token = row / of.all_heads();
    const auto head = static_cast<std::uint32_t>(row % of.all_heads());
    if (token >= of.tokens) return;
    const T* const from = of.qkv + row * of.size;
    const unsigned lane = device::lane();
    if (head >= of.heads + of.key_heads) {
        const std::uint64_t at = of.cached_at(token, head - of.heads - of.key_heads);
        for (unsigned i = lane; i < of.size; i += warp)
            of.values.put(at + i, static_cast<float>(from[i]));
        return;
    }
    const bool is_query = head < of.heads;
    const float* const scales = is_query ? of.query_scales : of.key_scales;
    float factor = 1;
    if (scales != nullptr) {
        float squares = 0;
        for (unsigned i = lane; i < of.size; i += warp) {
            const auto x = static_cast<float>(from[i]);
            squares = fmaf(x, x, squares);
        }
        for (unsigned distance = warp / 2; distance > 0; distance /= 2)
            squares += __shfl_xor_sync(device::every_lane, squares, distance);
        factor = 1 / sqrtf(squares / static_cast<float>(of.size) + workload::norm_epsilon);
    }
    const unsigned half = of.size / 2;
    const Results<T> to = is_query ? Results<T>{of.queries} : of.keys;
    const std::uint64_t at =
        is_query ? (token * of.heads + head) * of.size : of.cached_at(token, head - of.heads);
    for (unsigned i = lane; i < half; i += warp) {
        const float2 turn = of.turns[token % of.new_tokens * half + i];
        float low = static_cast<float>(from[i]);
        float high = static_cast<float>(from[i + half]);
        if (scales != nullptr) {
            low *= factor * scales[i];
            high *= factor * scales[i + half];
        }
        const float scale = is_query ? of.score_scale : 1;
        to.put(at + i, scale * (low * turn.x - high * turn.y));
        to.put(at + i + half, scale * (high * turn.x + low * turn.y));
    }
}

/// NaN in the new rows of a cache: number i of all new tokens and key heads.
template <class T>
struct PoisonCache {
    Rotate<T> of;
    Results<T> cache;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const std::uint64_t row = i / of.size;
        const auto head = static_cast<std::uint32_t>(row % of.key_heads);
        cache.put(of.cached_at(row / of.key_heads, head) + i % of.size, NAN);
    }
};

constexpr unsigned attend_warps = 4;

/// A prompt: a tile of queries of a head by a warp, against the keys before them. The longest come first.
template <class T, unsigned size>
__global__ void __launch_bounds__(attend_warps* warp)
    attend_prompt(const T* queries, const T* keys, const T* values, Results<T> results,
                  std::uint32_t length, std::uint32_t heads, std::uint32_t group) {
    const unsigned tiles = (length + tile - 1) / tile;
    const unsigned blocks = (tiles + attend_warps - 1) / attend_warps; // of a head
    const unsigned reversed = blocks - 1 - blockIdx.x % blocks;
    const unsigned first = (reversed * attend_warps + device::warp()) * tile;
    if (first >= length) return;
    const unsigned head = blockIdx.x / blocks % heads;
    const std::uint64_t sequence = blockIdx.x / blocks / heads;
    const std::uint64_t width = static_cast<std::uint64_t>(heads) * size;
    const std::uint64_t cached = (sequence * (heads / group) + head / group) * length * size;
    const std::uint64_t start = sequence * length * width + head * size;
    const unsigned end = lower_of(first + tile, length);
    const workload::Attended<size> found =
        workload::attend<T, size, true>({queries + start, width}, first, length,
                                        {keys + cached, size}, {values + cached, size}, 0, end, 1);
    const unsigned g = device::lane() / 4;
    const unsigned t = device::lane() % 4;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        const unsigned query = first + g + 8 * half;
        if (query >= length) continue;
        const std::uint64_t to = start + query * width;
        const float share = 1 / found.total[half];
#pragma unroll
        for (unsigned c = 0; c < size / 64; ++c)
#pragma unroll
            for (unsigned i = 0; i < 2; ++i) {
                Eight<T> eight;
#pragma unroll
                for (unsigned j = 0; j < 8; ++j)
                    eight.values[j] = static_cast<T>(share * found.sums[8 * c + j][2 * half + i]);
                results.put(to + 64 * c + 8 * (2 * t + i), eight);
            }
    }
}

/// SiLU of the gates times what they pass, in rows of both; `packs` of either.
template <class T>
struct Gate {
    const T* gate_up;
    Results<T> to;
    std::uint64_t packs;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const Eight<T>* const row = in_eights(gate_up) + i / packs * 2 * packs + i % packs;
        Eight<T> gates = device::read_only(row);
        const Eight<T> ups = device::read_only(row + packs);
        for (unsigned k = 0; k < 8; ++k) {
            const auto gate = static_cast<float>(gates.values[k]);
            const auto up = static_cast<float>(ups.values[k]);
            gates.values[k] = static_cast<T>(gate / (1 + expf(-gate)) * up);
        }
        to.put(8 * i, gates);
    }
};

constexpr unsigned choose_threads = 512;

/// The greatest score of each row, the first of equal ones, by a block.
template <class T>
__global__ void __launch_bounds__(choose_threads)
    choose(const T* scores, std::int32_t* chosen, std::uint32_t count) {
    __shared__ float best_scores[choose_threads];
    __shared__ std::uint32_t best_places[choose_threads];
    const T* const row = scores + static_cast<std::uint64_t>(blockIdx.x) * count;
    float best = -INFINITY;
    std::uint32_t place = 0;
    for (std::uint32_t i = 8 * threadIdx.x; i < count; i += 8 * choose_threads) {
        const Eight<T> eight = device::read_only(in_eights(row + i));
        for (unsigned k = 0; k < 8; ++k) {
            const auto score = static_cast<float>(eight.values[k]);
            if (score > best) {
                best = score;
                place = i + k;
            }
        }
    }
    best_scores[threadIdx.x] = best;
    best_places[threadIdx.x] = place;
    for (unsigned others = choose_threads / 2; others > 0; others /= 2) {
        __syncthreads();
        if (threadIdx.x >= others) continue;
        const unsigned other = threadIdx.x + others;
        const bool is_better = best_scores[other] > best_scores[threadIdx.x] ||
                               (best_scores[other] == best_scores[threadIdx.x] &&
                                best_places[other] < best_places[threadIdx.x]);
        if (is_better) {
            best_scores[threadIdx.x] = best_scores[other];
            best_places[threadIdx.x] = best_places[other];
        }
    }
    if (threadIdx.x == 0) chosen[blockIdx.x] = static_cast<std::int32_t>(best_places[0]);
}

// --- the product of few tokens ---------------------------------------------------------------------------------------

constexpr unsigned most_row_tokens = 4;
constexpr unsigned row_warps = 4;
constexpr unsigned rows_of_warp = 2;

/// Weights and inputs are of one type, T or fp8.
template <class T>
struct RowProduct {
    const void* weights; ///< a row of inputs for each output
    const void* from;    ///< a row for each token
    const T* added;      ///< laid out as the results, or null
    T* to;
    std::uint32_t inputs; ///< a multiple of 16 bytes
    std::uint32_t outputs;
    float scale; ///< of the sums, before anything is added
};

template <class In, unsigned count>
__device__ void widen(const device::Pack<In, count>& from, float* to) {
    if constexpr (std::is_same_v<In, E4m3>) { // two at a time, as instructions do
#pragma unroll
        for (unsigned k = 0; k < count; k += 2) {
            __nv_fp8x2_e4m3 pair;
            pair.__x = static_cast<__nv_fp8x2_storage_t>(from.values[k].__x | from.values[k + 1].__x
                                                                                  << 8U);
            const auto wide = static_cast<float2>(pair);
            to[k] = wide.x;
            to[k + 1] = wide.y;
        }
    } else {
#pragma unroll
        for (unsigned k = 0; k < count; ++k) to[k] = static_cast<float>(from.values[k]);
    }
}

/// Weights are read once, by a warp for two outputs, and used for all tokens, whose inputs come from the first level.
template <class In, class T, unsigned tokens>
__global__ void __launch_bounds__(row_warps* warp) multiply_rows(RowProduct<T> of) {
    constexpr unsigned of_pack = 16 / sizeof(In);
    using Some = device::Pack<In, of_pack>;
    const std::uint64_t first =
        (static_cast<std::uint64_t>(blockIdx.x) * row_warps + device::warp()) * rows_of_warp;
    if (first >= of.outputs) return;
    const Some* rows[rows_of_warp];
#pragma unroll
    for (unsigned r = 0; r < rows_of_warp; ++r) // the last one twice
        rows[r] = static_cast<const Some*>(of.weights) +
                  (first + r < of.outputs ? first + r : first) * (of.inputs / of_pack);
    float sums[rows_of_warp][tokens] = {};
    const unsigned packs = of.inputs / of_pack;
#pragma unroll 2
    for (unsigned i = device::lane(); i < packs; i += warp) {
        float weights[rows_of_warp][of_pack];
        Some packed[rows_of_warp];
#pragma unroll
        for (unsigned r = 0; r < rows_of_warp; ++r) packed[r] = device::read_only(rows[r] + i);
#pragma unroll
        for (unsigned r = 0; r < rows_of_warp; ++r) widen(packed[r], weights[r]);
#pragma unroll
        for (unsigned token = 0; token < tokens; ++token) {
            float x[of_pack];
            widen(device::read_only(static_cast<const Some*>(of.from) + token * packs + i), x);
#pragma unroll
            for (unsigned k = 0; k < of_pack; ++k)
#pragma unroll
                for (unsigned r = 0; r < rows_of_warp; ++r)
                    sums[r][token] = fmaf(weights[r][k], x[k], sums[r][token]);
        }
    }
#pragma unroll
    for (unsigned r = 0; r < rows_of_warp; ++r)
#pragma unroll
        for (unsigned token = 0; token < tokens; ++token) {
            const float sum = of.scale * device::sum_of_warp(sums[r][token]);
            const std::uint64_t at = static_cast<std::uint64_t>(token) * of.outputs + first + r;
            if (device::lane() != 0 || first + r >= of.outputs) continue;
            of.to[at] =
                static_cast<T>(of.added == nullptr ? sum : sum + static_cast<float>(of.added[at]));
        }
}

template <class In, class T>
void queue_rows(const RowProduct<T>& of, std::int64_t tokens, const device::Stream& stream) {
    constexpr unsigned of_block = row_warps * rows_of_warp;
    const device::Launch how{(of.outputs + of_block - 1) / of_block, row_warps * warp,
                             stream.get()};
    if (tokens == 1) return device::launch(multiply_rows<In, T, 1>, how, of);
    if (tokens == 2) return device::launch(multiply_rows<In, T, 2>, how, of);
    if (tokens == 3) return device::launch(multiply_rows<In, T, 3>, how, of);
    device::launch(multiply_rows<In, T, 4>, how, of);
}

} // namespace assay::model
