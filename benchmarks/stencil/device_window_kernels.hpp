// SPDX-License-Identifier: Apache-2.0
//
// The loops of stencil.window on a device.

#pragma once

#include "device/handles.hpp"
#include "stencil/window_tiles.hpp"

#include <assay/verify.hpp>

namespace assay::stencil {

/// Queues all means once.
template <class T>
void launch_window(const WindowTask<T>& task, const WindowShape& shape,
                   const device::Stream& stream);

/// Looks at every mean, each to within `bound` of itself.
template <class T>
Check check_window(const WindowTask<T>& task, double bound, const device::Stream& stream);

} // namespace assay::stencil
