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
#include "lanes.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

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

/// The sum of `count` elements, in every lane; reads on to the end of a vector.
template <class D, class T>
HWY_INLINE auto sum_of(D d, const T* in, std::size_t count) {
    const std::size_t lanes = hn::Lanes(d);
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
        even = hn::Add(even, hn::LoadU(d, in + i));
        odd = hn::Add(odd, hn::LoadU(d, in + i + lanes));
    }
    for (; i < count; i += lanes)
        odd = hn::Add(odd, hn::IfThenElseZero(hn::FirstN(d, std::min(lanes, count - i)),
                                              hn::LoadU(d, in + i)));
    return hn::SumOfLanes(d, hn::Add(even, odd));
}

/// A vector of sums at a time: what comes in less what leaves, added up from lane to lane in log2(lanes) steps within
/// registers, and on top of it the sum where the vector begins.
template <class T, Stores stores>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a step for each power of two
void average_long(const T* in, T* out, std::size_t first, std::size_t last, std::size_t window) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto share = hn::Set(d, T{1} / static_cast<T>(window));
    const auto turn = [&](std::size_t by) HWY_ATTR {
        return hn::SetTableIndices(d, rotation<T>(lanes, lanes - by % lanes).data());
    };
    const auto by_1 = turn(1); // The longest vectors have 64 lanes.
    const auto by_2 = turn(2);
    const auto by_4 = turn(4);
    const auto by_8 = turn(8);
    const auto by_16 = turn(16);
    const auto by_32 = turn(32);
    const hn::RebindToSigned<hn::ScalableTag<T>> index;
    const auto last_lane =
        hn::IndicesFromVec(d, hn::Set(index, static_cast<hn::TFromD<decltype(index)>>(lanes - 1)));
    // Each lane goes `reach` further on; there are zeros before the first.
    const auto moved = [&](auto v, auto table, std::size_t reach) HWY_ATTR {
        return hn::IfThenElseZero(hn::Not(hn::FirstN(d, reach)), hn::TableLookupLanes(v, table));
    };
    const std::size_t block = window_block<T>(window);
    for (std::size_t start = first; start < last; start += block) {
        const std::size_t end = std::min(start + block, last);
        auto sum = sum_of(d, in + start, window);
        for (std::size_t i = start; i < end; i += lanes) {
            // Twice, because a request is dropped when too many are on their way. Addresses behind the series do
            // nothing.
            if (begins_line<T>(i)) {
                const T* const next = in + i + window;
                __builtin_prefetch(next + 8192 / sizeof(T), 0, 2); // for the second-level cache
                __builtin_prefetch(next + 2048 / sizeof(T), 0, 2);
            }
            auto change = hn::Sub(hn::LoadU(d, in + i + window), hn::Load(d, in + i));
            if (lanes > 1) change = hn::Add(change, moved(change, by_1, 1));
            if (lanes > 2) change = hn::Add(change, moved(change, by_2, 2));
            if (lanes > 4) change = hn::Add(change, moved(change, by_4, 4));
            if (lanes > 8) change = hn::Add(change, moved(change, by_8, 8));
            if (lanes > 16) change = hn::Add(change, moved(change, by_16, 16));
            if (lanes > 32) change = hn::Add(change, moved(change, by_32, 32));
            put<stores>(hn::Mul(share, hn::Add(sum, moved(change, by_1, 1))), d, out + i);
            sum = hn::Add(sum, hn::TableLookupLanes(change, last_lane));
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
