// SPDX-License-Identifier: Apache-2.0
//
// What the files of the runtime share: devices, whose memory is the host's, and errors as CUDA reports them.

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

namespace assay::device_on_cpu {

/// Remembers it for cudaGetLastError(), which forgets it.
cudaError_t answer(cudaError_t status);
/// Acts like a failed kernel: the next call that waits, or asks for the last error, gets it. Says why on stderr.
void fail(const std::string& what);
/// Faults found on the device since: cudaSuccess, or the code of fail().
cudaError_t device_error();

/// Memory of the current device, filled with garbage; null where there is not so much left.
void* allocate(std::size_t bytes);
cudaError_t release(void* memory);
/// Was something written beside an allocation since? Then says where.
std::string overrun();
/// May `bytes` from there be touched? Memory of the host always may, memory of a device in one allocation.
bool is_whole(const void* from, std::size_t bytes);

/// More than 8 blocks only where the kernel was allowed them.
bool may_have_clusters(const void* kernel, unsigned blocks);

/// Some calls are forbidden while a stream of this process is captured.
bool is_capturing();

} // namespace assay::device_on_cpu
