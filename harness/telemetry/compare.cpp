// SPDX-License-Identifier: Apache-2.0
#include "telemetry/compare.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

/// Those of the machine that time was counted of in both snapshots.
struct Cpus {
    std::set<int> numbers; ///< empty: all
    int count = 0;
    CpuTime begin{};
    CpuTime end{};
};

/// Did it run on other CPUs than these, at both ends as far as is known?
bool is_elsewhere(const Process& process, const Process* before, const Cpus& cpus) {
    const auto is = [&](const Process& at) {
        return at.cpu >= 0 && !cpus.numbers.empty() && !cpus.numbers.contains(at.cpu);
    };
    return is(process) && (before == nullptr || is(*before));
}

/// The same process at the begin; null where it is new.
const Process* same_before(const Processes& begin, int pid, const Process& process) {
    const auto found = begin.find(pid);
    return found != begin.end() && found->second.started == process.started ? &found->second
                                                                            : nullptr;
}

/// CPU time of our processes on these CPUs: siblings that measure at the same time have their own. One that ended
/// inside the window counts where one of ours waited for it, without what it had used before.
double own_seconds(const Processes& begin, const Processes& end, const Cpus& cpus) {
    double seconds = 0;
    double reaped = 0;
    for (const auto& [pid, process] : end) {
        const auto* const before = same_before(begin, pid, process);
        if (is_elsewhere(process, before, cpus)) continue;
        seconds += std::max(0.0, process.seconds - (before == nullptr ? 0.0 : before->seconds));
        reaped += std::max(0.0, process.reaped - (before == nullptr ? 0.0 : before->reaped));
    }
    for (const auto& [pid, process] : begin)
        if (same_before(end, pid, process) == nullptr) reaped -= process.seconds + process.reaped;
    return seconds + std::max(0.0, reaped);
}

void add(std::optional<double>& sum, const std::optional<double>& next) {
    if (next) sum = sum.value_or(0) + *next;
}

Cpus choose(const Snapshot& begin, const Snapshot& end, const std::set<int>& wanted) {
    Cpus chosen;
    for (const auto& [cpu, time] : end.cpus) {
        const auto before = begin.cpus.find(cpu);
        if (!wanted.contains(cpu) || before == begin.cpus.end()) continue;
        chosen.numbers.insert(cpu);
        add(chosen.begin.busy_seconds, before->second.busy_seconds);
        add(chosen.begin.steal_seconds, before->second.steal_seconds);
        add(chosen.end.busy_seconds, time.busy_seconds);
        add(chosen.end.steal_seconds, time.steal_seconds);
    }
    chosen.count = static_cast<int>(chosen.numbers.size());
    const bool is_part = chosen.count > 0 && chosen.numbers.size() < end.cpus.size();
    if (is_part && chosen.end.busy_seconds) return chosen;
    return {.numbers = {},
            .count = static_cast<int>(end.cpus.size()),
            .begin = begin.all_cpus,
            .end = end.all_cpus};
}

/// The names of at most three foreign programs that used most CPU time: "chromium, cc1plus". Programs that began and
/// ended within the window are not seen.
std::string name_programs(const Snapshot& begin, const Snapshot& end, const Cpus& cpus) {
    std::map<std::string, double> used; // by name: a build has many compilers
    double most = 0;
    for (const auto& [pid, process] : end.all) {
        if (begin.own.contains(pid) || end.own.contains(pid)) continue;
        const auto* const before = same_before(begin.all, pid, process);
        if (is_elsewhere(process, before, cpus)) continue;
        double& seconds = used[process.name];
        seconds += std::max(0.0, process.seconds - (before == nullptr ? 0 : before->seconds));
        most = std::max(most, seconds);
    }
    std::vector<std::pair<double, std::string>> ranked;
    // A tenth of the first one disturbs no more than any machine does.
    for (const auto& [name, seconds] : used)
        if (seconds > 0.1 * most) ranked.emplace_back(-seconds, name);
    std::ranges::sort(ranked);
    constexpr std::size_t named = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(ranked.size(), named); ++i)
        names += (i == 0 ? "" : ", ") + ranked[i].second;
    return names;
}

double longest_wait(const Snapshot& begin, const Snapshot& end) {
    double longest = 0;
    if (begin.waited.empty()) return longest; // not counted
    for (const auto& [thread, waited] : end.waited) {
        const auto before = begin.waited.find(thread);
        longest = std::max(longest, waited - (before == begin.waited.end() ? 0 : before->second));
    }
    return longest;
}

/// Each of n busy CPUs is counted to the tick at both ends: an error with a standard deviation of
/// 0.41 ticks, so 0.41 sqrt(n) for all. Twice that is not yet a foreign process.
double counting_error(int cpus, double capacity_seconds) {
    const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return 0.82 * std::sqrt(cpus) * tick / capacity_seconds;
}

void add_foreign(double share, const std::string& programs, bool is_part,
                 record::Telemetry& telemetry) {
    record::Values values{{"share", share}};
    if (!programs.empty()) values.push_back({"programs", programs});
    disturb(telemetry, Code::foreign_cpu, std::move(values),
            fmt::format("Other programs{} used {:.1f}% of the {} CPU time: stop them (`top` shows "
                        "which) and measure again.",
                        programs.empty() ? "" : " (" + programs + ")", 100 * share,
                        is_part ? "case's" : "machine's"));
}

void add_shares(const Snapshot& begin, const Snapshot& end, const Cpus& cpus, double seconds,
                record::Telemetry& telemetry) {
    const double capacity = seconds * cpus.count;
    if (seconds < shortest_seconds || cpus.count < 1) return;
    if (const auto busy = difference(cpus.begin.busy_seconds, cpus.end.busy_seconds)) {
        const double foreign =
            std::clamp((*busy - own_seconds(begin.own, end.own, cpus)) / capacity, 0.0, 1.0);
        telemetry.foreign_cpu = foreign;
        if (foreign > foreign_limit + counting_error(cpus.count, capacity))
            add_foreign(foreign, name_programs(begin, end, cpus), !cpus.numbers.empty(), telemetry);
    }
    if (const auto steal = difference(cpus.begin.steal_seconds, cpus.end.steal_seconds)) {
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

void compare(const Snapshot& begin, const Snapshot& end, const std::set<int>& cpus,
             record::Telemetry& telemetry) {
    const auto others = std::exchange(telemetry.disturbances, {});
    const auto other_codes = std::exchange(telemetry.disturbed_by, {});
    const double seconds = std::max(0.0, end.time - begin.time);
    telemetry.window_seconds = seconds;
    add_shares(begin, end, choose(begin, end, cpus), seconds, telemetry);
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
