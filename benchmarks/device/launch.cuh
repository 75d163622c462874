// SPDX-License-Identifier: Apache-2.0
//
// How kernels are launched: by nvcc, or by the host's compiler on the device of tests/device_on_cpu, which has
// kernel_words.hpp included before. For .cu files.
//
// Kernels whose threads do not talk to each other are functors on one index: what they compute and where they write is
// plain code, tested on the host, and on_each() launches it over all indexes on the device.

#pragma once

#include "device/handles.hpp"
#include "device/warp.hpp"

#include <assay/host_device.hpp>

#include <algorithm>
#include <cstdint>

namespace assay::device {

/// What a kernel is launched with.
struct Launch {
    dim3 blocks;
    dim3 threads; ///< of a block
    cudaStream_t stream;
    std::size_t shared_bytes = 0; ///< dynamic_shared() of a block
};

/// Queues a kernel. Errors are found by check_launches().
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Launch& how, const Arguments&... arguments) {
#ifdef ASSAY_DEVICE_COMPILER
    kernel<<<how.blocks, how.threads, how.shared_bytes, how.stream>>>(arguments...);
#else
    device_on_cpu::launch({how.blocks, how.threads, how.shared_bytes,
                           reinterpret_cast<const void*>(kernel), warp_lanes},
                          how.stream, [=] { kernel(arguments...); });
#endif
}

#ifndef ASSAY_HIP
/// what(config) of a launch by clusters of so many blocks, whose number is a multiple of it; compute capability 9.0.
template <class What>
cudaError_t with_clusters(const Launch& how, unsigned blocks, const What& what) {
    cudaLaunchAttribute size{};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {blocks, 1, 1};
    const cudaLaunchConfig_t config{how.blocks, how.threads, how.shared_bytes,
                                    how.stream, &size,       1};
    return what(&config);
}

/// How many such clusters the device runs at once; 0: none. Allows the kernel clusters of more than 8 blocks and its
/// shared memory.
template <class... Parameters>
int most_clusters(void (*kernel)(Parameters...), const Launch& how, unsigned cluster) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(how.shared_bytes)));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int clusters = 0;
    const cudaError_t status = with_clusters(how, cluster, [&](const cudaLaunchConfig_t* config) {
        return cudaOccupancyMaxActiveClusters(&clusters, reinterpret_cast<const void*>(kernel),
                                              config);
    });
    if (status == cudaSuccess) return clusters;
    cudaGetLastError(); // or a later call would find this error
    return 0;
}

template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...), const Launch& how, unsigned cluster,
                     const Arguments&... arguments) {
#ifdef ASSAY_DEVICE_COMPILER
    with_clusters(how, cluster, [&](const cudaLaunchConfig_t* config) {
        return cudaLaunchKernelEx(config, kernel, arguments...);
    });
#else
    device_on_cpu::launch({how.blocks, how.threads, how.shared_bytes,
                           reinterpret_cast<const void*>(kernel), warp_lanes, cluster},
                          how.stream, [=] { kernel(arguments...); });
#endif
}
#endif

/// what(T{}), T being the type of that place in the list.
template <class First, class... Rest, class What>
auto with_type(std::size_t place, const What& what) {
    if constexpr (sizeof...(Rest) > 0)
        if (place > 0) return with_type<Rest...>(place - 1, what);
    return what(First{});
}

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

/// Queues body(i) for every i below `count`.
template <class Body>
void on_each(const Stream& stream, std::uint64_t count, const Body& body, Grid grid = {}) {
    grid = sized(grid, count);
    launch(each_kernel<Body>, {grid.blocks, grid.threads, stream.get()}, body, count);
}

} // namespace assay::device
