// SPDX-License-Identifier: Apache-2.0
//
// What the lanes of a warp compute together. For .cu files; all lanes take part.

#pragma once

#include "device/warp.hpp"

namespace assay::device {

__device__ inline unsigned lane() { return threadIdx.x % warp_lanes; }
/// The number of the warp in its block.
__device__ inline unsigned warp() { return threadIdx.x / warp_lanes; }

/// How many lanes have their bit.
__device__ inline unsigned count(Lanes lanes) {
    if constexpr (warp_lanes == 64)
        return static_cast<unsigned>(__popcll(lanes));
    else
        return static_cast<unsigned>(__popc(lanes));
}

/// The sum over the warp, in its first lane.
template <class T>
__device__ T sum_of_warp(T own) {
    for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
        own += __shfl_down_sync(every_lane, own, distance);
    return own;
}

/// The sum over this lane and those before it.
template <class T>
__device__ T sum_up_to_lane(T own) {
    for (unsigned distance = 1; distance < warp_lanes; distance *= 2) {
        const T other = __shfl_up_sync(every_lane, own, distance);
        if (lane() >= distance) own += other;
    }
    return own;
}

} // namespace assay::device
