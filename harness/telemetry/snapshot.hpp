// SPDX-License-Identifier: Apache-2.0
//
// The kernel's counters at one moment. Fields that the kernel does not offer are absent.

#pragma once

#include "machine/files.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace assay::telemetry {

/// One of our processes. Its number may be reused later: the start time distinguishes them.
struct Process {
    std::int64_t started = 0;
    double seconds = 0; ///< CPU time used
};
using Processes = std::map<int, Process>; // by process id

struct Snapshot {
    double time = 0; ///< seconds since any origin
    std::optional<double> core_clock_hz;
    int cpus = 0;
    std::optional<double> busy_seconds;  ///< of all CPUs: user, nice and system time
    std::optional<double> steal_seconds; ///< of all CPUs
    std::optional<double> throttle_events;
    std::optional<double> page_migrations;
    std::optional<double> quota_seconds; ///< during which a cgroup's CPU quota stopped us
    std::map<int, double> waited;        ///< by thread of this process: seconds it waited for a CPU
    Processes own;
};

/// The files that count thermal throttling: one for each package and each core. Found once, because
/// searching the folders of all CPUs takes longer than reading.
std::vector<std::filesystem::path> throttle_files(const machine::Files& files);

/// Fills in `cpus`, `busy_seconds` and `steal_seconds`.
void read_cpu_time(const machine::Files& files, Snapshot& snapshot);

/// Fills in `throttle_events` to `waited`.
void read_counters(const machine::Files& files, const std::vector<std::filesystem::path>& throttle,
                   Snapshot& snapshot);

/// The process `owner`, its descendants, and those of `known` that still run. `cpu_seconds` comes
/// first: it is finer than the files.
Processes read_processes(const machine::Files& files, int owner, const Processes& known,
                         const std::function<std::optional<double>(int)>& cpu_seconds);

} // namespace assay::telemetry
