// SPDX-License-Identifier: Apache-2.0
//
// A box of cells with a shell of fixed ones around it, how it lies in memory, and how a sweep walks
// over it. Columns run fastest. Rows begin on a cache line and are a multiple of every vector long, so
// that sweeps have no remainder. One line between two rows holds the shell of both.

#pragma once

#include <assay/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace assay::stencil {

/// Bytes of cells in a row are a multiple of this, and so of every vector (the longest, of SVE, are 256).
inline constexpr std::size_t row_granule = 512;
inline constexpr std::size_t line = 64; // bytes

struct Extent {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::size_t planes = 0;
    std::size_t cells() const { return columns * rows * planes; }
};

/// Elements from one row, or plane, to the next; shell and padding included.
struct Layout {
    Layout(const Extent& extent, std::size_t element_size, std::size_t line_bytes = line)
        : shell{line_bytes / element_size}, row{extent.columns + shell},
          plane{row * (extent.rows + 2)},
          // Sweeps read a whole vector where a row has ended.
          count{plane * (extent.planes + 2) + row_granule / element_size} {}
    /// Element of a cell: column, row and plane count from the first cell that is not of the shell.
    std::size_t at(std::size_t x, std::size_t y, std::size_t z) const {
        return (z + 1) * plane + (y + 1) * row + shell + x;
    }
    /// Index of a cell by its number, counted without the shell.
    std::size_t at(const Extent& extent, std::size_t cell) const {
        const std::size_t above = cell / extent.columns; // rows
        return at(cell % extent.columns, above % extent.rows, above / extent.rows);
    }
    std::size_t shell; ///< before each row, and behind the last
    std::size_t row;
    std::size_t plane;
    std::size_t count;
};

/// About a cube of so many bytes. A thread gets whole planes, and reads two more than it writes, so
/// with many threads there are more planes than rows. Planes of each thread are an even number: sweeps
/// take two at once.
inline Extent extent_for(std::int64_t bytes, std::size_t element_size, int threads) {
    constexpr std::size_t planes_each = 16; // an eighth more to read
    const std::size_t cells = static_cast<std::size_t>(bytes) / element_size;
    const std::size_t granule = row_granule / element_size;
    const std::size_t pairs = 2 * static_cast<std::size_t>(threads);
    const auto multiple = [](std::size_t n, std::size_t of) { return n < of ? of : n / of * of; };
    Extent e;
    e.columns = multiple(static_cast<std::size_t>(std::cbrt(static_cast<double>(cells))), granule);
    const std::size_t rest = cells / e.columns;
    const auto square = static_cast<std::size_t>(std::sqrt(static_cast<double>(rest)));
    e.planes = multiple(std::max(square, planes_each / 2 * pairs), pairs);
    e.rows = std::max<std::size_t>(rest / e.planes, 1);
    return e;
}

/// Rows [first_row, last_row) of planes [first_plane, last_plane).
struct Block {
    std::size_t first_row;
    std::size_t last_row;
    std::size_t first_plane;
    std::size_t last_plane;
};

/// Rows of a tile: of the four planes of it that two planes of cells look at, the next two that are on
/// their way, and two that go out, all take half of the second-level cache together, so that each plane
/// comes from memory once.
inline std::size_t tile_rows(const Extent& extent, std::size_t element_size,
                             std::int64_t second_level) {
    constexpr std::int64_t usual = 512 << 10U; // bytes, where it is not known
    const std::int64_t half = (second_level > 0 ? second_level : usual) / 2;
    const std::size_t row_bytes = Layout{extent, element_size}.row * element_size;
    const std::size_t rows = static_cast<std::size_t>(half) / (8 * row_bytes);
    return std::max<std::size_t>(rows / 8 * 8, 8); // sweeps take one or eight at once
}

/// The blocks of one thread, one tile of rows after the other; in each, plane by plane ("2.5-D").
template <class Body>
void for_each_block(const Extent& extent, Slice planes, std::size_t rows, Body&& body) {
    for (std::size_t row = 0; row < extent.rows; row += rows)
        body(Block{.first_row = row,
                   .last_row = std::min(row + rows, extent.rows),
                   .first_plane = planes.first,
                   .last_plane = planes.last});
}

} // namespace assay::stencil
