// SPDX-License-Identifier: Apache-2.0
//
// The loops of stencil.window, compiled for every instruction set; window_loops() gives those that
// this CPU can run.
//
// Short windows are added up directly. Longer ones move on by a whole vector at a time: the sums of
// one vector are those of the vector before, plus the elements that came in, less those that left.
// That is a constant effort for any length, but it carries rounding errors along, as long as it goes:
// so after four windows the sums are started anew. Prefix sums of the whole series would be simpler
// and lose all that the series' length exceeds the window's by.

#pragma once

#include "stores.hpp"

#include <cstddef>
#include <vector>

namespace assay::stencil {

/// Up to this length windows are added up directly.
inline constexpr std::size_t longest_direct = 8;

/// Results from one fresh start to the next; a multiple of every vector.
template <class T>
constexpr std::size_t window_block(std::size_t window) {
    constexpr std::size_t least = 1024;
    constexpr std::size_t granule = 512 / sizeof(T);
    const std::size_t wanted = 4 * window;
    return wanted <= least ? least : (wanted + granule - 1) / granule * granule;
}

/// Elements that are read, though not used, behind the last window.
template <class T>
inline constexpr std::size_t window_margin = 2 * 512 / sizeof(T);

/// Means over in[i] to in[i + window - 1] for all i in [first, last), multiples of 512 bytes.
template <class T>
using Average = void (*)(const T* in, T* out, std::size_t first, std::size_t last,
                         std::size_t window);

template <class T>
struct WindowLoop {
    const char* instructions; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
    std::size_t lanes;        ///< elements of a vector
    Stores stores;
    Average<T> average;
};

/// Narrowest vectors first, of each plain stores first.
template <class T>
std::vector<WindowLoop<T>> window_loops();

/// Largest relative error for data between `low` and `high`, both positive, in units of u: a sum of
/// w terms errs by (w-1) of itself; each of the steps that follow adds one rounding of the sum and
/// those of the differences, log2(lanes)+1 of them in each of `lanes` terms; the mean rounds twice.
template <class T>
double window_error(std::size_t window, std::size_t lanes, double low, double high) {
    const auto w = static_cast<double>(window);
    if (window <= longest_direct) return w - 1 + 2;
    const auto width = static_cast<double>(lanes);
    double levels = 1;
    for (std::size_t n = 1; n < lanes; n *= 2) ++levels;
    const double steps = static_cast<double>(window_block<T>(window)) / width;
    const double of_sum = (w - 1 + steps) * high;
    const double of_differences = steps * width * levels * (high - low) / w;
    return (of_sum + of_differences) / low + 2;
}

} // namespace assay::stencil
