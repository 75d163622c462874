// SPDX-License-Identifier: Apache-2.0
//
// The kernel's counters at one moment. Fields that the kernel does not offer are absent.

#pragma once

#include "machine/files.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::telemetry {

/// Its number may be reused later: the start time distinguishes them.
struct Process {
    std::int64_t started = 0;
    double seconds = 0; ///< CPU time used
    double reaped = 0;  ///< CPU time of its children that have ended and been waited for
    std::string name;   ///< printable, without commas
    int cpu = -1;       ///< that it ran on last; -1: not known
};
using Processes = std::map<int, Process>; // by process id

struct CpuTime {
    std::optional<double> busy_seconds; ///< user, nice and system time
    std::optional<double> steal_seconds;
};

struct Snapshot {
    double time = 0; ///< seconds since any origin
    std::optional<double> core_clock_hz;
    CpuTime all_cpus;
    std::map<int, CpuTime> cpus; ///< by number
    std::set<int> allowed; ///< CPUs that a thread of this process may run on; empty: not known
    std::optional<double> throttle_events;
    std::optional<double> page_migrations;
    std::optional<double> quota_seconds; ///< during which a cgroup's CPU quota stopped us
    /// By thread of this process: seconds it waited for a CPU; empty where the kernel does not count them.
    std::map<int, double> waited;
    Processes own;
    Processes all; ///< of this machine, as far as they can be seen
};

/// The files that count thermal throttling: one for each package and each core. Found once, because
/// searching the folders of all CPUs takes longer than reading.
std::vector<std::filesystem::path> throttle_files(const machine::Files& files);

/// Fills in `all_cpus` and `cpus`.
void read_cpu_time(const machine::Files& files, Snapshot& snapshot);

/// Fills in `allowed`, and `throttle_events` to `waited`.
void read_counters(const machine::Files& files, const std::vector<std::filesystem::path>& throttle,
                   Snapshot& snapshot);

/// Every process that can be seen: slow, 10 us for each.
Processes read_all_processes(const machine::Files& files);

/// The process `owner`, its descendants, and those of `known` that still run. `cpu_seconds` comes
/// first: it is finer than the files.
Processes read_processes(const machine::Files& files, int owner, const Processes& known,
                         const std::function<std::optional<double>(int)>& cpu_seconds);

} // namespace assay::telemetry
