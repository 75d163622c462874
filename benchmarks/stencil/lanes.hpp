// SPDX-License-Identifier: Apache-2.0
//
// Origin of a vector's lanes, and its place in memory: shared by kernels of every instruction set.

#pragma once

#include "grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace assay::stencil {

/// Does the vector at element i begin a cache line? Its array does.
template <class T>
constexpr bool begins_line(std::size_t i) {
    return i * sizeof(T) % line == 0;
}

/// For TableLookupLanes(): each lane comes from the one `by` further on, round the end of the vector.
template <class T>
constexpr auto rotation(std::size_t lanes, std::size_t by) {
    using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    std::array<Index, row_granule / sizeof(T)> from{};
    for (std::size_t i = 0; i < lanes; ++i) from[i] = static_cast<Index>((i + by) % lanes);
    return from;
}

} // namespace assay::stencil
