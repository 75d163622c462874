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
    unsigned rows;      ///< neighbouring rows that a thread has: one or two
    unsigned threads_x; ///< of a block
    unsigned threads_y;
    unsigned depth;    ///< planes that a thread marches through
    bool fetches_next; ///< its own cells, a plane before they are needed
    bool turns;        ///< odd runs go downwards, to read a boundary when its other side does
};

/// The most threads of any block, by which the compiler knows how many registers there are.
inline constexpr unsigned most_heat_threads = 512;

/// The candidates of a trial, which is part of every case. Long marches read few planes twice, but blocks side by side
/// drift apart, so that the second-level cache forgets the rows that they share: tall blocks share fewer.
inline std::vector<HeatShape> heat_shapes(std::size_t element_size) {
    const auto wide = static_cast<unsigned>(16 / element_size);
    std::vector<HeatShape> shapes;
    for (const unsigned rows : {1U, 2U})
        for (const bool fetches_next : {false, true})
            for (const HeatShape& s : {HeatShape{wide, rows, 32, 4, 16, fetches_next, false},
                                       HeatShape{wide, rows, 32, 8, 32, fetches_next, false},
                                       HeatShape{wide, rows, 32, 16, 32, fetches_next, true},
                                       HeatShape{wide, rows, 32, 16, 64, fetches_next, false},
                                       HeatShape{wide, rows, 32, 16, 64, fetches_next, true},
                                       HeatShape{wide, rows, 64, 8, 128, fetches_next, true}})
                shapes.push_back(s);
    shapes.push_back({1, 1, 32, 8, 16, false, false});
    shapes.push_back({1, 1, 64, 8, 32, false, false});
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
            parts(e.rows, std::size_t{shape.threads_y} * shape.rows), parts(e.planes, shape.depth)};
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

    using Own = device::Pack<T, lanes>;
    ASSAY_HOST_DEVICE static Own own(const T* from) {
        return device::read_only(reinterpret_cast<const Own*>(from));
    }
    /// With the thread's own cells, which have been loaded before.
    template <bool with_ends>
    ASSAY_HOST_DEVICE static RowCells load(const T* from, const Own& own) {
        RowCells cells{};
        for (unsigned i = 0; i < lanes; ++i) cells.values[i + 1] = own.values[i];
        if constexpr (with_ends) {
            cells.values[0] = device::read_only(from - 1);
            cells.values[lanes + 1] = device::read_only(from + lanes);
        }
        return cells;
    }
};

/// `own_rows` and `fetches_next`: HeatShape::rows and HeatShape::fetches_next.
template <class T, Neighbours neighbours, unsigned lanes, unsigned own_rows, bool fetches_next>
struct HeatMarch {
    /// Blocks of a multiprocessor where the compiler's choice of registers would leave one; 0: its choice.
    static constexpr unsigned least_blocks =
        neighbours == Neighbours::all && own_rows == 1 && fetches_next ? 2 : 0;

    Fields<T> fields;
    Weights<T> weights;
    std::size_t rows;
    std::size_t planes;
    unsigned depth;
    bool turns;

