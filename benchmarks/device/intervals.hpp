// SPDX-License-Identifier: Apache-2.0
//
// What may be timed of work on a device, and the words for it on axes.

#pragma once

#include <assay/axes.hpp>

#include <cstdint>

namespace assay::device {

enum class Interval : std::uint8_t {
    device, // the device's time from the start of the first call to the end of the last, by events
    queue,  // the host's time until all are queued
    completion // the host's time, waiting for the device after each call
};

// As choice() takes them.
inline constexpr Name<Interval> interval_names[] = { // NOLINT(*-avoid-c-arrays)
    {"completion", Interval::completion},
    {"queue", Interval::queue},
    {"device", Interval::device}};
inline constexpr Interval every_interval[] = { // NOLINT(*-avoid-c-arrays)
    Interval::completion, Interval::queue, Interval::device};
inline constexpr const char* interval_help =
    "what is timed: completion, host time until the work is done; queue, host time of the call "
    "alone; device, device time from one to the next";

} // namespace assay::device
