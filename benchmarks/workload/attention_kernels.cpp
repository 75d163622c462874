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

// Sixteen lanes at most, so that every vector length divides the size of a head.
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats{}, from); }
HWY_INLINE Vector load(const std::uint16_t* from) {
    const hn::Rebind<std::uint16_t, Floats> half;
    const hn::Rebind<std::uint32_t, Floats> whole;
    return hn::BitCast(Floats{}, hn::ShiftLeft<16>(hn::PromoteTo(whole, hn::LoadU(half, from))));
}

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

template <class T>
HWY_INLINE void add_row(float weight, const T* value, std::size_t size, float* result) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    const Vector w = hn::Set(d, weight);
    for (std::size_t i = 0; i < size; i += lanes)
        hn::StoreU(hn::MulAdd(w, load(value + i), load(result + i)), d, result + i);
}

/// Milakov and Gimelshein 2018: softmax in one pass. What was added under a smaller maximum is scaled
/// down when a larger one comes.
template <class T>
Attended attend_rows(const float* query, const T* keys, const T* values, std::size_t rows,
                     std::size_t size, float* result) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Attended state{.largest = -std::numeric_limits<float>::infinity(), .sum = 0};
    std::fill_n(result, size, 0.0F);
    HWY_ALIGN float scores[block]; // NOLINT(*-avoid-c-arrays): Highway's macro takes no other
    for (std::size_t first = 0; first < rows; first += block) {
        const std::size_t count = std::min(block, rows - first);
        for (std::size_t row = 0; row < count; ++row)
            scores[row] = score(query, keys + (first + row) * size, size);
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
        for (std::size_t row = 0; row < count; ++row)
            add_row(scores[row], values + (first + row) * size, size, result);
    }
    return state;
}

Attended attend_fp32(const float* query, const float* keys, const float* values, std::size_t rows,
                     std::size_t size, float* result) {
    return attend_rows(query, keys, values, rows, size, result);
}
Attended attend_bf16(const float* query, const std::uint16_t* keys, const std::uint16_t* values,
                     std::size_t rows, std::size_t size, float* result) {
    return attend_rows(query, keys, values, rows, size, result);
}
const char* instructions() { return hwy::TargetName(HWY_TARGET); }

} // namespace
} // namespace assay::workload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::workload {

HWY_EXPORT(attend_fp32);
HWY_EXPORT(attend_bf16);
HWY_EXPORT(instructions);

Attended attend(const float* query, const float* keys, const float* values, std::size_t rows,
                std::size_t size, float* result) {
    return HWY_DYNAMIC_DISPATCH(attend_fp32)(query, keys, values, rows, size, result);
}
Attended attend(const float* query, const std::uint16_t* keys, const std::uint16_t* values,
                std::size_t rows, std::size_t size, float* result) {
    return HWY_DYNAMIC_DISPATCH(attend_bf16)(query, keys, values, rows, size, result);
}
const char* attention_instructions() { return HWY_DYNAMIC_DISPATCH(instructions)(); }

} // namespace assay::workload
#endif
