// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/window_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "window_kernels.hpp"

#include "host/targets.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>

HWY_BEFORE_NAMESPACE();
namespace assay::stencil::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Stores stores, class D, class V, class T>
HWY_INLINE void put(V value, D d, T* to) {
    if constexpr (stores == Stores::streaming)
        hn::Stream(value, d, to);
    else
        hn::Store(value, d, to);
}

/// Sums of the windows that begin at `in` and the elements behind it. Four at once hide the latency of
/// the addition.
template <class D, class T>
HWY_INLINE auto sums(D d, const T* in, std::size_t window) {
    auto sum0 = hn::LoadU(d, in);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    std::size_t i = 1;
    for (; i + 4 <= window; i += 4) {
        sum0 = hn::Add(sum0, hn::LoadU(d, in + i));
        sum1 = hn::Add(sum1, hn::LoadU(d, in + i + 1));
        sum2 = hn::Add(sum2, hn::LoadU(d, in + i + 2));
        sum3 = hn::Add(sum3, hn::LoadU(d, in + i + 3));
    }
    for (; i < window; ++i) sum0 = hn::Add(sum0, hn::LoadU(d, in + i));
    return hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
}

template <class T, Stores stores>
void average_short(const T* in, T* out, std::size_t first, std::size_t last, std::size_t window) {
    const hn::ScalableTag<T> d;
    const auto share = hn::Set(d, T{1} / static_cast<T>(window));
    for (std::size_t i = first; i < last; i += hn::Lanes(d))
        put<stores>(hn::Mul(share, sums(d, in + i, window)), d, out + i);
}

/// How the sums change over the next vector: for each of `count` elements the sum over a vector's
/// length of what comes in less what leaves. Doubling adds up log2(lanes) times.
template <class T>
HWY_INLINE void changes(const T* in, std::size_t window, std::size_t count, T* to) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t end = count + lanes;
    // Memory is asked while the sums of the part before are made, for the second-level cache; addresses
    // behind the series do nothing.
    constexpr std::size_t ahead = 16384 / sizeof(T);
    for (std::size_t i = 0; i < end; i += lanes) {
        __builtin_prefetch(in + i + window + ahead, 0,
                           2); // for reading, locality of the second level
        hn::StoreU(hn::Sub(hn::LoadU(d, in + i + window), hn::LoadU(d, in + i)), d, to + i);
    }
    // In place from the front: what is read ahead is of the level before.
    for (std::size_t reach = 1; reach < lanes; reach *= 2)
        for (std::size_t i = 0; i < end; i += lanes)
            hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, to + i + reach)), d, to + i);
}

template <class T, Stores stores>
void average_long(const T* in, T* out, std::size_t first, std::size_t last, std::size_t window) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto share = hn::Set(d, T{1} / static_cast<T>(window));
    constexpr std::size_t at_once = 1024; // changes: 4 or 8 KiB stay in the first-level cache
    std::array<T, at_once + window_margin<T>> change{};
    const std::size_t block = window_block<T>(window);
    for (std::size_t start = first; start < last; start += block) {
        const std::size_t end = std::min(start + block, last);
        auto sum = sums(d, in + start, window);
        put<stores>(hn::Mul(share, sum), d, out + start);
        for (std::size_t i = start; i + lanes < end; i += at_once) {
            const std::size_t count = std::min(at_once, end - lanes - i);
            changes(in + i, window, count, change.data());
            for (std::size_t k = 0; k < count; k += lanes) {
                sum = hn::Add(sum, hn::LoadU(d, change.data() + k));
                put<stores>(hn::Mul(share, sum), d, out + i + k + lanes);
            }
        }
    }
}

template <class T, Stores stores>
void average(const T* in, T* out, std::size_t first, std::size_t last, std::size_t window) {
    if (window <= longest_direct)
        average_short<T, stores>(in, out, first, last, window);
    else
        average_long<T, stores>(in, out, first, last, window);
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
}

} // namespace
} // namespace assay::stencil::HWY_NAMESPACE

namespace assay::stencil {

template <class T>
void add_loops(host::Target<HWY_TARGET> target, std::vector<WindowLoop<T>>& to) {
    using namespace HWY_NAMESPACE;
    const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>{});
    to.push_back({target.name, lanes, Stores::plain, &average<T, Stores::plain>});
    to.push_back({target.name, lanes, Stores::streaming, &average<T, Stores::streaming>});
}

} // namespace assay::stencil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::stencil {

template <class T>
std::vector<WindowLoop<T>> window_loops() {
    std::vector<WindowLoop<T>> loops;
    // Asked for its lanes, a set's code runs: only those that this CPU has.
    host::for_each_supported_target([&](auto target) { add_loops(target, loops); });
    return loops;
}

template std::vector<WindowLoop<double>> window_loops();
template std::vector<WindowLoop<float>> window_loops();

} // namespace assay::stencil
#endif
