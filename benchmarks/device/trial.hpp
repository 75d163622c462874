// SPDX-License-Identifier: Apache-2.0
//
// Pure: `Clock` is EventClock, or a test's.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace assay::device {

/// The fastest of several ways to do the same: queue(i) queues the work in the way i, several times in
/// turns; work(i) is how much that is. A later way must be clearly faster, so that the choice is the same
/// in every process.
template <class Clock, class Queue, class Work>
std::size_t fastest_of(Clock& clock, std::size_t count, const Queue& queue, const Work& work) {
    constexpr int rounds = 5;
    constexpr std::uint64_t calls = 3;
    constexpr double clearly = 0.995; // of the time
    std::vector<double> fastest(count, std::numeric_limits<double>::infinity());
    // Each is another kernel, which must be loaded before a stream is held back.
    for (std::size_t i = 0; i < count; ++i) queue(i);
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < count; ++i)
            fastest[i] = std::min(fastest[i], clock.seconds(calls, [&] { queue(i); }) / work(i));
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i)
        if (fastest[i] < clearly * fastest[best]) best = i;
    return best;
}
template <class Clock, class Queue>
std::size_t fastest_of(Clock& clock, std::size_t count, const Queue& queue) {
    return fastest_of(clock, count, queue, [](std::size_t) { return 1.0; });
}
/// The shape to take: queue(shape) queues the work with it.
template <class Clock, class Shape, class Queue>
Shape fastest_of(Clock& clock, const std::vector<Shape>& shapes, const Queue& queue) {
    return shapes[fastest_of(clock, shapes.size(), [&](std::size_t i) { queue(shapes[i]); })];
}

} // namespace assay::device
