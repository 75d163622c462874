// SPDX-License-Identifier: Apache-2.0
//
// wgmma, the matrix instruction of compute capability 9.0: 128 threads (a warpgroup) multiply 64 rows by 256 columns.
// peak.tensor runs it there; mma.sync reaches two thirds of it.

#pragma once

#include "device/handles.hpp"
#include "peak/device_tensor_data.hpp"

namespace assay::peak {

/// Queued before the warpgroup waits. Few on the device that is the CPU.
#ifdef __CUDACC__
inline constexpr unsigned wgmma_pairs = 8;
#else
inline constexpr unsigned wgmma_pairs = promoted_pairs;
#endif

// A build that has it: module `cuda` with code for 9.0, or on the device that is the CPU.
#if defined(ASSAY_HAS_WGMMA) || !(defined(__CUDACC__) || defined(ASSAY_HIP))
/// Can this device do it, and of this kind?
bool has_wgmma(const TensorKind& kind);
/// Blocks of `wgmma_lanes` threads that a multiprocessor holds at once.
int wgmma_resident_blocks(const TensorKind& kind);
void launch_wgmma(const TensorKind& kind, const TensorArrays& arrays, const TensorSums& sums,
                  const device::Stream& stream);
#else
constexpr bool has_wgmma(const TensorKind& /*kind*/) { return false; }
constexpr int wgmma_resident_blocks(const TensorKind& /*kind*/) { return 0; }
inline void launch_wgmma(const TensorKind& /*kind*/, const TensorArrays& /*arrays*/,
                         const TensorSums& /*sums*/, const device::Stream& /*stream*/) {}
#endif

} // namespace assay::peak
