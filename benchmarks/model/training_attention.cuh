// SPDX-License-Identifier: Apache-2.0
//
// Attention of a training step, forward and backward, by matrix instructions (Dao 2023, FlashAttention-2): scores are
// made again from queries, keys and the logarithm of each row's sum. The gradients of queries and those of keys and
// values are kernels of their own, so that every sum has one owner and nothing is added atomically: seven products of
// the size of scores instead of five. For .cu files.

#pragma once

#include "model/training_kernels.cuh"
#include "workload/device_attention_kernels.cuh"

namespace assay::model::training {

using workload::tile;

constexpr auto head_width = static_cast<unsigned>(workload::head_size);
constexpr unsigned attend_warps = 4;

/// Rows of tokens, with queries, keys and values side by side. Sums are [sequence][head][token].
template <class T>
struct Attention {
    const T* qkv;
    T* results;
    float* logarithms; ///< of sums of exp(score)
    std::uint32_t length;
    std::uint32_t heads;

    __device__ unsigned tiles() const { return length / tile; }
    ASSAY_HOST_DEVICE unsigned blocks_of_head() const {
        return (length / tile + attend_warps - 1) / attend_warps;
    }
    ASSAY_HOST_DEVICE std::uint64_t width() const { return std::uint64_t{heads} * head_width; }
};

/// The head of a block, and the block's place in it.
template <class T>
struct HeadPlace {
    explicit __device__ HeadPlace(const Attention<T>& of)
        : block{blockIdx.x % of.blocks_of_head()},
          head{blockIdx.x / of.blocks_of_head() % of.heads},
          first_token{std::uint64_t{blockIdx.x / of.blocks_of_head() / of.heads} * of.length},
          sums{std::uint64_t{blockIdx.x / of.blocks_of_head()} * of.length} {}
    /// 0: queries, 1: keys, 2: values.
    __device__ workload::Rows<T> part(const Attention<T>& of, unsigned which) const {
        return {of.qkv + first_token * 3 * of.width() + which * of.width() + head * head_width,
                3 * of.width()};
    }
    unsigned block;
    unsigned head;
    std::uint64_t first_token;
    std::uint64_t sums;
};

/// A lane's numbers of a tile of rows (Attended), times `share`, in rows of tokens.
template <class T>
__device__ void store_rows(T* to, std::uint64_t stride, const float (&sums)[head_width / 8][4],
                           const float (&share)[2]) {
    workload::each_eight<T>(sums, share, [&](unsigned row, unsigned number, const Eight<T>& eight) {
        store(to + row * stride + number, eight);
    });
}

/// A tile of queries by a warp. The longest come first.
template <class T, bool causal>
__global__ void __launch_bounds__(attend_warps* warp_lanes, 4) attend_forward(Attention<T> of) {
    const HeadPlace<T> place{of};
    const unsigned block = causal ? of.blocks_of_head() - 1 - place.block : place.block;
    const unsigned first = (block * attend_warps + device::warp()) * tile;
    if (first >= of.length) return;
    const auto found = workload::attend<T, head_width, causal>(
        place.part(of, 0), first, of.length, place.part(of, 1), place.part(of, 2), 0,
        causal ? first + tile : of.length, workload::score_scale);
    const float share[2] = {1 / found.total[0], 1 / found.total[1]};
    store_rows(of.results + (place.first_token + first) * of.width() + place.head * head_width,
               of.width(), found.sums, share);
    if (device::lane() % 4 != 0) return;
    for (unsigned half = 0; half < 2; ++half)
        of.logarithms[place.sums + first + device::lane() / 4 + 8 * half] =
            found.largest[half] + logf(found.total[half]);
}

template <class T>
struct AttentionGradient {
    Attention<T> forward;
    const T* of;  ///< gradients of results
    float* along; ///< each row's result times its gradient, which softmax subtracts
    T* to;        ///< as qkv
};

/// A tile of rows as the left side of products.
template <class T>
__device__ void load_left(unsigned (&to)[head_width / 16][4], const workload::Rows<T>& rows,
                          unsigned first) {
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
        for (unsigned c = 0; c < head_width / 32; ++c) {
            const workload::Eight eight = workload::load_eight(
                rows[first + device::lane() / 4 + 8 * half] + 32 * c + 8 * (device::lane() % 4));
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) to[2 * c + i / 2][half + 2 * (i % 2)] = eight.pairs[i];
        }
}
/// Row g times the same row of another tile, and row g + 8.
__device__ inline void multiply_rows(float (&to)[2], const unsigned (&a)[head_width / 16][4],
                                     const unsigned (&b)[head_width / 16][4]) {
    constexpr unsigned upper = 0xffff0000U; // of a pair in bf16
#pragma unroll
    for (unsigned k = 0; k < head_width / 16; ++k)
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            float& sum = to[i % 2];
            sum = fmaf(__uint_as_float(a[k][i] << 16U), __uint_as_float(b[k][i] << 16U), sum);
            sum = fmaf(__uint_as_float(a[k][i] & upper), __uint_as_float(b[k][i] & upper), sum);
        }
    for (float& sum : to)
        for (unsigned distance = 1; distance < 4; distance *= 2)
            sum += __shfl_xor_sync(device::every_lane, sum, distance);
}
/// to = left times rows [first, first + 16).
template <class T>
__device__ void multiply_across(float (&to)[2][4], const unsigned (&left)[head_width / 16][4],
                                const workload::Rows<T>& rows, unsigned first) {
#pragma unroll
    for (unsigned n = 0; n < 2; ++n)
#pragma unroll
        for (unsigned c = 0; c < head_width / 32; ++c) {
            const workload::Eight eight = workload::load_eight(
                rows[first + 8 * n + device::lane() / 4] + 32 * c + 8 * (device::lane() % 4));
            workload::multiply<T>(to[n], left[2 * c], eight.pairs);
            workload::multiply<T>(to[n], left[2 * c + 1], eight.pairs + 2);
        }
}
/// to += weights of 16 x 16 times rows [first, first + 16).
template <class T>
__device__ void multiply_along(float (&to)[head_width / 8][4], const float (&weights)[2][4],
                               const workload::Rows<T>& rows, unsigned first) {
    const unsigned left[4] = {workload::pair_of<T>(weights[0][0], weights[0][1]),
                              workload::pair_of<T>(weights[0][2], weights[0][3]),
                              workload::pair_of<T>(weights[1][0], weights[1][1]),
                              workload::pair_of<T>(weights[1][2], weights[1][3])};
    workload::Eight eights[4];
#pragma unroll
    for (unsigned n = 0; n < 4; ++n)
        eights[n] =
            workload::load_eight(rows[first + 8 * (n / 2) + 2 * (device::lane() % 4) + n % 2] +
                                 8 * (device::lane() / 4));
#pragma unroll
    for (unsigned j = 0; j < head_width / 8; ++j) {
        const unsigned i = j / 2;
        const bool upper = j % 2 != 0;
        const unsigned right[2] = {
            workload::pair_across(eights[0].pairs[i], eights[1].pairs[i], upper),
            workload::pair_across(eights[2].pairs[i], eights[3].pairs[i], upper)};
        workload::multiply<T>(to[j], left, right);
    }
}

