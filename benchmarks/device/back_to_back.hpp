// SPDX-License-Identifier: Apache-2.0
//
// The second time of a short call: among many that follow each other in one CUDA graph. A user waits for a single call;
// a server replays layer after layer, and other benchmarks of such kernels time that.

#pragma once

#include "device/clock.hpp"
#include "device/graph.hpp"
#include "device/properties.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace assay::device {

/// s. Beginning and end of a call are more than a percent of it below this.
inline constexpr double short_call = 100e-6;

/// Adds `time_back_to_back`, s, to the metrics where a single call takes less than `short_call`: the median of several
/// graphs of 20 calls each. `queue` queues one call on `stream`, without graphs, and has been called before.
inline void add_back_to_back(Metrics& to, EventClock& clock, const Stream& stream,
                             const std::function<void()>& queue) {
    const bool few = properties().is_cpu();
    const std::uint64_t calls = few ? 2 : 20;
    if (!few && clock.seconds(1, queue) >= short_call) return;
    const Graph graph{stream, [&] {
                          for (std::uint64_t i = 0; i < calls; ++i) queue();
                      }};
    const auto replay = [&] { graph.launch(stream); };
    replay(); // the first is slower
    stream.wait();
    std::vector<double> seconds(few ? 1 : 9);
    for (double& each : seconds) each = clock.seconds(1, replay) / static_cast<double>(calls);
    std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
    to.add("time_back_to_back", seconds[seconds.size() / 2]);
}

} // namespace assay::device
