// SPDX-License-Identifier: Apache-2.0
//
// The liquid as a device simulates it: what lies where, and how atoms are binned into cells. Plain code: a unit
// test on the host runs it all.

#pragma once

#include "model.hpp"

#include <assay/host_device.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace assay::md {

/// A vector whose loads are aligned.
template <class T>
struct alignas(16) Four {
    T x;
    T y;
    T z;
    T unused;
};

/// Neighbours of an atom that there is room for. Within cutoff + skin there are 78 in the crystal and
/// 75 on average in the liquid; no liquid of this density packs 128 into the sphere.
inline constexpr std::uint32_t list_capacity = 128;
/// Atoms of a cell, 2.3 on average, that are sorted. More are a simulation that has exploded, which must end
/// as well.
inline constexpr std::uint32_t cell_capacity = 64;

/// The periodic box, in cells of at least half of the list's reach: neighbours are at most two away.
template <class T>
struct CellBox {
    T edge;
    T per_edge; ///< edges in a unit of length
    T cells_per_length;
    std::int32_t along; ///< cells along an edge

    static CellBox of(double edge) {
        constexpr double least = (cutoff + skin) / 2;
        const auto along = std::max<std::int32_t>(1, static_cast<std::int32_t>(edge / least));
        return {static_cast<T>(edge), static_cast<T>(1 / edge), static_cast<T>(along / edge),
                along};
    }
    std::size_t cells() const {
        const auto n = static_cast<std::size_t>(along);
        return n * n * n;
    }
    /// The cell of a coordinate in the box; clamps those that rounding or chaos has put outside or made NaN.
    ASSAY_HOST_DEVICE std::int32_t at(T coordinate) const {
        const T cell = coordinate * cells_per_length;
        if (!(cell > 0)) return 0;
        return cell < static_cast<T>(along) ? static_cast<std::int32_t>(cell) : along - 1;
    }
    ASSAY_HOST_DEVICE std::uint32_t index(std::int32_t x, std::int32_t y, std::int32_t z) const {
        return static_cast<std::uint32_t>((x * along + y) * along + z);
    }
    ASSAY_HOST_DEVICE std::uint32_t cell_of(const Four<T>& p) const {
        return index(at(p.x), at(p.y), at(p.z));
    }
    /// Atoms leave by less than an edge between two sorts.
    ASSAY_HOST_DEVICE T wrapped(T coordinate) const {
        if (coordinate < 0) return coordinate + edge;
        return coordinate >= edge ? coordinate - edge : coordinate;
    }
    /// Nearest image of the difference between two atoms. Exactly opposite for opposite ones: the last bit of `ones` is
    /// worth 1, so that adding it rounds to whole edges, and it is even, so that ties round alike on both sides. The
    /// product with -1, 0 or 1 edge is exact: the result is rounded once, fused or not.
    ASSAY_HOST_DEVICE T nearest(T difference) const {
        constexpr T ones = sizeof(T) == 4 ? T{0x1.8p23} : static_cast<T>(0x1.8p52);
        const T edges = (difference * per_edge + ones) - ones;
        return difference - edges * edge;
    }
    /// Cells to look at along an axis, and the first of them for an atom in cell `own`: two on either
    /// side, or all, each once.
    ASSAY_HOST_DEVICE std::int32_t looked_at() const { return along < 5 ? along : 5; }
    ASSAY_HOST_DEVICE std::int32_t first_looked_at(std::int32_t own) const {
        return own - looked_at() / 2;
    }
    ASSAY_HOST_DEVICE std::int32_t inside(std::int32_t cell) const {
        return cell < 0 ? cell + along : cell >= along ? cell - along : cell;
    }
};

/// Everything that a run works on, in the memory of the device. Atoms are sorted by cells; `number` says
/// which is where.
template <class T>
struct LiquidArrays {
    std::uint32_t atoms;
    std::uint32_t lanes; ///< threads that share the neighbours of an atom: a power of two up to 32
    CellBox<T> box;
    Four<T>* position;
    Four<T>* velocity;
    Four<T>* force;
    std::uint32_t* number;
    Four<T>* next_position; ///< written by sorts, and by steps while others read `position`
    Four<T>* next_velocity; ///< written by sorts
    std::uint32_t* next_number;
    std::uint32_t* cell;       ///< of each atom
    std::uint32_t* order;      ///< atoms in the order of their cells
    std::uint32_t* in_cell;    ///< atoms; all zero outside of a sort
    std::uint32_t* first;      ///< atom of each cell, and one more
    std::uint32_t* neighbours; ///< list_capacity for each atom
    std::uint32_t* neighbour_count;
    std::uint32_t* overflow; ///< not zero: a cell, or a list, had no room

    /// The binary logarithm of `lanes`: devices need many instructions to divide integers.
    ASSAY_HOST_DEVICE unsigned lane_bits() const {
        return static_cast<unsigned>(std::popcount(lanes - 1));
    }
    /// Where neighbour k of an atom stands: what the threads of a warp read at once lies together.
    ASSAY_HOST_DEVICE std::size_t entry(std::uint32_t atom, std::uint32_t k) const {
        const std::uint32_t lane = k & (lanes - 1);
        return static_cast<std::size_t>(k - lane) * atoms + static_cast<std::size_t>(atom) * lanes +
               lane;
    }
    /// Makes what a sort has written the state.
    void take_sorted() {
        std::swap(position, next_position);
        std::swap(velocity, next_velocity);
        std::swap(number, next_number);
    }
};

/// Bytes of the device for so many atoms, with what a check needs beside it: state, start and sorted
/// state (eight vectors), force, list, numbers and cells, and the reference of six numbers.
constexpr std::int64_t liquid_bytes(std::int64_t atoms, std::int64_t real_size) {
    return atoms * (8 * 4 * real_size + list_capacity * 4 + 8 * 4 + 6 * 8);
}

} // namespace assay::md
