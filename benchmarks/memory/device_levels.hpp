// SPDX-License-Identifier: Apache-2.0
//
// The levels of a device's memory, as its benchmarks name them.

#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::memory {

/// Where loads look first: in a multiprocessor's own cache, in the second level cache that all share, or in
/// the memory that a multiprocessor's threads manage themselves.
enum class Through : std::uint8_t { l1, l2, shared };

/// A line of both cache levels on every device since compute capability 7.0.
inline constexpr std::size_t device_line = 128;

/// No multiprocessor has a larger cache of its own.
inline constexpr std::int64_t most_first_level = std::int64_t{256} << 10U;

} // namespace assay::memory
