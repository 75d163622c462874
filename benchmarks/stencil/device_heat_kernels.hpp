// SPDX-License-Identifier: Apache-2.0
//
// The sweeps of stencil.heat3d on a device.

#pragma once

#include "device/handles.hpp"
#include "stencil/heat_data.hpp"
#include "stencil/heat_march.hpp"

#include <assay/benchmark.hpp>

namespace assay::stencil {

/// Two grids on the device. `in` and `out` of the fields point at cell (0, 0, 0).
template <class T>
struct HeatGrids {
    Fields<T> fields;
    Extent extent;
    Neighbours neighbours;
};

/// Queues one sweep.
template <class T>
void launch_heat(const HeatGrids<T>& grids, const HeatShape& shape, const device::Stream& stream);

/// Looks at every cell; `first` is the element of cell (0, 0, 0).
template <class T>
Check check_heat(const HeatGrids<T>& grids, std::size_t first, const device::Stream& stream);

} // namespace assay::stencil
