// SPDX-License-Identifier: Apache-2.0
//
// Holds a stream back until the host says go: work is queued behind a kernel that waits for a flag, so
// that the device never waits for the host between two launches and no launch is timed.

#pragma once

#include "device/handles.hpp"

namespace assay::device {

class Block {
public:
    Block();
    /// Queues the kernel that waits. Between this and release() nothing may synchronise, allocate or
    /// load a kernel, and at most `most_queued` operations may be queued (holding.hpp).
    void hold(const Stream& stream);
    void release();
    /// After the stream was waited for: throws when the kernel gave up waiting, because then launches
    /// were not hidden.
    void check_held() const;

private:
    enum : int { flag, gave_up, count };
    PinnedBuffer<int> signals_;
};

} // namespace assay::device
