// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/window_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "window_kernels.hpp"

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

template <class T>
void add_loops(const char* instructions, std::vector<WindowLoop<T>>& to) {
    const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>{});
    to.push_back({.instructions = instructions,
                  .target = HWY_TARGET,
                  .lanes = lanes,
                  .stores = Stores::plain,
                  .average = &average<T, Stores::plain>});
    to.push_back({.instructions = instructions,
                  .target = HWY_TARGET,
                  .lanes = lanes,
                  .stores = Stores::streaming,
                  .average = &average<T, Stores::streaming>});
}

} // namespace assay::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::stencil {

template <class T>
std::vector<WindowLoop<T>> window_loops() {
    std::vector<WindowLoop<T>> loops;
    const std::int64_t supported = hwy::SupportedTargets();
    // Every set's code by its own name, where HWY_EXPORT would give the best one's alone. Asked for
    // its lanes, a set's code runs: only those that this CPU has.
#if HWY_TARGETS & HWY_EMU128
    N_EMU128::add_loops("scalar", loops);
#endif
#if HWY_TARGETS & HWY_SSE4
    if ((supported & HWY_SSE4) != 0) N_SSE4::add_loops("sse4", loops);
#endif
#if HWY_TARGETS & HWY_AVX2
    if ((supported & HWY_AVX2) != 0) N_AVX2::add_loops("avx2", loops);
#endif
#if HWY_TARGETS & HWY_AVX3
    if ((supported & HWY_AVX3) != 0) N_AVX3::add_loops("avx512", loops);
#endif
#if HWY_TARGETS & HWY_NEON
    if ((supported & HWY_NEON) != 0) N_NEON::add_loops("neon", loops);
#endif
#if HWY_TARGETS & HWY_SVE
    if ((supported & HWY_SVE) != 0) N_SVE::add_loops("sve", loops);
#endif
#if HWY_TARGETS & HWY_SVE2
    if ((supported & HWY_SVE2) != 0) N_SVE2::add_loops("sve2", loops);
#endif
    // The scalar code stands in where there is nothing else.
    if (!loops.empty() && loops.back().target != HWY_EMU128)
        std::erase_if(loops, [](const auto& loop) { return loop.target == HWY_EMU128; });
    return loops;
}

template std::vector<WindowLoop<double>> window_loops();
template std::vector<WindowLoop<float>> window_loops();

} // namespace assay::stencil
#endif
