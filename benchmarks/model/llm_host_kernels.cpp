// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/llm_host_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "llm_host_kernels.hpp"

#include "../workload/transformer_data.hpp"

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace assay::model::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "workload/attention_load.inc"

HWY_INLINE void store(Vector value, float* to) { hn::StoreU(value, Floats{}, to); }
/// To the nearest bf16, to even between two.
HWY_INLINE void store(Vector value, std::uint16_t* to) {
    const hn::Rebind<std::uint32_t, Floats> words;
    const hn::Rebind<std::int32_t, Floats> integers;
    const hn::Rebind<std::uint16_t, Floats> halves;
    const auto bits = hn::BitCast(words, value);
    const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(words, 0x7fff)), is_odd);
    hn::StoreU(hn::DemoteTo(halves, hn::BitCast(integers, hn::ShiftRight<16>(rounded))), halves,
               to);
}

/// One over the root of the mean square.
template <class T>
float inverse_size(const T* in, std::size_t count) {
    const Floats d;
    Vector sum = hn::Zero(d);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d))
        sum = hn::MulAdd(load(in + i), load(in + i), sum);
    const double squares = hn::GetLane(hn::SumOfLanes(d, sum));
    return static_cast<float>(
        1 / std::sqrt(squares / static_cast<double>(count) + workload::norm_epsilon));
}

template <class T>
void norm(const T* in, const float* scales, std::size_t count, T* out) {
    const Floats d;
    const Vector factor = hn::Set(d, inverse_size(in, count));
    for (std::size_t i = 0; i < count; i += hn::Lanes(d))
        store(hn::Mul(hn::Mul(load(in + i), factor), load(scales + i)), out + i);
}

template <class T>
void gate(const T* gates, const T* ups, std::size_t count, T* out) {
    const Floats d;
    const Vector one = hn::Set(d, 1.0F);
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
        const Vector x = load(gates + i);
        const Vector power = hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0F))); // finite
        store(hn::Mul(hn::Div(x, hn::Add(one, power)), load(ups + i)), out + i);
    }
}

template <class T>
void turn(const T* in, const float* scales, const float* cosines, const float* sines, float factor,
          std::size_t half, T* out) {
    const Floats d;
    const float size = scales == nullptr ? 1 : inverse_size(in, 2 * half);
    const auto number = [&](std::size_t i) HWY_ATTR {
        const Vector plain = load(in + i);
        return scales == nullptr ? plain
                                 : hn::Mul(hn::Mul(plain, hn::Set(d, size)), load(scales + i));
    };
    const Vector all = hn::Set(d, factor);
    for (std::size_t i = 0; i < half; i += hn::Lanes(d)) {
        const Vector low = number(i);
        const Vector high = number(i + half);
        const Vector c = load(cosines + i);
        const Vector s = load(sines + i);
        store(hn::Mul(all, hn::Sub(hn::Mul(low, c), hn::Mul(high, s))), out + i);
        store(hn::Mul(all, hn::MulAdd(high, c, hn::Mul(low, s))), out + i + half);
    }
}

template <class From, class To>
void convert(const From* in, std::size_t count, To* out) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(Floats{})) store(load(in + i), out + i);
}

template <class T>
std::int64_t greatest(const T* in, std::size_t count) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Vector most = hn::Set(d, -std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < count; i += lanes) most = hn::Max(load(in + i), most);
    most = hn::MaxOfLanes(d, most);
    for (std::size_t i = 0; i < count; i += lanes) {
        const auto lane = hn::FindFirstTrue(d, hn::Eq(load(in + i), most));
        if (lane >= 0) return static_cast<std::int64_t>(i) + lane;
    }
    return -1;
}

template <class T>
LlmRows<T> rows_of() {
    return {norm<T>, gate<T>, turn<T>, convert<T, float>, convert<float, T>, greatest<T>};
}
LlmRows<float> rows_fp32() { return rows_of<float>(); }
LlmRows<std::uint16_t> rows_bf16() { return rows_of<std::uint16_t>(); }

} // namespace
} // namespace assay::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::model {

HWY_EXPORT(rows_fp32);
HWY_EXPORT(rows_bf16);

template <>
LlmRows<float> llm_rows<float>() {
    return HWY_DYNAMIC_DISPATCH(rows_fp32)();
}
template <>
LlmRows<std::uint16_t> llm_rows<std::uint16_t>() {
    return HWY_DYNAMIC_DISPATCH(rows_bf16)();
}

} // namespace assay::model
#endif
