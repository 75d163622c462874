// SPDX-License-Identifier: Apache-2.0
//
// The loops of memory.stream on a device. Loads and stores are 16 bytes wide; a thread has several of them
// in flight, which is what fills the memory of recent devices.

#pragma once

#include "device/handles.hpp"
#include "memory/device_stream_shapes.hpp"
#include "memory/stream_data.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::memory {

struct StreamArrays {
    double* out;
    const double* left;
    const double* right;
    double* partial; ///< one for each block of a reduction
    double* sum;
    std::uint64_t count; ///< a multiple of stream_tile
};

/// Queues one pass.
void launch_stream(Kernel kernel, const StreamArrays& arrays, const StreamShape& shape,
                   const device::Stream& stream);

/// Looks at every element of the output after so many calls.
Check check_stream(Kernel kernel, const double* out, std::uint64_t count, std::uint64_t calls,
                   const device::Stream& stream);

/// What dot or read must give, from the random seeds alone.
double exact_sum(Kernel kernel, std::uint64_t count, const device::Stream& stream);

} // namespace assay::memory
