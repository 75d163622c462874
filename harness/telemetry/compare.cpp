// SPDX-License-Identifier: Apache-2.0
#include "telemetry/compare.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::telemetry {
namespace {

// The kernel counts CPU time in ticks of 10 ms: below five of them a share means nothing.
constexpr double shortest_seconds = 0.05;

// Disturbances that may change a value by more than the target (protocol: 1%) in the worst case, when
// all of it affects our own cores.
constexpr double foreign_limit = 0.02;
constexpr double steal_limit = 0.01;
constexpr double wait_limit = 0.02;
constexpr double quota_limit = 0.01;
constexpr double clock_limit = 0.03;

using Code = record::DisturbanceCode;

/// The increase of a counter; absent if one end is, or if it ran backwards.
std::optional<double> difference(const std::optional<double>& begin,
                                 const std::optional<double>& end) {
    if (!begin || !end || *end < *begin) return std::nullopt;
    return *end - *begin;
}

/// CPU time of our processes. One that ended inside the window is missed and counts as foreign.
double own_seconds(const Processes& begin, const Processes& end) {
    double seconds = 0;
    for (const auto& [pid, process] : end) {
        const auto before = begin.find(pid);
        const bool is_same = before != begin.end() && before->second.started == process.started;
        seconds += std::max(0.0, process.seconds - (is_same ? before->second.seconds : 0.0));
    }
    return seconds;
}

double longest_wait(const Snapshot& begin, const Snapshot& end) {
    double longest = 0;
    for (const auto& [thread, waited] : end.waited) {
        const auto before = begin.waited.find(thread);
        longest = std::max(longest, waited - (before == begin.waited.end() ? 0 : before->second));
    }
    return longest;
}

/// Each of n busy CPUs is counted to the tick at both ends: an error with a standard deviation of
/// 0.41 ticks, so 0.41 sqrt(n) for all. Twice that is not yet a foreign process.
double counting_error(const Snapshot& end, double capacity_seconds) {
    const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return 0.82 * std::sqrt(end.cpus) * tick / capacity_seconds;
}

void add_shares(const Snapshot& begin, const Snapshot& end, double seconds,
                record::Telemetry& telemetry) {
    const double capacity = seconds * end.cpus;
    if (seconds < shortest_seconds || end.cpus < 1) return;
    if (const auto busy = difference(begin.busy_seconds, end.busy_seconds)) {
        const double foreign =
            std::clamp((*busy - own_seconds(begin.own, end.own)) / capacity, 0.0, 1.0);
        telemetry.foreign_cpu = foreign;
        if (foreign > foreign_limit + counting_error(end, capacity))
            disturb(telemetry, Code::foreign_cpu, {{"share", foreign}},
                    fmt::format("Other programs used {:.1f}% of the machine's CPU time: stop "
                                "them (`top` shows which) and measure again.",
                                100 * foreign));
    }
    if (const auto steal = difference(begin.steal_seconds, end.steal_seconds)) {
        telemetry.steal = std::clamp(*steal / capacity, 0.0, 1.0);
        if (*telemetry.steal > steal_limit)
            disturb(telemetry, Code::steal, {{"share", *telemetry.steal}},
                    fmt::format("The hypervisor took {:.1f}% of the CPU time for other "
                                "machines: measure again at another time, or on an instance "
                                "with CPUs of its own.",
                                100 * *telemetry.steal));
    }
}

void add_waits(const Snapshot& begin, const Snapshot& end, double seconds,
               record::Telemetry& telemetry) {
    const double waited = longest_wait(begin, end);
    if (seconds >= shortest_seconds && waited > wait_limit * seconds)
        disturb(telemetry, Code::waiting, {{"share", std::min(1.0, waited / seconds)}},
                fmt::format("A thread of this benchmark waited {:.1f}% of the time for its "
                            "CPU: something else runs there, or there are more threads than "
                            "CPUs.",
                            100 * std::min(1.0, waited / seconds)));
    const auto stopped = difference(begin.quota_seconds, end.quota_seconds);
    if (stopped && *stopped > quota_limit * seconds)
        disturb(telemetry, Code::quota,
                {{"stopped_seconds", *stopped}, {"window_seconds", seconds}},
                fmt::format("The container's CPU quota stopped this benchmark for {:.3g} s of "
                            "{:.3g} s: raise the quota (cpu.max) or use fewer threads.",
                            *stopped, seconds));
}

void add_clock(const Snapshot& begin, const Snapshot& end, record::Telemetry& telemetry) {
    if (!begin.core_clock_hz || !end.core_clock_hz) return;
    const double before = *begin.core_clock_hz;
    const double after = *end.core_clock_hz;
    // Not numbers: a clock that could not be measured.
    if (!std::isfinite(before) || !std::isfinite(after) || before <= 0 || after <= 0) return;
    telemetry.core_clock_hz = (before + after) / 2;
    const double change = after / before - 1;
    if (std::abs(change) <= clock_limit) return;
    disturb(telemetry, change < 0 ? Code::clock_fell : Code::clock_rose,
            {{"from_hz", before}, {"to_hz", after}, {"change_share", change}},
            fmt::format("The core clock {} from {:.2f} to {:.2f} GHz ({:+.1f}%): {}.",
                        change < 0 ? "fell" : "rose", before * 1e-9, after * 1e-9, 100 * change,
                        change < 0
                            ? "check temperature, power limits and busy neighbours"
                            : "fix the clock (governor `performance`) or lengthen the warm-up"));
}

} // namespace

void compare(const Snapshot& begin, const Snapshot& end, record::Telemetry& telemetry) {
    const auto others = std::exchange(telemetry.disturbances, {});
    const auto other_codes = std::exchange(telemetry.disturbed_by, {});
    const double seconds = std::max(0.0, end.time - begin.time);
    telemetry.window_seconds = seconds;
    add_shares(begin, end, seconds, telemetry);
    add_waits(begin, end, seconds, telemetry);
    telemetry.throttle_events = difference(begin.throttle_events, end.throttle_events);
    if (const double events = telemetry.throttle_events.value_or(0); events > 0)
        disturb(telemetry, Code::too_hot, {{"events", events}},
                fmt::format("The processor throttled {:.0f} times at its thermal limit: "
                            "check its cooling.",
                            events));
    telemetry.page_migrations = difference(begin.page_migrations, end.page_migrations);
    add_clock(begin, end, telemetry);
    telemetry.disturbances.insert(telemetry.disturbances.end(), others.begin(), others.end());
    telemetry.disturbed_by.insert(telemetry.disturbed_by.end(), other_codes.begin(),
                                  other_codes.end());
}

} // namespace assay::telemetry
