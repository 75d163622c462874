// SPDX-License-Identifier: Apache-2.0
//
// Copies between all pairs of devices, one pair after the other, each timed by the clock of the device that
// sends. What transfer.peer and latency.peer share.

#pragma once

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "transfer/peers.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace assay::transfer {

/// Seconds by the devices' clocks, over all pairs.
class MatrixClock {
public:
    static constexpr double resolution = device::EventClock::resolution;

    template <class Run>
    double seconds(std::uint64_t calls, Run&& run) {
        const double before = total_;
        for (std::uint64_t i = 0; i < calls; ++i) run();
        return total_ - before;
    }
    void add(double seconds) { total_ += seconds; }
    static void describe(const Context& context) { device::mark(context); }

private:
    double total_ = 0;
};

class PeerLinks {
public:
    struct Plan {
        Path path = Path::peer;
        bool both_ways = false;
        std::size_t words = 0; ///< of a copy
        int copies = 1;        ///< of a pair in a call
    };
    /// Are there two devices, is the way there, and is there room?
    static Fit fits(const Plan& plan);

    PeerLinks(const Plan& plan, const Context& context);
    ~PeerLinks();
    PeerLinks(const PeerLinks&) = delete;
    PeerLinks(PeerLinks&&) = delete;
    PeerLinks& operator=(const PeerLinks&) = delete;
    PeerLinks& operator=(PeerLinks&&) = delete;

    MatrixClock& clock() { return clock_; }
    /// All pairs.
    void run();
    /// Copies of one call over all pairs, counting both directions.
    double copies() const;
    Check verify() const;
    void poison();
    void spoil();

    /// The mean seconds of a pair's part of a call; empty before the second call. The first one has
    /// nothing hidden and opens the ways.
    std::vector<double> seconds_of_pairs() const;
    Table table(const char* metric, std::span<const double> values) const;

private:
    struct Device;
    struct Link;
    void copy(const Device& from, const Device& to, const device::Stream& stream) const;
    template <class Visit>
    void on_each_slot(Visit&& visit) const;

    Plan plan_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::vector<DevicePair> pairs_;
    std::vector<std::unique_ptr<Link>> links_; // of the pairs
    MatrixClock clock_;
    std::uint64_t calls_ = 0;
    std::uint64_t spoils_ = 0;
};

} // namespace assay::transfer
