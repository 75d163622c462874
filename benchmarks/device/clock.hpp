// SPDX-License-Identifier: Apache-2.0
//
// The clock of a device: events on a stream of our own, with the launches hidden. A benchmark that has a
// member `clock()` of this type is timed by it.

#pragma once

#include "device/block.hpp"
#include "device/flush.hpp"
#include "device/handles.hpp"
#include "device/intervals.hpp"

#include <assay/benchmark.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace assay::device {

enum class Caches : std::uint8_t {
    hot, // what the call before left in the second level cache may be used
    cold // the cache is flushed before every call, outside the timing
};

/// How hard the chip is driven: matrix products at full power lower its clock within milliseconds.
enum class Load : std::uint8_t {
    sustained, // batch after batch, long calls without a pause
    burst      // after each stretch of at most 20 ms the chip rests four times as long
};

/// s. Batches of work that takes all the power a chip may have last so long at least. At its power limit an H100 swings
/// about its mean rate by 5%, with a period of 0.6 to 1 s: means over shorter times follow each other, and no
/// interval can be made of them (decision 0511).
inline constexpr double powerful_batch = 0.25;

enum class Launching : std::uint8_t {
    hidden, // queued behind a kernel that waits
    plain   // for work that waits for the host in between, or whose launch is the question
};

/// How the work on a second stream relates to the time.
enum class Beside : std::uint8_t {
    counted,   // the time ends when both streams are done
    background // only keeps the device busy: must last longer than what is timed
};

/// A second stream, on the device that is current when it is made. It begins with the first one.
class Lane {
public:
    const Stream& stream() const { return stream_; }

private:
    friend class EventClock;
    Stream stream_;
    Event end_;
};

class EventClock {
public:
    /// cudaEventElapsedTime resolves about half a microsecond; a pair costs as much.
    static constexpr double resolution = 1e-6;

    struct Options {
        Caches caches = Caches::hot;
        Load load = Load::sustained;
        Launching launching = Launching::hidden;
        std::int64_t l2_bytes = 0; ///< needed for cold caches
        Interval interval = Interval::device;
        int operations = 1;         ///< that one call queues on a stream, at most
        const Lane* lane = nullptr; ///< calls queue work on this one, too
        Beside beside = Beside::counted;
    };

    explicit EventClock(const Stream& stream) : EventClock{stream, Options{}} {}
    EventClock(const Stream& stream, const Options& options);

    /// Records what every figure of a device depends on: its second level cache, and that launches are in
    /// the time where nothing may be held back. Called after the benchmark was made.
    void describe(const Context& context) const;

    /// The work that one call queues is known only when it has been prepared: a library's plan, a graph's nodes.
    void expect_operations(std::size_t each_call) {
        options_.operations = static_cast<int>(std::max<std::size_t>(each_call, 1));
    }

    /// Seconds for `calls` calls of `queue`, which queues work on the stream.
    /// Throws what went wrong in any of it.
    double seconds(std::uint64_t calls, const std::function<void()>& queue);

private:
    double stretch(std::uint64_t calls, const std::function<void()>& queue);
    double timed(std::uint64_t calls, const std::function<void()>& queue);
    double queued(std::uint64_t calls, const std::function<void()>& queue, bool held);
    std::uint64_t calls_at_once() const;
    bool holds() const;
    void check_background() const;

    const Stream& stream_;
    Options options_;
    std::string_view forbidden_by_; ///< a variable of the environment; "": nothing forbids holding
    Block block_;
    std::optional<Flush> flush_;
    Event begin_;
    Event end_;
    bool loaded_ = false;         // kernels are loaded by the first call, which cannot be held back
    double seconds_per_call_ = 0; // of the last stretch
};

} // namespace assay::device
