// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <thread>

namespace assay::device {

namespace {

/// Tools that run one kernel at a time would wait for ever behind one that waits for the next:
/// ASSAY_HOLD_STREAMS=0 is for compute-sanitizer, and its times are not for publishing.
bool may_hold() {
    const char* value = std::getenv("ASSAY_HOLD_STREAMS"); // NOLINT: nothing sets it here
    return value == nullptr || std::string_view{value} != "0";
}

} // namespace

EventClock::EventClock(const Stream& stream, const Options& options)
    : stream_{stream}, options_{options} {
    if (!may_hold()) options_.launching = Launching::plain;
    if (options.caches == Caches::cold) flush_.emplace(options.l2_bytes);
}

/// How many calls are timed by one pair of events.
std::uint64_t EventClock::calls_at_once() const {
    if (options_.caches == Caches::cold) return 1;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    if (options_.launching == Launching::hidden) most = Block::most_queued;
    constexpr double longest_burst = 0.02; // s: shorter than a power controller takes to react
    if (options_.load == Load::burst && seconds_per_call_ > 0)
        most = std::min(
            most, static_cast<std::uint64_t>(std::max(1.0, longest_burst / seconds_per_call_)));
    return most;
}

double EventClock::timed(std::uint64_t calls, const std::function<void()>& queue) {
    const bool held = loaded_ && options_.launching == Launching::hidden;
    if (held) block_.hold(stream_);
    try {
        if (flush_) flush_->queue(stream_);
        begin_.record(stream_);
        for (std::uint64_t i = 0; i < calls; ++i) queue();
        end_.record(stream_);
        check_launches();
    } catch (...) {
        block_.release();
        throw;
    }
    if (held) block_.release();
    stream_.wait();
    if (held) block_.check_held();
    loaded_ = true;
    return end_.seconds_since(begin_);
}

double EventClock::stretch(std::uint64_t calls, const std::function<void()>& queue) {
    const double seconds = timed(calls, queue);
    seconds_per_call_ = seconds / static_cast<double>(calls);
    if (options_.load == Load::burst) {
        constexpr double rest = 4; // times as long: the chip works a fifth of the time
        std::this_thread::sleep_for(std::chrono::duration<double>(rest * seconds));
    }
    return seconds;
}

double EventClock::seconds(std::uint64_t calls, const std::function<void()>& queue) {
    double total = 0;
    for (std::uint64_t left = calls; left > 0;) {
        const std::uint64_t now = std::min(left, loaded_ ? calls_at_once() : 1);
        total += stretch(now, queue);
        left -= now;
    }
    return total;
}

} // namespace assay::device
