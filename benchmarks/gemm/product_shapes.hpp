// SPDX-License-Identifier: Apache-2.0
//
// Shapes of matrix products among which a chip's best is looked for: squares and rectangles of round sizes,
// and sizes that fill the chip's processors evenly, so that no wave of tiles is half empty.

#pragma once

#include "gemm/device_precision.hpp"

#include <assay/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::gemm {

inline constexpr std::int64_t largest_side = 16384;

namespace detail {

/// The largest multiple of `unit` up to `side`; one unit where that is longer.
constexpr std::int64_t multiple_below(std::int64_t unit, std::int64_t side) {
    return std::max<std::int64_t>(side / unit, 1) * unit;
}

/// The divisor of `count` next to its square root, from below.
constexpr std::int64_t middle_divisor(std::int64_t count) {
    std::int64_t found = 1;
    for (std::int64_t d = 2; d * d <= count; ++d)
        if (count % d == 0) found = d;
    return found;
}

} // namespace detail

/// With tiles of 128 x 256, m = 128 f a and n = 256 g b make f g a b tiles: with f g processors, a b full
/// waves. The least work first, so that a slow chip runs out of time and not of shapes.
inline std::vector<Shape> sweep_shapes(std::int64_t processors,
                                       std::int64_t largest = largest_side) {
    const std::int64_t sides[] = {largest / 4, largest / 2, largest};
    const std::int64_t f = detail::middle_divisor(processors);
    const std::int64_t g = processors / f;
    std::vector<Shape> shapes;
    const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t shortest) {
        for (std::int64_t k = shortest; k <= largest; k *= 2)
            if (m <= largest && n <= largest) shapes.push_back({m, n, k});
    };
    for (const std::int64_t m : sides)
        for (const std::int64_t n : sides) {
            add(m, n, largest / 4);
            add(detail::multiple_below(128 * f, m), detail::multiple_below(256 * g, n),
                largest / 8);
            add(detail::multiple_below(128 * g, m), detail::multiple_below(256 * f, n),
                largest / 8);
        }
    const auto order = [](const Shape& s) { return std::tuple{s.m * s.n * s.k, s.m, s.n, s.k}; };
    std::ranges::sort(shapes, {}, order);
    const auto repeated = std::ranges::unique(shapes);
    shapes.erase(repeated.begin(), repeated.end());
    return shapes;
}

inline std::string shape_text(const Shape& shape) {
    return joined(shape.m, " x ", shape.n, " x ", shape.k);
}

/// A shape and how fast it was.
struct ShapeRate {
    Shape shape;
    double rate; ///< FLOP/s or OP/s
};

/// Places of the fastest, at most `count`, the fastest first.
inline std::vector<std::size_t> fastest_shapes(const std::vector<ShapeRate>& tried,
                                               std::size_t count) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tried.size(); ++i)
        if (tried[i].rate > 0) places.push_back(i);
    std::ranges::stable_sort(
        places, [&](std::size_t a, std::size_t b) { return tried[a].rate > tried[b].rate; });
    if (places.size() > count) places.resize(count);
    return places;
}

/// For each m x n a row, for each k a column; NaN where a shape was not tried.
inline Table shape_table(const char* metric, const std::vector<ShapeRate>& tried) {
    std::vector<std::pair<std::int64_t, std::int64_t>> faces;
    std::vector<std::int64_t> lengths;
    for (const auto& [shape, rate] : tried) {
        faces.emplace_back(shape.m, shape.n);
        lengths.push_back(shape.k);
    }
    const auto sorted = [](auto& values) {
        std::ranges::sort(values);
        const auto repeated = std::ranges::unique(values);
        values.erase(repeated.begin(), repeated.end());
    };
    sorted(faces);
    sorted(lengths);
    Table table{.metric = metric,
                .row_title = "m x n",
                .column_title = "k",
                .rows = {},
                .columns = {},
                .values = std::vector<double>(faces.size() * lengths.size(),
                                              std::numeric_limits<double>::quiet_NaN())};
    for (const auto& [m, n] : faces) table.rows.push_back(joined(m, " x ", n));
    for (const std::int64_t k : lengths) table.columns.push_back(std::to_string(k));
    for (const auto& [shape, rate] : tried) {
        const auto row = std::ranges::lower_bound(faces, std::pair{shape.m, shape.n});
        const auto column = std::ranges::lower_bound(lengths, shape.k);
        const auto at = (row - faces.begin()) * static_cast<std::ptrdiff_t>(lengths.size()) +
                        (column - lengths.begin());
        table.values[static_cast<std::size_t>(at)] = rate;
    }
    return table;
}

} // namespace assay::gemm
