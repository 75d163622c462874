// SPDX-License-Identifier: Apache-2.0
//
// How many messages one call sends. A call ends when all of them are there, and what that costs, the time of a
// call without messages, must not count: 1% at most. So a call lasts a hundred times as long.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::network {

inline constexpr double ends_in_a_call = 100;
inline constexpr std::uint64_t most_messages = 1U << 18U;

struct Burst {
    std::uint64_t messages;
    double end; ///< seconds of a call without messages
};

/// `seconds(messages)` runs one call and returns the same time on every rank. The first calls open
/// connections and touch pages; a disturbance makes a call longer, never shorter.
template <class Seconds>
Burst find_burst(Seconds&& seconds) {
    constexpr int warm_up = 10;
    std::array<double, 21> ends{};
    for (int i = 0; i < warm_up; ++i) seconds(0);
    for (double& end : ends) end = seconds(0);
    // The lower quartile: the shortest may be one where the partner had begun before.
    std::ranges::nth_element(ends, ends.begin() + ends.size() / 4);
    Burst burst{.messages = 1, .end = ends[ends.size() / 4]};
    const auto shortest_of_three = [&] {
        return std::min(
            {seconds(burst.messages), seconds(burst.messages), seconds(burst.messages)});
    };
    while (burst.messages < most_messages && shortest_of_three() < ends_in_a_call * burst.end)
        burst.messages *= 2;
    return burst;
}

} // namespace assay::network
