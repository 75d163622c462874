// SPDX-License-Identifier: Apache-2.0
//
// The loop of peak.fma on a device.

#pragma once

#include "device/handles.hpp"
#include "peak/device_fma_chains.hpp"

#include <assay/benchmark.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::peak {

/// Start values and results, of one slot for each chain.
struct FmaSlots {
    std::byte* start;
    std::byte* result;
};

constexpr std::size_t slot_bytes(FmaPrecision precision) {
    return precision == FmaPrecision::fp64 ? 8 : 4;
}
constexpr int slot_values(FmaPrecision precision) {
    return precision == FmaPrecision::fp64 || precision == FmaPrecision::fp32 ? 1 : 2;
}

/// Blocks of this kernel that a multiprocessor holds at once.
int resident_blocks(FmaPrecision precision, unsigned chains);

void fill_starts(FmaPrecision precision, const FmaSlots& slots, std::uint64_t count,
                 const device::Stream& stream);

/// Queues all steps of all chains.
void launch_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream);

/// Looks at every result.
Check check_fma(FmaPrecision precision, const FmaSlots& slots, const FmaShape& shape,
                const device::Stream& stream);

} // namespace assay::peak
