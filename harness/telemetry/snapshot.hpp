// SPDX-License-Identifier: Apache-2.0
//
// The kernel's counters at one moment. Every field that the kernel does not offer stays absent.

#pragma once

#include "machine/files.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace assay::telemetry {

/// A process that is ours. Its number may be used again later: the start tells two apart.
struct Process {
    std::int64_t started = 0;
    double seconds = 0; ///< CPU time used
};
using Processes = std::map<int, Process>; // by process id

struct Snapshot {
    double time = 0; ///< seconds since anything
    std::optional<double> core_clock_hz;
    int cpus = 0;
    std::optional<double> busy_seconds;  ///< of all CPUs: user, nice and system time
    std::optional<double> steal_seconds; ///< of all CPUs
    std::optional<double> throttle_events;
    std::optional<double> page_migrations;
    std::optional<double> quota_seconds; ///< for which a cgroup's CPU quota stopped us
    std::map<int, double> waited;        ///< by thread of this process: seconds it waited for a CPU
    Processes own;
};

/// The files that count thermal throttling: one for each package and each core. Found once, for
/// looking through the folders of all CPUs takes longer than reading.
std::vector<std::filesystem::path> throttle_files(const machine::Files& files);

/// Fills in `cpus`, `busy_seconds` and `steal_seconds`.
void read_cpu_time(const machine::Files& files, Snapshot& snapshot);

/// Fills in `throttle_events` to `waited`.
void read_counters(const machine::Files& files, const std::vector<std::filesystem::path>& throttle,
                   Snapshot& snapshot);

/// The process `owner`, all below it, and those of `known` that still run. `cpu_seconds` is asked
/// first, being finer than the files.
Processes read_processes(const machine::Files& files, int owner, const Processes& known,
                         const std::function<std::optional<double>(int)>& cpu_seconds);

} // namespace assay::telemetry
