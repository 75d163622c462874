// SPDX-License-Identifier: Apache-2.0
//
// Into how many parts a device divides the context of a decoding step.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::workload {

/// Numbers of keys of a part that are worth trying, the largest first, all multiples of `at_once`, which a block takes
/// at once. Each of `tiles` of queries has a block for each part, and the device runs `blocks` at once: the parts are a
/// quarter of those, half, all, or two to eight times as many. More parts balance better, fewer have less to join.
inline std::vector<std::uint32_t> spans_of(std::uint32_t context, std::size_t tiles,
                                           std::size_t blocks, std::uint32_t at_once) {
    std::vector<std::uint32_t> spans;
    for (const std::size_t quarters : {1U, 2U, 4U, 8U, 16U, 32U}) {
        const auto splits = static_cast<std::uint32_t>(
            std::clamp<std::size_t>(quarters * blocks / 4 / tiles, 1, context));
        const std::uint32_t keys = (context + splits - 1) / splits;
        const std::uint32_t span = (keys + at_once - 1) / at_once * at_once;
        if (spans.empty() || spans.back() != span) spans.push_back(span);
    }
    return spans;
}

} // namespace assay::workload
