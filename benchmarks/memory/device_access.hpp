// SPDX-License-Identifier: Apache-2.0
//
// The loops of memory.stride, memory.matrix and memory.banks.

#pragma once

#include "device/handles.hpp"
#include "memory/device_access_shapes.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::memory {

void fill_words(std::uint32_t* words, std::uint64_t count, const device::Stream& stream);
void fill_matrix(double* elements, std::uint64_t side, const device::Stream& stream);

/// Queues one call each; `sums` has a place for every thread.
void launch_stride(const std::uint32_t* words, std::uint32_t* sums, const StrideShape& shape,
                   const device::Stream& stream);
void launch_matrix(MatrixPattern pattern, const double* in, double* out, std::uint64_t side,
                   const device::Stream& stream);
void launch_banks(std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream);

/// Look at every sum or element.
Check check_stride(const std::uint32_t* sums, const StrideShape& shape,
                   const device::Stream& stream);
Check check_matrix(MatrixPattern pattern, const double* out, std::uint64_t side,
                   const device::Stream& stream);
Check check_banks(const std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream);

/// Make every sum a wrong one.
void poison_stride(std::uint32_t* sums, const StrideShape& shape, const device::Stream& stream);
void poison_banks(std::uint32_t* sums, unsigned blocks, unsigned stride,
                  const device::Stream& stream);

} // namespace assay::memory
