// SPDX-License-Identifier: Apache-2.0
//
// Devices that are memory and one core of the host: what libraries on top of the runtime (cufft.cpp, cublaslt.cpp,
// nccl.cpp) may use of it beside CUDA's own calls.

#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace assay::device_on_cpu {

/// Runs `work` at once, or makes it a node where the stream is being captured. A null stream belongs to the
/// current device.
void enqueue(cudaStream_t stream, std::function<void()> work);

/// That cudaSetDevice() chose in this thread.
int current_device();
/// On which device memory lies; -1: memory of the host, pinned or not.
int device_of(const void* pointer);
/// ASSAY_CPU_DEVICES of the environment; 1 without it. CUDA_VISIBLE_DEVICES may name fewer of them.
int device_count();

/// Objects made and not given back; tests look at it.
struct Held {
    int handles = 0; ///< streams, events, graphs
    int communicators = 0;
    int registrations = 0;
    int aborted = 0; ///< communicators that were given up
};
Held& held();

} // namespace assay::device_on_cpu
