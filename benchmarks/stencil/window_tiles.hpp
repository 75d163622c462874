// SPDX-License-Identifier: Apache-2.0
//
// Moving averages as blocks of threads of a device compute them. Short windows are added up directly.
// For longer ones a block adds up the first window of its tile, and from there on it moves by what comes in
// less what leaves: each thread has a few neighbouring differences, and a prefix sum over the block gives
// the sum of every window. Tiles are at least four windows long, so that the effort does not depend on
// the length, and start anew, so that rounding errors do not pile up.
//
// Plain functions, which a unit test on the host runs for all threads; only the prefix sum is the device's.

#pragma once

#include "device/pack.hpp"
#include "stencil/window_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::stencil {

struct WindowShape {
    unsigned threads; ///< of a block
    unsigned items;   ///< means that a thread makes at once
};

/// 16 or 32 bytes of the series for each thread.
inline std::vector<WindowShape> window_shapes(std::size_t element_size) {
    std::vector<WindowShape> shapes;
    for (const unsigned bytes : {16U, 32U})
        for (const unsigned threads : {256U, 128U, 512U})
            shapes.push_back({threads, static_cast<unsigned>(bytes / element_size)});
    return shapes;
}

/// Elements of a series are a multiple of this, and so of what any thread makes at once.
template <class T>
inline constexpr std::size_t window_granule = 512 / sizeof(T);

/// How often a block goes on before it starts anew.
inline std::size_t window_steps(const WindowShape& shape, std::size_t window) {
    if (window <= longest_direct) return 1;
    const std::size_t at_once = std::size_t{shape.threads} * shape.items;
    return std::max<std::size_t>((4 * window + at_once - 1) / at_once, 1);
}

inline unsigned window_blocks(const WindowShape& shape, std::size_t window, std::size_t count) {
    const std::size_t tile = std::size_t{shape.threads} * shape.items * window_steps(shape, window);
    return static_cast<unsigned>((count + tile - 1) / tile);
}

/// Largest relative error for data between `low` and `high`, both positive, in units of u. The sum over
/// a contiguous run of m differences is the difference of two windows' sums: at most min(m, w)
/// (high - low), which is what each addition rounds.
inline double window_error(const WindowShape& shape, std::size_t window, double low, double high) {
    const auto w = static_cast<double>(window);
    if (window <= longest_direct) return w - 1 + 3; // and two roundings of the mean, one of 1/w
    const double threads = shape.threads;
    const double items = shape.items;
    const double warps = threads / 32;
    const double warp_levels = 5;
    const auto steps = static_cast<double>(window_steps(shape, window));
    const double means = threads * items * steps;
    const double span = high - low;
    // The first window: each thread's share, the warps, the block. Then once for every step, and twice
    // for a mean, a sum of the size of a window.
    const double of_sums = (std::ceil(w / threads) + warp_levels + warps + steps + 2) * w * high;
    // A rounding for each difference, and sums of up to `items` within threads. At each level of the
    // prefix sum of a warp there are means/m sums of m differences.
    const double of_differences = means * (1 + std::min(items, w) + warp_levels) * span;
    const double of_warps = steps * warps * std::min(threads * items, w) * span;
    return (of_sums + of_differences + of_warps) / (w * low) + 3;
}

template <class T>
struct WindowTask {
    const T* in;
    T* out;
    std::size_t count; ///< means
    std::size_t window;
    T inverse; ///< 1 / window

    /// The part that one of so many threads adds to the sum of the window at `first`.
    ASSAY_HOST_DEVICE T share(std::size_t first, unsigned thread, unsigned threads) const {
        T sum = 0;
        for (std::size_t i = thread; i < window; i += threads)
            sum += device::read_only(in + first + i);
        return sum;
    }
    /// `items` means from `at` on, each added up by itself.
    template <unsigned items>
    ASSAY_HOST_DEVICE void direct(std::size_t at) const {
        if (at >= count) return;
        device::Pack<T, items> sums{};
        for (std::size_t i = 0; i < window + items - 1; ++i) {
            const T value = device::read_only(in + at + i);
            for (unsigned mean = 0; mean < items; ++mean)
                if (i >= mean && i < mean + window) sums.values[mean] += value;
        }
        write<items>(at, sums);
    }
    /// By how much the sums of the windows from `at` on exceed that of the window at `at`: none for
    /// the first, and the last one of `items`+1 is what all of them come to.
    template <unsigned items>
    struct Rise {
        T values[items + 1];
    };
    template <unsigned items>
    ASSAY_HOST_DEVICE Rise<items> rise(std::size_t at) const {
        Rise<items> rise{};
        if (at >= count) return rise;
        for (unsigned i = 0; i < items; ++i)
            rise.values[i + 1] = rise.values[i] + (device::read_only(in + at + i + window) -
                                                   device::read_only(in + at + i));
        return rise;
    }
    /// `sum` is that of the window at `at`.
    template <unsigned items>
    ASSAY_HOST_DEVICE void finish(std::size_t at, T sum, const Rise<items>& rise) const {
        if (at >= count) return;
        device::Pack<T, items> sums;
        for (unsigned i = 0; i < items; ++i) sums.values[i] = sum + rise.values[i];
        write<items>(at, sums);
    }

private:
    template <unsigned items>
    ASSAY_HOST_DEVICE void write(std::size_t at, const device::Pack<T, items>& sums) const {
        constexpr unsigned lanes = 16 / sizeof(T);
        for (unsigned first = 0; first < items; first += lanes) {
            device::Pack<T, lanes> means;
            for (unsigned i = 0; i < lanes; ++i) means.values[i] = sums.values[first + i] * inverse;
            device::write_past_caches(reinterpret_cast<device::Pack<T, lanes>*>(out + at + first),
                                      means);
        }
    }
};

} // namespace assay::stencil
