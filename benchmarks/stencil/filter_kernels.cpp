// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/filter_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "filter_kernels.hpp"

#include "host/targets.hpp"

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace assay::stencil::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Stores stores, class D, class V, class T>
HWY_INLINE void put_pixels(V value, D d, T* to) {
    if constexpr (stores == Stores::streaming)
        hn::Stream(value, d, to);
    else
        hn::Store(value, d, to);
}

/// Two vectors of each of four rows: eight sums hide the latency of a multiply-add, and what is loaded of a row of
/// the image serves up to four rows of the result.
template <std::size_t side, class T, Stores stores>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): unrolled by the rows of a tile
HWY_INLINE void filter_tile(const T* HWY_RESTRICT weights, const T* in, std::size_t stride,
                            T* out) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    auto a0 = hn::Zero(d);
    auto b0 = hn::Zero(d);
    auto a1 = hn::Zero(d);
    auto b1 = hn::Zero(d);
    auto a2 = hn::Zero(d);
    auto b2 = hn::Zero(d);
    auto a3 = hn::Zero(d);
    auto b3 = hn::Zero(d);
    // Data for the next four rows comes from memory meanwhile, into the second-level cache,
    // and is asked for again two KiB before it is used: a request is dropped when too many
    // are on their way. Addresses behind the image do nothing.
    for (std::size_t y = 0; y < filter_data::rows_at_once; ++y)
        for (std::size_t x = 0; x < 2 * lanes; x += 64 / sizeof(T)) {
            __builtin_prefetch(in + (side + 3 + y) * stride + x, 0, 2); // for reading
            __builtin_prefetch(in + (side - 1 + y) * stride + x + 2048 / sizeof(T), 0, 2);
        }
    for (std::size_t dx = 0; dx < side; ++dx) {
        const T* row = in + dx;
        const T* const column = weights + dx;
        for (std::size_t y = 0; y < side + 3; ++y, row += stride) {
            const auto left = hn::LoadU(d, row);
            const auto right = hn::LoadU(d, row + lanes);
            if (y < side) {
                const auto w = hn::Set(d, column[y * side]);
                a0 = hn::MulAdd(w, left, a0);
                b0 = hn::MulAdd(w, right, b0);
            }
            if (y >= 1 && y < side + 1) {
                const auto w = hn::Set(d, column[(y - 1) * side]);
                a1 = hn::MulAdd(w, left, a1);
                b1 = hn::MulAdd(w, right, b1);
            }
            if (y >= 2 && y < side + 2) {
                const auto w = hn::Set(d, column[(y - 2) * side]);
                a2 = hn::MulAdd(w, left, a2);
                b2 = hn::MulAdd(w, right, b2);
            }
            if (y >= 3) {
                const auto w = hn::Set(d, column[(y - 3) * side]);
                a3 = hn::MulAdd(w, left, a3);
                b3 = hn::MulAdd(w, right, b3);
            }
        }
    }
    put_pixels<stores>(a0, d, out);
    put_pixels<stores>(b0, d, out + lanes);
    put_pixels<stores>(a1, d, out + stride);
    put_pixels<stores>(b1, d, out + stride + lanes);
    put_pixels<stores>(a2, d, out + 2 * stride);
    put_pixels<stores>(b2, d, out + 2 * stride + lanes);
    put_pixels<stores>(a3, d, out + 3 * stride);
    put_pixels<stores>(b3, d, out + 3 * stride + lanes);
}

template <std::size_t side, class T, Stores stores>
void filter(const filter_data::Image& image, const T* weights, const T* in, T* out,
            std::size_t first, std::size_t last) {
    const std::size_t step = 2 * hn::Lanes(hn::ScalableTag<T>{});
    const std::size_t stride = image.stride;
    for (std::size_t y = first; y < last; y += filter_data::rows_at_once)
        for (std::size_t x = 0; x < image.columns; x += step)
            filter_tile<side, T, stores>(weights, in + y * stride + x, stride,
                                         out + y * stride + x);
    if constexpr (stores == Stores::streaming) hwy::FlushStream();
}

template <class T, Stores stores>
Filter<T> filter_of(Side side) {
    switch (side) {
    case Side::three:
        return &filter<3, T, stores>;
    case Side::five:
        return &filter<5, T, stores>;
    default:
        return &filter<7, T, stores>;
    }
}

} // namespace
} // namespace assay::stencil::HWY_NAMESPACE

namespace assay::stencil {

template <class T>
void add_filters(host::Target<HWY_TARGET> target, Side side, std::vector<FilterSweep<T>>& to) {
    to.push_back({target.name, Stores::plain, HWY_NAMESPACE::filter_of<T, Stores::plain>(side)});
    to.push_back(
        {target.name, Stores::streaming, HWY_NAMESPACE::filter_of<T, Stores::streaming>(side)});
}

} // namespace assay::stencil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::stencil {

template <class T>
std::vector<FilterSweep<T>> filter_sweeps(Side side) {
    std::vector<FilterSweep<T>> sweeps;
    host::for_each_supported_target([&](auto target) { add_filters(target, side, sweeps); });
    return sweeps;
}

template std::vector<FilterSweep<double>> filter_sweeps(Side side);
template std::vector<FilterSweep<float>> filter_sweeps(Side side);

} // namespace assay::stencil
#endif
