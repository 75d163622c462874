// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks/device/launch.cuh and instructions.cuh say to the host's compiler.

#pragma once

#include "block.hpp"
#include "device/mma.hpp"

namespace assay::device_on_cpu {

/// Queues body() for every thread. Errors are those of CUDA's launches: cudaGetLastError() has them.
void launch(const Launch& how, cudaStream_t stream, const std::function<void()>& body);

unsigned long long nanoseconds();
/// Addresses of shared memory have 32 bits: places in that which the launch asked for.
unsigned shared_address(const void* memory);
unsigned load_shared(unsigned at);
/// There are no caches.
template <class T>
T* load_through_l1(T* const* from) {
    return *from;
}
template <class T>
T* load_through_l2(T* const* from) {
    return *from;
}

/// One matrix instruction, with the registers of the lane that calls.
void multiply_matrices(device::Mma instruction, void* c, const void* a, const void* b);
template <device::Mma instruction>
void multiply_add(void* c, const void* a, const void* b) {
    multiply_matrices(instruction, c, a, b);
}

} // namespace assay::device_on_cpu

namespace assay {
namespace device_words = device_on_cpu;
}
