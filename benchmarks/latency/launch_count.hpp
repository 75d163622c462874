// SPDX-License-Identifier: Apache-2.0
//
// Evidence that kernels ran: each adds one to a counter on the device, and the host knows how many it
// launched.

#pragma once

#include "device/handles.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>

namespace assay::latency {

class LaunchCount {
public:
    /// Launches the kernel once, which loads it.
    explicit LaunchCount(const device::Stream& stream);

    /// Queues one kernel of one thread that counts itself and does nothing else.
    void queue() const;
    /// So many of them have been launched, by queue() or by a graph.
    void launched(std::uint64_t kernels) { expected_ += kernels; }

    Check verify() const;
    void poison();
    void spoil();
    /// Looks whether all that ran since the last start was counted, which ends the case if not, and starts
    /// again at 0. So every batch is checked.
    void restart();

private:
    void start();
    void set(unsigned long long value);
    unsigned long long counted() const;

    const device::Stream& stream_;
    device::Buffer<unsigned long long> counter_;
    std::uint64_t expected_ = 0;
    bool is_spoiled_ = false; // on purpose
};

} // namespace assay::latency
