// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose threads do not talk to each other are functors on one index: what they compute and where
// they write is plain code, tested on the host, and this launches it over all indexes on the device.
// For .cu files.

#pragma once

#include "device/handles.hpp"

#include <assay/host_device.hpp>

#include <algorithm>
#include <cstdint>

namespace assay::device {

/// `blocks` = 0: as many as there are elements for, at most 2^16.
struct Grid {
    unsigned blocks = 0;
    unsigned threads = 256;
};

template <class Body>
__global__ void each_kernel(Body body, std::uint64_t count) {
    const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < count; i += stride)
        body(i);
}

inline Grid sized(Grid grid, std::uint64_t count) {
    constexpr std::uint64_t most = 1U << 16U;
    if (grid.blocks == 0)
        grid.blocks = static_cast<unsigned>(
            std::clamp<std::uint64_t>((count + grid.threads - 1) / grid.threads, 1, most));
    return grid;
}

/// Queues body(i) for every i below `count`. Errors of the launch are found by check_launches().
template <class Body>
void on_each(const Stream& stream, std::uint64_t count, const Body& body, Grid grid = {}) {
    grid = sized(grid, count);
    each_kernel<<<grid.blocks, grid.threads, 0, stream.get()>>>(body, count);
}

} // namespace assay::device
