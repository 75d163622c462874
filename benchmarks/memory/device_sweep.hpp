// SPDX-License-Identifier: Apache-2.0
//
// The loop of memory.hierarchy on a device.

#pragma once

#include "device/handles.hpp"
#include "memory/device_levels.hpp"
#include "memory/device_sweep_shapes.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::memory {

/// Asks for the largest first level cache; before the first launch.
void prepare_sweep(Through through, const SweepShape& shape);

/// Random words, shape.vectors() times two.
void fill_sweep(std::uint64_t* words, const SweepShape& shape, const device::Stream& stream);

/// Queues all passes; sums has one place per thread.
void launch_sweep(Through through, const std::uint64_t* words, std::uint32_t* sums,
                  const SweepShape& shape, const device::Stream& stream);

/// Makes every sum a wrong one.
void poison_sweep(std::uint32_t* sums, const SweepShape& shape, const device::Stream& stream);

/// Looks at the sum of every thread.
Check check_sweep(const std::uint32_t* sums, const SweepShape& shape, const device::Stream& stream);

} // namespace assay::memory
