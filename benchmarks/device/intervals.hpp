// SPDX-License-Identifier: Apache-2.0
//
// What may be timed of work on a device, and the axis of it.

#pragma once

#include <assay/axes.hpp>

#include <cstdint>

namespace assay::device {

enum class Interval : std::uint8_t {
    device, // the device's time from the start of the first call to the end of the last, by events
    queue,  // the host's time until all are queued
    completion // the host's time, waiting for the device after each call
};

template <class Params>
consteval auto interval_axis(Interval Params::* field) {
    return choice(
        "interval",
        "what is timed: completion, host time until the work is done; queue, host time of "
        "the call alone; device, device time from one to the next",
        field,
        {Name{"completion", Interval::completion}, Name{"queue", Interval::queue},
         Name{"device", Interval::device}});
}

} // namespace assay::device
