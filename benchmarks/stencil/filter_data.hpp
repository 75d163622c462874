// SPDX-License-Identifier: Apache-2.0
//
// What stencil.filter2d computes, wherever it runs: its parameters, its random image and weights, how they lie in
// memory, what it counts, and what every pixel is compared with.

#pragma once

#include <assay/define.hpp>

#include <cmath>

namespace assay::stencil {

/// Weights of a row; there are as many rows.
enum class Side : std::uint8_t { three = 3, five = 5, seven = 7 };

namespace filter_data {

template <class Params>
inline constexpr std::tuple axes{
    choice("kernel", "weights of the kernel", &Params::side,
           {Name{"3x3", Side::three}, Name{"5x5", Side::five}, Name{"7x7", Side::seven}}),
    precision_axis("precision of the pixels", &Params::precision),
    footprint_axis("bytes of both images", &Params::footprint, {Symbol::beyond_cache},
                   {64_KiB, 16_TiB}),
};

/// Rows are a multiple of two vectors of the longest kind (512 bytes), and come in fours, so that nothing is left over.
inline constexpr std::size_t row_bytes = 1024;
inline constexpr std::size_t rows_at_once = 4;

/// An image with a frame around it that is read and not written; the frame beside rows is a line wide.
struct Image {
    Image(std::int64_t footprint, std::size_t element_size, Side kernel, std::size_t parts)
        : side{static_cast<std::size_t>(kernel)} {
        const auto pixels = static_cast<std::size_t>(footprint) / 2 / element_size;
        const auto multiple = [](double n, std::size_t of) {
            const auto whole = static_cast<std::size_t>(n) / of * of;
            return whole < of ? of : whole;
        };
        columns = multiple(std::sqrt(static_cast<double>(pixels)), row_bytes / element_size);
        const std::size_t full_rows = pixels / columns;
        rows = multiple(static_cast<double>(full_rows), rows_at_once * parts);
        // Rows at a distance of a power of two would fall into the same cache sets.
        stride = columns + 3 * 64 / element_size;
        count = stride * (rows + side - 1) + 64 / element_size;
    }
    /// Index of the first weight's pixel for the pixel (x, y); in the result,
    /// of the same stride, that of the pixel itself.
    ASSAY_HOST_DEVICE std::size_t at(std::size_t x, std::size_t y) const { return y * stride + x; }
    ASSAY_HOST_DEVICE std::size_t pixels() const { return rows * columns; }
    /// Where pixel number i is.
    ASSAY_HOST_DEVICE std::size_t place(std::size_t i) const {
        return at(i % columns, i / columns);
    }

    std::size_t side;
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::size_t stride = 0; ///< elements
    std::size_t count = 0;  ///< elements of the frame and what is in it
};

template <class T>
Work work(const Image& image) {
    const auto pixels = static_cast<double>(image.pixels());
    return {.flops = 2 * static_cast<double>(image.side * image.side) * pixels,
            .bytes = 2 * sizeof(T) * pixels,
            .cells = pixels};
}
template <class T>
void describe(const Image& image, const Context& context) {
    const auto bytes = static_cast<double>(2 * sizeof(T) * image.pixels());
    context.setting("columns", image.columns);
    context.setting("rows", image.rows);
    context.setting("footprint", bytes);
    context.tell({.footprint_bytes = bytes});
}

inline constexpr std::uint64_t in_seed = 45;
inline constexpr std::uint64_t weights_seed = 46;
inline constexpr std::uint64_t spoil_seed = 47;

/// The largest kernel's weights, row by row; all are positive, so that every pixel has a relative bound.
template <class T>
struct FilterWeights {
    T values[7 * 7];
};
template <class T>
FilterWeights<T> weights(std::size_t side) {
    FilterWeights<T> w{};
    for (std::size_t i = 0; i < side * side; ++i)
        w.values[i] =
            random_uniform<T>(weights_seed, i, T{0.5}, T{1.5}) / static_cast<T>(side * side);
    return w;
}

template <class T>
constexpr double bound(std::size_t side) {
    return 2 * static_cast<double>(side * side + 1) * unit_roundoff<T>;
}
inline constexpr const char* method =
    "every pixel against the sum of its products in fp64, relative; n products in any order err by "
    "(n+1) u at most, and so does that sum; and every input is unchanged";

template <class T>
ASSAY_HOST_DEVICE T input(std::uint64_t i) {
    return random_uniform<T>(in_seed, i, T{0.5}, T{1.5});
}

/// How far pixel number i is from the definition, relative to it.
template <class T>
struct Deviation {
    Image image;
    FilterWeights<T> weights;
    const T* in;
    const T* out;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::size_t place = image.place(i);
        double expected = 0;
        for (std::size_t dy = 0; dy < image.side; ++dy)
            for (std::size_t dx = 0; dx < image.side; ++dx) {
                const T value = in[place + image.at(dx, dy)];
                expected += static_cast<double>(weights.values[dy * image.side + dx]) *
                            static_cast<double>(value);
            }
        if (in[place] != input<T>(place)) return std::numeric_limits<double>::infinity();
        return (static_cast<double>(out[place]) - expected) / expected;
    }
};

} // namespace filter_data
} // namespace assay::stencil
