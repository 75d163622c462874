// SPDX-License-Identifier: Apache-2.0
//
// wgmma, the matrix instruction of compute capability 9.0: 128 threads (a warpgroup) multiply 64 rows by 256 columns.
// peak.tensor runs it there; mma.sync reaches two thirds of it.

#pragma once

#include "device/handles.hpp"
#include "peak/device_tensor_data.hpp"

namespace assay::peak {

#ifdef ASSAY_HAS_WGMMA // of a build that has it: module `cuda` with code for 9.0
/// Can this device do it, and in this format?
bool has_wgmma(TensorFormat format);
/// Blocks of `wgmma_lanes` threads that a multiprocessor holds at once.
int wgmma_resident_blocks(TensorFormat format);
void launch_wgmma(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                  const device::Stream& stream);
#else
constexpr bool has_wgmma(TensorFormat /*format*/) { return false; }
constexpr int wgmma_resident_blocks(TensorFormat /*format*/) { return 0; }
inline void launch_wgmma(TensorFormat /*format*/, const TensorArrays& /*arrays*/,
                         const TensorSums& /*sums*/, const device::Stream& /*stream*/) {}
#endif

} // namespace assay::peak
