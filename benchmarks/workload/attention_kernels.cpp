// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "workload/attention_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "attention_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace assay::workload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "workload/attention_load.inc"

/// Rows between two looks at the largest score.
constexpr std::size_t block = 64;

// Memory is read in one stream, row after row. Four rows side by side took 2.8 times as long where a
// row is 512 bytes: prefetchers lose track.

template <class T>
HWY_INLINE float score(const float* query, const T* key, std::size_t size) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Vector a = hn::Zero(d);
    Vector b = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= size; i += 2 * lanes) {
        a = hn::MulAdd(load(query + i), load(key + i), a);
        b = hn::MulAdd(load(query + i + lanes), load(key + i + lanes), b);
    }
    for (; i < size; i += lanes) a = hn::MulAdd(load(query + i), load(key + i), a);
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

/// Adds rows, each times its weight, to eight vectors of the result, which stay in registers meanwhile.
/// (No array: vectors of unknown length, as SVE has, fit into none.)
template <class T>
HWY_INLINE void add_eight(const float* weights, const T* values, std::size_t rows, std::size_t size,
                          float* result) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Vector a = load(result);
    Vector b = load(result + lanes);
    Vector c = load(result + 2 * lanes);
    Vector e = load(result + 3 * lanes);
    Vector f = load(result + 4 * lanes);
    Vector g = load(result + 5 * lanes);
    Vector h = load(result + 6 * lanes);
    Vector i = load(result + 7 * lanes);
    for (std::size_t row = 0; row < rows; ++row) {
        const Vector weight = hn::Set(d, weights[row]);
        const T* value = values + row * size;
        a = hn::MulAdd(weight, load(value), a);
        b = hn::MulAdd(weight, load(value + lanes), b);
        c = hn::MulAdd(weight, load(value + 2 * lanes), c);
        e = hn::MulAdd(weight, load(value + 3 * lanes), e);
        f = hn::MulAdd(weight, load(value + 4 * lanes), f);
        g = hn::MulAdd(weight, load(value + 5 * lanes), g);
        h = hn::MulAdd(weight, load(value + 6 * lanes), h);
        i = hn::MulAdd(weight, load(value + 7 * lanes), i);
    }
    hn::StoreU(a, d, result);
    hn::StoreU(b, d, result + lanes);
    hn::StoreU(c, d, result + 2 * lanes);
    hn::StoreU(e, d, result + 3 * lanes);
    hn::StoreU(f, d, result + 4 * lanes);
    hn::StoreU(g, d, result + 5 * lanes);
    hn::StoreU(h, d, result + 6 * lanes);
    hn::StoreU(i, d, result + 7 * lanes);
}

template <class T>
HWY_INLINE void add_one(const float* weights, const T* values, std::size_t rows, std::size_t size,
                        float* result) {
    const Floats d;
    Vector sum = load(result);
    for (std::size_t row = 0; row < rows; ++row)
        sum = hn::MulAdd(hn::Set(d, weights[row]), load(values + row * size), sum);
    hn::StoreU(sum, d, result);
}

template <class T>
HWY_INLINE void add_rows(const float* weights, const T* values, std::size_t rows, std::size_t size,
                         float* result) {
    const std::size_t lanes = hn::Lanes(Floats{});
    std::size_t i = 0;
    for (; i + 8 * lanes <= size; i += 8 * lanes)
        add_eight(weights, values + i, rows, size, result + i);
    for (; i < size; i += lanes) add_one(weights, values + i, rows, size, result + i);
}

HWY_INLINE void multiply(float* /*numbers*/, NoScales /*scales*/, std::size_t /*first*/,
                         std::size_t /*count*/) {}
HWY_INLINE void multiply(float* numbers, const float* scales, std::size_t first,
                         std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) numbers[i] *= scales[first + i];
}

/// Milakov and Gimelshein 2018: softmax in one pass. Sums made under a smaller maximum are scaled down when a
/// larger one comes.
template <class T, class Scales>
Attended attend_rows(const float* query, const T* keys, Scales key_scales, const T* values,
                     Scales value_scales, std::size_t rows, std::size_t size, float* result) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Attended state{.largest = -std::numeric_limits<float>::infinity(), .sum = 0};
    std::fill_n(result, size, 0.0F);
    HWY_ALIGN float scores[block]; // NOLINT(*-avoid-c-arrays): Highway's macro takes no other
    for (std::size_t first = 0; first < rows; first += block) {
        const std::size_t count = std::min(block, rows - first);
        for (std::size_t row = 0; row < count; ++row)
            scores[row] = score(query, keys + (first + row) * size, size);
        multiply(scores, key_scales, first, count);
        // Padding: exp() of it is zero.
        std::fill(scores + count, scores + block, -std::numeric_limits<float>::max());
        const float largest = std::max(state.largest, *std::max_element(scores, scores + count));
        if (largest > state.largest) {
            const float scale = std::exp(state.largest - largest);
            for (std::size_t i = 0; i < size; i += lanes)
                hn::StoreU(hn::Mul(load(result + i), hn::Set(d, scale)), d, result + i);
            state.sum *= scale;
            state.largest = largest;
        }
        Vector sum = hn::Zero(d);
        for (std::size_t i = 0; i < block; i += lanes) {
            const Vector weight = hn::Exp(d, hn::Sub(load(scores + i), hn::Set(d, largest)));
            hn::StoreU(weight, d, scores + i);
            sum = hn::Add(sum, weight);
        }
        state.sum += hn::GetLane(hn::SumOfLanes(d, sum));
        multiply(scores, value_scales, first, count);
        add_rows(scores, values + first * size, count, size, result);
    }
    return state;
}

Attended attend_fp32(const float* query, const float* keys, const float* values, std::size_t rows,
                     std::size_t size, float* result) {
    return attend_rows(query, keys, NoScales{}, values, NoScales{}, rows, size, result);
}
Attended attend_bf16(const float* query, const std::uint16_t* keys, const std::uint16_t* values,
                     std::size_t rows, std::size_t size, float* result) {
    return attend_rows(query, keys, NoScales{}, values, NoScales{}, rows, size, result);
}
Attended attend_int8(const float* query, const ScaledRows& keys, const ScaledRows& values,
                     std::size_t rows, std::size_t size, float* result) {
    return attend_rows(query, keys.numbers, keys.scales, values.numbers, values.scales, rows, size,
                       result);
}
const char* instructions() { return hwy::TargetName(HWY_TARGET); }

} // namespace
} // namespace assay::workload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::workload {

HWY_EXPORT(attend_fp32);
HWY_EXPORT(attend_bf16);
HWY_EXPORT(attend_int8);
HWY_EXPORT(instructions);

Attended attend(const float* query, const float* keys, const float* values, std::size_t rows,
                std::size_t size, float* result) {
    return HWY_DYNAMIC_DISPATCH(attend_fp32)(query, keys, values, rows, size, result);
}
Attended attend(const float* query, const std::uint16_t* keys, const std::uint16_t* values,
                std::size_t rows, std::size_t size, float* result) {
    return HWY_DYNAMIC_DISPATCH(attend_bf16)(query, keys, values, rows, size, result);
}
Attended attend(const float* query, const ScaledRows& keys, const ScaledRows& values,
                std::size_t rows, std::size_t size, float* result) {
    return HWY_DYNAMIC_DISPATCH(attend_int8)(query, keys, values, rows, size, result);
}
const char* attention_instructions() { return HWY_DYNAMIC_DISPATCH(instructions)(); }

} // namespace assay::workload
#endif
