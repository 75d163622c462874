// SPDX-License-Identifier: Apache-2.0
//
// What stencil.heat3d computes, wherever it runs: its parameters, its random grid, what it counts, and the formula
// that every cell is compared with.

#pragma once

#include "stencil/heat_cell.hpp"
#include "stencil/heat_kernels.hpp"

#include <assay/define.hpp>

namespace assay::stencil {

constexpr int points_of(Neighbours neighbours) { return neighbours == Neighbours::all ? 27 : 7; }

/// Additions and multiplications for one cell: faces, edges and corners are added up before each sum
/// is multiplied by its weight.
constexpr double flops_per_cell(Neighbours neighbours) {
    return neighbours == Neighbours::all ? 30 : 8;
}

namespace heat_data {

template <class Params>
inline constexpr std::tuple axes{
    choice("stencil", "stencil points", &Params::stencil,
           {{"7_point", Neighbours::faces}, {"27_point", Neighbours::all}}),
    precision_axis("precision of the cells", &Params::precision),
    footprint_axis("bytes over both grids", &Params::footprint, {Symbol::beyond_cache},
                   {64_KiB, 16_TiB}),
};

/// Bytes of two grids for this footprint with shell and padding, a large part of small grids.
inline std::int64_t bytes_of(std::int64_t footprint, Precision precision, int threads,
                             std::size_t line_bytes = line) {
    const std::size_t size = size_of(precision);
    const Extent extent = extent_for(footprint / 2, size, threads);
    return static_cast<std::int64_t>(2 * size * Layout{extent, size, line_bytes}.count);
}

template <class T>
Work work(Neighbours neighbours, const Extent& extent) {
    const auto cells = static_cast<double>(extent.cells());
    return {.flops = flops_per_cell(neighbours) * cells,
            .bytes = 2 * sizeof(T) * cells,
            .cells = cells};
}

// Between 0.5 and 1.5 nothing cancels, and so every cell has a relative bound.
template <class T>
inline constexpr T low = T{0.5};
template <class T>
inline constexpr T high = T{1.5};
template <class T>
inline constexpr T diffusion = static_cast<T>(0.1234567890123456); // below 1/6: all weights > 0
inline constexpr std::uint64_t in_seed = 12;
inline constexpr std::uint64_t spoil_seed = 13;

template <class T>
constexpr Weights<T> weights(Neighbours neighbours) {
    return neighbours == Neighbours::all ? weights_of_27(diffusion<T>) : weights_of_7(diffusion<T>);
}

template <class T>
constexpr double bound(Neighbours neighbours) {
    return 2 * (points_of(neighbours) + 1) * unit_roundoff<T>;
}
inline constexpr const char* method =
    "every cell against the scalar formula in fp64, relative; n products in any order err by (n+1) "
    "u at most, and so does the formula; and every input is unchanged";

/// How far the element `here` of `out` is from the formula, relative to it.
template <class T>
struct Deviation {
    const T* in;
    const T* out;
    std::size_t row; ///< strides
    std::size_t plane;
    Neighbours neighbours;
    Weights<T> weights;

    ASSAY_HOST_DEVICE double operator()(std::size_t here) const {
        if (in[here] != random_uniform<T>(in_seed, here, low<T>, high<T>))
            return std::numeric_limits<double>::infinity();
        const auto at = [&](int dx, int dy, int dz) {
            const auto offset = dx + dy * static_cast<std::ptrdiff_t>(row) +
                                dz * static_cast<std::ptrdiff_t>(plane);
            return static_cast<double>(in[static_cast<std::ptrdiff_t>(here) + offset]);
        };
        const Weights<double> w{weights.centre, weights.face, weights.edge, weights.corner};
        const double expected = neighbours == Neighbours::all ? heat_27(w, at) : heat_7(w, at);
        return (static_cast<double>(out[here]) - expected) / expected;
    }
};

} // namespace heat_data

} // namespace assay::stencil
