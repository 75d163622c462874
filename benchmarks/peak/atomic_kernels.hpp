// SPDX-License-Identifier: Apache-2.0
//
// The kernels of peak.atomic and latency.atomic.

#pragma once

#include "device/handles.hpp"
#include "peak/atomics.hpp"

#include <cstdint>

namespace assay::peak {

/// Queues one kernel: every thread adds to its word so often. `words` has shape.words() of them.
void add_atomically(const AtomicShape& shape, std::uint32_t* words, const device::Stream& stream);

/// Queues one kernel: one thread adds to one word, step after step. Overwrites chain_results numbers.
void chain_atomically(AtomicSpace space, std::uint32_t* results, const device::Stream& stream);

} // namespace assay::peak
