// SPDX-License-Identifier: Apache-2.0
//
// How many messages one call sends. A call ends when all of them are there: the last ones are waited for, with the
// window running empty, and the partner is told. That must not count against a stream that goes on, so a call
// lasts three hundred times as long as one without messages, and has a hundred windows full. With less (100
// times) puts of 4 KiB over TCP were 10% slower than a stream that ends once.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::network {

inline constexpr double ends_in_a_call = 300;
inline constexpr std::uint64_t windows_in_a_call = 100;
/// Where messages are long or the partner is far away a call of this length will do, of so many ends at least.
inline constexpr double long_call = 0.25; // s
inline constexpr double least_ends = 50;
inline constexpr std::uint64_t most_messages = 1U << 20U;

struct Burst {
    std::uint64_t messages;
    double end; ///< seconds of a call without messages
};

/// `seconds(messages)` runs one call and returns the same time on every rank. The first calls open
/// connections and touch pages; a disturbance makes a call longer, never shorter.
template <class Seconds>
Burst find_burst(std::uint64_t window, Seconds&& seconds) {
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
    const auto is_enough = [&](double call) {
        if (call >= std::max(least_ends * burst.end, long_call)) return true;
        return call >= ends_in_a_call * burst.end && burst.messages >= windows_in_a_call * window;
    };
    while (burst.messages < most_messages && !is_enough(shortest_of_three())) burst.messages *= 2;
    return burst;
}

} // namespace assay::network
