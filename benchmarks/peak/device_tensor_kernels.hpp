// SPDX-License-Identifier: Apache-2.0
//
// The loop of peak.tensor: chains of matrix instructions on operands in registers.

#pragma once

#include "device/handles.hpp"
#include "peak/device_tensor_data.hpp"

#include <assay/benchmark.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::peak {

/// Operands are registers as a_fragments() and b_fragments() have them, of register_bytes() each; start and
/// result one sum each, of as many bytes.
struct TensorArrays {
    const std::byte* a;
    const std::byte* b;
    std::byte* start;
    std::byte* result;
    const std::int64_t* growths;
};

constexpr std::size_t register_bytes(TensorFormat format) {
    return format == TensorFormat::fp64 ? 8 : 4;
}

inline constexpr unsigned tensor_threads = 256; ///< of a block

/// 90 where the code that this device runs was compiled for compute capability 9.0.
int tensor_compiled_for(TensorFormat format);

/// Blocks that a multiprocessor holds at once.
int tensor_resident_blocks(TensorFormat format);

void fill_sums(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
               std::uint64_t count, const device::Stream& stream);

/// Queues all steps of all chains.
void launch_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   const device::Stream& stream);

/// Looks at every sum.
Check check_tensor(TensorFormat format, const TensorArrays& arrays, const TensorSums& sums,
                   std::uint64_t count, const device::Stream& stream);

} // namespace assay::peak
