// SPDX-License-Identifier: Apache-2.0
//
// A sweep of stencil.heat3d as threads of a device do it: each has a few neighbouring cells of a row and
// marches through the planes. Of every plane it needs three sums for each cell (the cell, its neighbours in
// the plane by a face, and by an edge), and it keeps those of three planes: so a plane is looked at once,
// while 27 points would otherwise be 27 loads. Plain functions: a unit test on the host runs all threads.

#pragma once

#include "device/pack.hpp"
#include "stencil/heat_cell.hpp"
#include "stencil/heat_kernels.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::stencil {

/// How a sweep is launched.
struct HeatShape {
    unsigned lanes;     ///< cells of a row that a thread has: one, or 16 bytes of them
    unsigned threads_x; ///< of a block
    unsigned threads_y;
    unsigned depth; ///< planes that a thread marches through
};

/// The most threads of any block, by which the compiler knows how many registers there are.
inline constexpr unsigned most_heat_threads = 512;

inline std::vector<HeatShape> heat_shapes(std::size_t element_size) {
    std::vector<HeatShape> shapes;
    for (const unsigned lanes : {static_cast<unsigned>(16 / element_size), 1U})
        for (const unsigned depth : {32U, 16U, 128U})
            for (const unsigned threads_x : {32U, 64U})
                for (const unsigned threads_y : {4U, 8U})
                    shapes.push_back({lanes, threads_x, threads_y, depth});
    return shapes;
}

/// Blocks along columns, rows and planes.
struct HeatBlocks {
    unsigned x;
    unsigned y;
    unsigned z;
};
inline HeatBlocks blocks_of(const HeatShape& shape, const Extent& e) {
    const auto parts = [](std::size_t n, std::size_t each) {
        return static_cast<unsigned>((n + each - 1) / each);
    };
    return {parts(e.columns, std::size_t{shape.threads_x} * shape.lanes),
            parts(e.rows, shape.threads_y), parts(e.planes, shape.depth)};
}

/// Values that a thread keeps of a plane, for each of its cells.
template <class T, unsigned lanes>
struct PlaneSums {
    T centre[lanes];
    T faces[lanes]; ///< four neighbours in the plane
    T edges[lanes]; ///< four more; not looked at for 7 points
};

/// A row's cells from one before to one after the thread's own.
template <class T, unsigned lanes>
struct RowCells {
    T values[lanes + 2];

    template <bool with_ends>
    ASSAY_HOST_DEVICE static RowCells load(const T* from) {
        RowCells cells{};
        const auto own = device::read_only(reinterpret_cast<const device::Pack<T, lanes>*>(from));
        for (unsigned i = 0; i < lanes; ++i) cells.values[i + 1] = own.values[i];
        if constexpr (with_ends) {
            cells.values[0] = device::read_only(from - 1);
            cells.values[lanes + 1] = device::read_only(from + lanes);
        }
        return cells;
    }
};

template <class T, Neighbours neighbours, unsigned lanes>
struct HeatMarch {
    Fields<T> fields;
    Weights<T> weights;
    std::size_t rows;
    std::size_t planes;
    unsigned depth;

    using Sums = PlaneSums<T, lanes>;
    using Row = RowCells<T, lanes>;

    /// The thread for the cells from (x, y), in the part-th run of planes.
    ASSAY_HOST_DEVICE void operator()(std::size_t x, std::size_t y, std::size_t part) const {
        if (x >= fields.columns || y >= rows) return;
        const std::size_t first = part * depth;
        const std::size_t last = first + depth < planes ? first + depth : planes;
        std::size_t at = first * fields.plane + y * fields.row + x;
        Sums below = sums(fields.in + at - fields.plane);
        Sums here = sums(fields.in + at);
        for (std::size_t z = first; z < last; ++z, at += fields.plane) {
            const Sums above = sums(fields.in + at + fields.plane);
            device::Pack<T, lanes> next;
            for (unsigned i = 0; i < lanes; ++i) next.values[i] = cell(below, here, above, i);
            device::write_past_caches(reinterpret_cast<device::Pack<T, lanes>*>(fields.out + at),
                                      next);
            below = here;
            here = above;
        }
    }

private:
    ASSAY_HOST_DEVICE Sums sums(const T* at) const {
        constexpr bool all = neighbours == Neighbours::all;
        const Row middle = Row::template load<true>(at);
        const Row front = Row::template load<all>(at - fields.row);
        const Row back = Row::template load<all>(at + fields.row);
        Sums s{};
        for (unsigned i = 0; i < lanes; ++i) {
            s.centre[i] = middle.values[i + 1];
            s.faces[i] = (middle.values[i] + middle.values[i + 2]) +
                         (front.values[i + 1] + back.values[i + 1]);
            if constexpr (all)
                s.edges[i] =
                    (front.values[i] + front.values[i + 2]) + (back.values[i] + back.values[i + 2]);
        }
        return s;
    }
    ASSAY_HOST_DEVICE T cell(const Sums& below, const Sums& here, const Sums& above,
                             unsigned i) const {
        const T faces = here.faces[i] + (below.centre[i] + above.centre[i]);
        // Fused by us, not by the compiler: the same bits in every shape, so in every process.
        const T sum = std::fma(weights.face, faces, weights.centre * here.centre[i]);
        if constexpr (neighbours == Neighbours::faces) return sum;
        const T edges = here.edges[i] + (below.faces[i] + above.faces[i]);
        return std::fma(weights.corner, below.edges[i] + above.edges[i],
                        std::fma(weights.edge, edges, sum));
    }
};

} // namespace assay::stencil
