// SPDX-License-Identifier: Apache-2.0
//
// A walk along a chain by one thread of a device.

#pragma once

#include "device/handles.hpp"
#include "memory/device_chain.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::memory {

struct ChaseShape {
    Through through;
    bool reads_ahead;
    std::uint64_t steps; ///< a multiple of 8
};

/// What a kernel needs before its first launch: the largest first level cache, or room in shared memory.
void prepare_chase(Through through, std::uint64_t count);

/// Links all nodes in an order that depends on their number alone.
void link_nodes(DeviceNode* nodes, std::uint64_t count, const device::Stream& stream);

/// Queues one walk from walk->start.
void launch_chase(const DeviceNode* nodes, std::uint64_t count, Walk* walk, const ChaseShape& shape,
                  const device::Stream& stream);

/// Looks at every link.
Check check_nodes(const DeviceNode* nodes, std::uint64_t count, const device::Stream& stream);

} // namespace assay::memory