/// A warp has a tile of queries and goes over keys, or a tile of keys and goes over queries. That of keys comes behind
/// the other one, which leaves `along`.
template <class T, bool has_keys, bool causal>
__global__ void __launch_bounds__(attend_warps* warp_lanes, has_keys ? 2 : 4)
    // NOLINTNEXTLINE(readability-function-cognitive-complexity): one kernel
    attend_backward(AttentionGradient<T> of) {
    constexpr float log2_e = 1.44269504F;
    const HeadPlace<T> place{of.forward};
    const unsigned blocks = of.forward.blocks_of_head();
    const unsigned block = causal && !has_keys ? blocks - 1 - place.block : place.block;
    const unsigned first = (block * attend_warps + device::warp()) * tile;
    if (first >= of.forward.length) return;
    const unsigned g = device::lane() / 4;
    const unsigned t = device::lane() % 4;
    const std::uint64_t width = of.forward.width();
    const std::uint64_t column = place.head * head_width;
    const workload::Rows<T> queries = place.part(of.forward, 0);
    const workload::Rows<T> keys = place.part(of.forward, 1);
    const workload::Rows<T> values = place.part(of.forward, 2);
    const workload::Rows<T> gradients{of.of + place.first_token * width + column, width};
    const float* const logarithms = of.forward.logarithms + place.sums;
    float* const along = of.along + place.sums;

    unsigned left[head_width / 16][4];
    unsigned left_of_gradient[head_width / 16][4];
    load_left(left, has_keys ? keys : queries, first);
    load_left(left_of_gradient, has_keys ? values : gradients, first);
    const workload::Rows<T>& others = has_keys ? queries : keys;
    const workload::Rows<T>& others_of_gradient = has_keys ? gradients : values;
    float logarithm[2][2] = {}; // of queries g and g + 8; or 2t and 2t + 1 of each eight
    float own_along[2][2] = {};
    if constexpr (!has_keys) {
        const workload::Rows<T> results{of.forward.results + place.first_token * width + column,
                                        width};
        unsigned found[head_width / 16][4];
        float sums_along[2] = {};
        load_left(found, results, first);
        multiply_rows(sums_along, found, left_of_gradient);
        for (unsigned half = 0; half < 2; ++half) {
            logarithm[half][0] = log2_e * logarithms[first + g + 8 * half];
            own_along[half][0] = sums_along[half];
            if (t == 0) along[first + g + 8 * half] = sums_along[half];
        }
    }
    float sums[head_width / 8][4] = {};       // gradient of queries, or of keys
    float value_sums[head_width / 8][4] = {}; // of values
    const unsigned begin = causal && has_keys ? first : 0;
    const unsigned end = causal && !has_keys ? first + tile : of.forward.length;
    for (unsigned at = begin; at < end; at += tile) {
        float scores[2][4] = {};
        float gradient[2][4] = {}; // of what softmax gives
        multiply_across(scores, left, others, at);
        multiply_across(gradient, left_of_gradient, others_of_gradient, at);
        if constexpr (has_keys)
#pragma unroll
            for (unsigned n = 0; n < 2; ++n) {
                const auto two = load<device::Pack<float, 2>>(logarithms + at + 8 * n + 2 * t);
                const auto two_along = load<device::Pack<float, 2>>(along + at + 8 * n + 2 * t);
                for (unsigned i = 0; i < 2; ++i) {
                    logarithm[n][i] = log2_e * two.values[i];
                    own_along[n][i] = two_along.values[i];
                }
            }
#pragma unroll
        for (unsigned n = 0; n < 2; ++n)
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned row = g + 8 * (i / 2);
                const unsigned other = 8 * n + 2 * t + i % 2;
                const unsigned which = has_keys ? n : i / 2;
                const unsigned of_two = has_keys ? i % 2 : 0;
                const bool is_later = has_keys ? row > other : other > row; // the key
                const float probability =
                    causal && at == first && is_later
                        ? 0
                        : exp2f(log2_e * workload::score_scale * scores[n][i] -
                                logarithm[which][of_two]);
                scores[n][i] = probability;
                gradient[n][i] = probability * (gradient[n][i] - own_along[which][of_two]);
            }
        if constexpr (has_keys) multiply_along(value_sums, scores, others_of_gradient, at);
        multiply_along(sums, gradient, others, at);
    }
    constexpr float scales[2] = {workload::score_scale, workload::score_scale};
    T* const to = of.to + (place.first_token + first) * 3 * width + column;
    store_rows(to + (has_keys ? width : 0), 3 * width, sums, scales);
    if constexpr (has_keys) {
        constexpr float ones[2] = {1, 1};
        store_rows(to + 2 * width, 3 * width, value_sums, ones);
    }
}

} // namespace assay::model::training
