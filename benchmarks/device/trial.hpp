// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace assay::device {

/// The fastest of several ways to do the same: queue(i) queues the work in the way i, several times in
/// turns. A later way must be clearly faster, so that the choice is the same in every process.
inline std::size_t fastest_of(EventClock& clock, std::size_t count,
                              const std::function<void(std::size_t)>& queue) {
    constexpr int rounds = 5;
    constexpr std::uint64_t calls = 3;
    constexpr double clearly = 0.995; // of the time
    std::vector<double> fastest(count, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < count; ++i) queue(i); // loads the kernels
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < count; ++i)
            fastest[i] = std::min(fastest[i], clock.seconds(calls, [&] { queue(i); }));
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i)
        if (fastest[i] < clearly * fastest[best]) best = i;
    return best;
}

} // namespace assay::device
