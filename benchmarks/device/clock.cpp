// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"

#include "device/holding.hpp"
#include "device/properties.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace assay::device {

EventClock::EventClock(const Stream& stream, const Options& options)
    : stream_{stream}, options_{options} {
    if (options_.launching == Launching::hidden)
        forbidden_by_ = forbids_holding([](const char* name) {
            return std::getenv(name); // NOLINT(concurrency-mt-unsafe): nothing sets it here
        });
    if (!forbidden_by_.empty()) options_.launching = Launching::plain;
    if (options.caches == Caches::cold) flush_.emplace(options.l2_bytes);
}

void EventClock::describe(const Context& context) const {
    mark(context);
    if (const int bytes = attribute(cudaDevAttrL2CacheSize, 0); bytes > 0) {
        context.setting("l2_bytes", bytes);
        context.tell({.cache_bytes = static_cast<double>(bytes)}); // compared with data sheets
    }
    if (forbidden_by_.empty()) return;
    context.setting("launches", "in the time: " + std::string{forbidden_by_} +
                                    " forbids holding a stream back");
}

/// Is work queued behind a kernel that waits? Where the host waits after each call, there is no queue.
bool EventClock::holds() const {
    return options_.launching == Launching::hidden && options_.interval != Interval::completion;
}

/// How many calls are timed by one pair of events.
std::uint64_t EventClock::calls_at_once() const {
    if (options_.caches == Caches::cold) return 1;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const bool has_end = options_.load == Load::burst || options_.lane != nullptr ||
                         options_.interval != Interval::device ||
                         !stays_ahead(seconds_per_call_, options_.operations);
    if (holds() && has_end) most = held_calls(options_.operations);
    constexpr double longest_burst = 0.02; // s: shorter than a power controller takes to react
    if (options_.load == Load::burst && seconds_per_call_ > 0)
        most = std::min(
            most, static_cast<std::uint64_t>(std::max(1.0, longest_burst / seconds_per_call_)));
    return most;
}

/// Queues the calls between the two events; the host's seconds for it.
double EventClock::queued(std::uint64_t calls, const std::function<void()>& queue, bool held) {
    if (flush_) flush_->queue(stream_);
    begin_.record(stream_);
    if (options_.lane != nullptr)
        check(cudaStreamWaitEvent(options_.lane->stream().get(), begin_.get(), 0));
    // The host's time is that of the calls alone, not of what they find in the queue.
    if (options_.interval != Interval::device && !held) stream_.wait();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < calls; ++i) {
        if (held && i == held_calls(options_.operations)) block_.release(); // the rest follows
        queue();
        if (options_.interval == Interval::completion) stream_.wait();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (options_.lane != nullptr) {
        options_.lane->end_.record(options_.lane->stream());
        if (options_.beside == Beside::counted)
            check(cudaStreamWaitEvent(stream_.get(), options_.lane->end_.get(), 0));
    }
    end_.record(stream_);
    check_launches();
    return taken.count();
}

void EventClock::check_background() const {
    if (options_.lane->end_.seconds_since(begin_) >= end_.seconds_since(begin_)) return;
    throw Error{"the background work ended before the timed work"};
}

double EventClock::timed(std::uint64_t calls, const std::function<void()>& queue) {
    const bool held = loaded_ && holds();
    if (held) block_.hold(stream_);
    double host = 0;
    try {
        host = queued(calls, queue, held);
    } catch (...) {
        block_.release();
        throw;
    }
    if (held) block_.release();
    stream_.wait();
    if (options_.lane != nullptr) options_.lane->stream().wait();
    if (held) block_.check_held();
    if (held && options_.lane != nullptr && options_.beside == Beside::background)
        check_background();
    loaded_ = true;
    return options_.interval == Interval::device ? end_.seconds_since(begin_) : host;
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
