// SPDX-License-Identifier: Apache-2.0
//
// Pairs of cores and the matrix that is made of them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::latency {

/// Unordered pairs of `cores` cores.
constexpr std::size_t pair_count(std::size_t cores) {
    return cores < 2 ? 0 : cores * (cores - 1) / 2;
}

/// Number of the pair (first, second), first < second: (0,1) (0,2) ... (1,2) ...
constexpr std::size_t pair_number(std::size_t cores, std::size_t first, std::size_t second) {
    return first * (2 * cores - first - 1) / 2 + (second - first - 1);
}

/// Both directions of a pair took the same way; a core and itself do not count.
inline std::vector<double> symmetric_matrix(std::size_t cores, std::span<const double> of_pairs) {
    std::vector<double> matrix(cores * cores, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t first = 0; first < cores; ++first)
        for (std::size_t second = first + 1; second < cores; ++second) {
            const double value = of_pairs[pair_number(cores, first, second)];
            matrix[first * cores + second] = value;
            matrix[second * cores + first] = value;
        }
    return matrix;
}

/// Round trips of one pair: thousands where there are few pairs, so that the clock and the change to the
/// next pair do not count; hundreds where there are tens of thousands, so that a call ends within a few
/// seconds.
constexpr std::uint64_t round_trips(std::size_t pairs) {
    constexpr std::size_t of_a_call = std::size_t{1} << 20U;
    constexpr std::size_t least = 250;
    constexpr std::size_t most = 2000;
    return std::clamp(of_a_call / std::max<std::size_t>(pairs, 1), least, most);
}

} // namespace assay::latency