    /// Thread (x, y) of all, in the part-th run of planes.
    ASSAY_HOST_DEVICE void operator()(std::size_t thread_x, std::size_t thread_y,
                                      std::size_t part) const {
        const std::size_t x = thread_x * lanes;
        const std::size_t y = thread_y * own_rows;
        if (x >= fields.columns || y >= rows) return;
        const std::size_t first = part * depth;
        const std::size_t last = first + depth < planes ? first + depth : planes;
        const bool is_down = turns && part % 2 != 0;
        const auto plane = static_cast<std::ptrdiff_t>(fields.plane);
        const std::ptrdiff_t step = is_down ? -plane : plane;
        const std::size_t start = is_down ? last - 1 : first;
        // Where the number of rows is odd, the last thread's second row is the shell, with no row behind it.
        const bool has_all = own_rows == 1 || y + own_rows <= rows;
        const std::size_t behind = has_all ? own_rows * fields.row : (own_rows - 1) * fields.row;

        const T* at = fields.in + start * fields.plane + y * fields.row + x;
        T* to = fields.out + (at - fields.in);
        Plane before = sums(at - step, own(at - step), behind);
        Plane here = sums(at, own(at), behind);
        Own next = fetches_next ? own(at + step) : Own{};
        for (std::size_t left = last - first; left > 0; --left) {
            at += step;
            const Own current = fetches_next ? next : own(at);
            if (fetches_next && left > 1) next = own(at + step);
            const Plane after = sums(at, current, behind);
            for (unsigned r = 0; r < own_rows; ++r) {
                if (r > 0 && !has_all) break;
                device::Pack<T, lanes> cells{};
                for (unsigned i = 0; i < lanes; ++i)
                    cells.values[i] = cell(before.rows[r], here.rows[r], after.rows[r], i);
                device::write_past_caches(
                    reinterpret_cast<device::Pack<T, lanes>*>(to + r * fields.row), cells);
            }
            to += step;
            before = here;
            here = after;
        }
    }

private:
    using Sums = PlaneSums<T, lanes>;
    using Row = RowCells<T, lanes>;
    struct Plane {
        Sums rows[own_rows];
    };
    /// The thread's own cells of a plane.
    struct Own {
        typename Row::Own rows[own_rows];
    };

    ASSAY_HOST_DEVICE Own own(const T* at) const {
        Own cells;
        for (unsigned r = 0; r < own_rows; ++r) cells.rows[r] = Row::own(at + r * fields.row);
        return cells;
    }
    ASSAY_HOST_DEVICE Plane sums(const T* at, const Own& cells, std::size_t behind) const {
        constexpr bool all = neighbours == Neighbours::all;
        const auto neighbour = [](const T* row) {
            return Row::template load<all>(row, Row::own(row));
        };
        Row rows[own_rows + 2];
        rows[0] = neighbour(at - fields.row);
        for (unsigned r = 0; r < own_rows; ++r)
            rows[r + 1] = Row::template load<true>(at + r * fields.row, cells.rows[r]);
        rows[own_rows + 1] = neighbour(at + behind);
        Plane plane{};
        for (unsigned r = 0; r < own_rows; ++r)
            for (unsigned i = 0; i < lanes; ++i) {
                const T* const front = rows[r].values + i;
                const T* const middle = rows[r + 1].values + i;
                const T* const back = rows[r + 2].values + i;
                Sums& s = plane.rows[r];
                s.centre[i] = middle[1];
                s.faces[i] = (middle[0] + middle[2]) + (front[1] + back[1]);
                if constexpr (all) s.edges[i] = (front[0] + front[2]) + (back[0] + back[2]);
            }
        return plane;
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

/// what(march) with the functor of the shape, whose rows and planes are those of `e`.
template <class T, class What>
void with_march(Neighbours neighbours, const HeatShape& shape, const Fields<T>& fields,
                const Extent& e, const Weights<T>& weights, const What& what) {
    constexpr unsigned wide = 16 / sizeof(T);
    const auto call = [&]<Neighbours n, unsigned lanes, unsigned rows, bool fetches_next>() {
        what(HeatMarch<T, n, lanes, rows, fetches_next>{fields, weights, e.rows, e.planes,
                                                        shape.depth, shape.turns});
    };
    const auto with_neighbours = [&]<Neighbours n>() {
        if (shape.lanes == 1)
            call.template operator()<n, 1, 1, false>();
        else if (shape.rows == 1)
            shape.fetches_next ? call.template operator()<n, wide, 1, true>()
                               : call.template operator()<n, wide, 1, false>();
        else
            shape.fetches_next ? call.template operator()<n, wide, 2, true>()
                               : call.template operator()<n, wide, 2, false>();
    };
    if (neighbours == Neighbours::faces)
        with_neighbours.template operator()<Neighbours::faces>();
    else
        with_neighbours.template operator()<Neighbours::all>();
}

} // namespace assay::stencil
