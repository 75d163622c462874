// SPDX-License-Identifier: Apache-2.0
//
// The product that a device computes beside an all-reduce: C = A B^T in bf16 with sums in fp32, by a kernel of our own
// on the matrix units, so that no library chooses another one while messages use a part of the device.

#pragma once

#include "gemm/device_matrices.hpp"

#include <cstdint>

namespace assay::collective {

/// Queues one product of `size` x `size` matrices, a multiple of 128, stored as in gemm/device_operand.hpp.
void multiply_bf16(const device::Stream& stream, const gemm::Operands& operands,
                   std::uint32_t size);

} // namespace assay::collective
