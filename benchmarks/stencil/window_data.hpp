// SPDX-License-Identifier: Apache-2.0
//
// What stencil.window computes, wherever it runs: its parameters, its random series, and what every mean is compared
// with.

#pragma once

#include "device/compensated_sum.hpp"

#include <assay/define.hpp>

namespace assay::stencil::window_data {

template <class Params>
inline constexpr std::tuple axes{
    integer("window", "elements per mean", "", &Params::window, {20, 250}, {1, 1 << 20}),
    precision_axis("precision of series and means", &Params::precision),
    footprint_axis("bytes of series and means", &Params::footprint, {Symbol::beyond_cache},
                   {64_KiB, 16_TiB}),
};

template <class T>
Work work(std::size_t count) {
    const auto n = static_cast<double>(count);
    return {.bytes = 2 * sizeof(T) * n, .cells = n};
}
/// Elements of the series read behind the last mean, at most.
constexpr std::int64_t window_bytes(std::int64_t window) {
    return window * static_cast<std::int64_t>(sizeof(double));
}

template <class T>
inline constexpr T low = T{0.5};
template <class T>
inline constexpr T high = T{1.5};
inline constexpr std::uint64_t in_seed = 14;
inline constexpr std::uint64_t spoil_seed = 15;

inline constexpr const char* method =
    "every mean against a compensated running sum, relative, by the worst case of the roundings "
    "between two restarts; and every input is unchanged";
inline constexpr const char* damage =
    "a mean is off by more than rounding, or an input has changed";

/// The largest relative error of the means in [first, last); infinite if one is NaN.
template <class T>
ASSAY_HOST_DEVICE double worst_of(const T* in, const T* out, std::size_t first, std::size_t last,
                                  std::size_t window) {
    if (first >= last) return 0;
    CompensatedSum sum;
    for (std::size_t i = 0; i + 1 < window; ++i) sum.add(static_cast<double>(in[first + i]));
    double worst = 0;
    for (std::size_t i = first; i < last; ++i) {
        if (in[i] != random_uniform<T>(in_seed, i, low<T>, high<T>))
            return std::numeric_limits<double>::infinity();
        sum.add(static_cast<double>(in[i + window - 1]));
        const double expected = sum.value() / static_cast<double>(window);
        const double error = std::fabs((static_cast<double>(out[i]) - expected) / expected);
        if (!(error <= worst)) worst = error; // true for NaN, too
        if (worst != worst) return std::numeric_limits<double>::infinity();
        sum.add(-static_cast<double>(in[i]));
    }
    return worst;
}

} // namespace assay::stencil::window_data
