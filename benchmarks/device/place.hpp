// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark in several precisions has once: it inherits the Place before the precisions
// (assay/one_of.hpp), so that it is there when they are made.

#pragma once

#include "device/clock.hpp"
#include "device/handles.hpp"
#include "device/properties.hpp"

namespace assay::device {

struct Place {
    explicit Place(Caches caches = Caches::hot)
        : clock{stream, {.caches = caches, .l2_bytes = properties.l2_bytes}} {}
    Properties properties = device::properties();
    Stream stream;
    EventClock clock;
};

/// Inherit from it: a stream, and the clock of what is queued there.
class OnDevice {
public:
    EventClock& clock() { return clock_; }

protected:
    explicit OnDevice(const EventClock::Options& options = {}) : clock_{stream_, options} {}

    Stream stream_;
    EventClock clock_;
};

} // namespace assay::device
