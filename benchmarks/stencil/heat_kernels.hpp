// SPDX-License-Identifier: Apache-2.0
//
// The sweeps of stencil.heat3d, compiled for every instruction set; heat_sweeps() gives those that
// this CPU can run.

#pragma once

#include "grid.hpp"
#include "heat_cell.hpp"
#include "stores.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::stencil {

enum class Neighbours : std::uint8_t { faces, all }; ///< 7 points or 27

/// `in` and `out` point at cell (0, 0, 0) of their grids; row and plane are strides.
template <class T>
struct Fields {
    const T* in;
    T* out;
    std::size_t columns;
    std::size_t row;
    std::size_t plane;
};

/// Writes the cells of a block.
template <class T>
using Sweep = void (*)(const Fields<T>& fields, const Weights<T>& weights, const Block& block);

/// One sweep, and what it is made of.
template <class T>
struct HeatSweep {
    const char* instructions; ///< sse4, avx2, avx512, neon, sve, sve2, or scalar
    Neighbours neighbours;
    Stores stores;
    unsigned requests; ///< for each line that comes from memory
    Sweep<T> sweep;
};

/// Narrowest vectors first, of each plain stores first.
template <class T>
std::vector<HeatSweep<T>> heat_sweeps(Neighbours neighbours);

} // namespace assay::stencil
