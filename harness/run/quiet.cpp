// SPDX-License-Identifier: Apache-2.0
#include "run/quiet.hpp"

#include "telemetry/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace assay::harness {
namespace {

constexpr double sample_seconds = 0.2;
constexpr double quiet_share = 0.02;

/// What others used of the time of all CPUs, less what the counting in ticks explains.
double foreign_share(const telemetry::Snapshot& begin, const telemetry::Snapshot& end,
                     double own_seconds) {
    const auto cpus = static_cast<double>(end.cpus.size());
    const double capacity = (end.time - begin.time) * cpus;
    if (!(capacity > 0)) return 0;
    const auto& before = begin.all_cpus;
    const auto& after = end.all_cpus;
    const double used = after.busy_seconds.value_or(0) - before.busy_seconds.value_or(0) +
                        after.steal_seconds.value_or(0) - before.steal_seconds.value_or(0) -
                        own_seconds;
    const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return (used - 0.82 * std::sqrt(cpus) * tick) / capacity; // telemetry/compare.cpp
}

} // namespace

bool wait_for_quiet(const QuietOptions& options, double limit_seconds) {
    const auto look = [&] {
        telemetry::Snapshot snapshot;
        telemetry::read_cpu_time(options.files, snapshot);
        snapshot.time = options.now();
        return snapshot;
    };
    const double started = options.now();
    for (;;) {
        const auto begin = look();
        if (!begin.all_cpus.busy_seconds) return true;
        const double own = options.own_seconds();
        if (!options.pause(sample_seconds)) return false;
        const auto end = look();
        if (foreign_share(begin, end, options.own_seconds() - own) <= quiet_share) return true;
        if (end.time - started >= limit_seconds) return false;
    }
}

} // namespace assay::harness
