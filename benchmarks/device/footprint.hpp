// SPDX-License-Identifier: Apache-2.0
//
// How much memory of a device a benchmark takes. Pure numbers: tested on the host.

#pragma once

#include <assay/machine.hpp>

#include <algorithm>
#include <cstdint>

namespace assay::device {

inline constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
/// Memory left free for the driver, its caches and the buffers that flush the cache.
inline constexpr std::int64_t reserve_bytes = gibibyte;

/// See footprint() in properties.hpp. A plain number is taken as it is; whether it fits is for fit().
constexpr std::int64_t footprint_bytes(Symbolic wanted, std::int64_t arrays, std::int64_t l2_bytes,
                                       std::int64_t memory_available) {
    if (wanted.symbol == Symbol::none) return wanted.number;
    const std::int64_t each = std::max(gibibyte, 4 * l2_bytes);
    const std::int64_t most = std::max<std::int64_t>(memory_available - reserve_bytes, 0);
    return std::min(arrays * each, most);
}

} // namespace assay::device
