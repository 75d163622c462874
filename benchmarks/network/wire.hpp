// SPDX-License-Identifier: Apache-2.0
//
// A rank's connection to its partner. The benchmarks are written once; which library carries their messages is decided
// when a module is built: UCX (ucx_wire.hpp), or libfabric for `ofi` (ofi_wire.hpp). Each has
//
//   Region                                memory that the library has registered
//   Pending                               counts operations under way
//   Wire::put, get, send, receive         begin an operation
//   Wire::progress, finish, flush, part   let time pass for the library
//
// A partner that has finished must go on driving its library until the other one has: over TCP, and wherever something
// is emulated, it is the partner's processor that acknowledges. part() is that: everybody drives until all are there.

#pragma once

#include "meeting.hpp"

#ifdef ASSAY_OFI
#include "ofi_wire.hpp"
#else
#include "ucx_wire.hpp"
#endif

#include <chrono>
#include <cstdint>

namespace assay::network {

/// Times the calls of a batch, ends what the library still has to do outside of it.
class WireClock {
public:
    static constexpr double resolution = 1e-9; ///< seconds; that of the host's clock counts
    explicit WireClock(Wire& wire) : wire_{wire} {}

    template <class Run>
    double seconds(std::uint64_t calls, Run&& run) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        for (std::uint64_t i = 0; i < calls; ++i) run();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        wire_.part();
        return seconds;
    }

private:
    Wire& wire_;
};

} // namespace assay::network
