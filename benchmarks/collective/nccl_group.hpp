// SPDX-License-Identifier: Apache-2.0
//
// The devices of this process as ranks of one NCCL communicator: their streams, buffers and events, the
// call that is timed, and what all of them must find. One thread queues the call for every device, as
// NCCL's own tests do with -g. nccl_members.hpp tells which devices: all, or one of many.

#pragma once

#include "collective/nccl_choice.hpp"
#include "collective/nccl_log.hpp"
#include "collective/nccl_members.hpp"
#include "collective/nccl_values.hpp"
#include "device/handles.hpp"
#include "device/properties.hpp"

#include <assay/benchmark.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace assay::collective {

struct NcclParams : NcclChoice {
    Symbolic ranks;
    std::int64_t bytes = 0;
    Element element = Element::fp32;
    bool in_place = false;
};

/// Work of a device beside its messages.
struct Beside {
    int capability = 0;     ///< of the oldest device that can: 80 for 8.0
    std::int64_t bytes = 0; ///< of its memory
};

class NcclGroup {
public:
    /// Are there enough devices, with room, that can do it?
    static Fit fits(Kind kind, const NcclParams& params, const Machine& machine,
                    const Beside& beside = {});

    NcclGroup(Kind kind, const NcclParams& params, const Context& context);
    ~NcclGroup();
    NcclGroup(const NcclGroup&) = delete;
    NcclGroup& operator=(const NcclGroup&) = delete;

    /// A device of this process, and where its calls are queued.
    struct Lane {
        int device;
        const device::Stream* stream;
    };
    std::vector<Lane> lanes() const;

    /// The clock: events on every stream; the slowest device counts.
    static constexpr double resolution = 1e-6; // s, of a pair of events
    template <class Run>
    double seconds(std::uint64_t calls, Run&& run) {
        begin();
        for (std::uint64_t i = 0; i < calls; ++i) run();
        return end();
    }
    static void describe(const Context& context) { device::mark(context); }

    NcclGroup& clock() { return *this; }
    void run();
    Work work() const {
        return {.algorithm_bytes = bytes(), .bus_bytes = bytes() * bus_factor(kind_, ranks_)};
    }
    /// The numbers, and the way they took.
    Check verify() const;
    void poison();
    void spoil();
    /// Restores what calls in place change.
    void rewind();

private:
    struct Device;
    void begin();
    double end();
    void set_up();
    void connect();
    void enroll();
    void use_home() const;
    void fill(const Device& device) const;
    void call(const Device& device) const;
    void rotate(const Device& device) const;
    void queue();
    void refill();
    void wait() const;
    Expected expected(int rank) const;
    double bound() const;
    Check prove(Check check) const;
    /// Size of the message.
    double bytes() const;

    Kind kind_;
    NcclParams params_;
    Context context_;
    Members members_;
    int ranks_;
    std::size_t count_;
    std::int64_t largest_;
    std::uint64_t most_calls_; // in place, before inputs are made again
    std::uint64_t calls_ = 0;  // since inputs were fresh
    bool failed_ = false;      // a communicator that failed can only be given up
    LogFile log_;              // before the communicators
    std::optional<NcclLog> seen_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace assay::collective
