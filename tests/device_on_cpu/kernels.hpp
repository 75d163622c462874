// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks/device/launch.cuh and instructions.cuh say to the host's compiler.

#pragma once

#include "block.hpp"

namespace assay::device_on_cpu {

/// Queues body() for every thread. Errors are those of CUDA's launches: cudaGetLastError() has them.
void launch(const Launch& how, cudaStream_t stream, const std::function<void()>& body);

unsigned long long nanoseconds();
/// Addresses of shared memory have 32 bits: places in that which the launch asked for.
unsigned shared_address(const void* memory);
unsigned load_shared(unsigned at);

/// One matrix instruction, by the number of it in device::Mma, with the registers of the lane that calls.
void multiply_add(int instruction, void* c, const void* a, const void* b);

} // namespace assay::device_on_cpu
