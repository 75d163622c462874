// SPDX-License-Identifier: Apache-2.0
//
// Neighbours on a shared host use memory bandwidth, and no counter of a virtual machine shows it. A short triad on all
// cores beside the window shows it, compared with the best that earlier runs of this machine saw: best of
// this run alone would hide neighbours that stay (decisions/timing.md 0292).

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::run {

/// Reading of a probe.
struct ProbeReading {
    double bytes_per_second = 0;
    double core_latency_seconds = 0; ///< 0: not known
};

/// Readings of earlier runs.
class ProbeHistory {
public:
    /// Empty where there is no such file, or it is damaged.
    static ProbeHistory read(const std::filesystem::path& path);
    static ProbeHistory parse(std::string_view text);
    /// The machine's best, in bytes per second: exceeded by one probe in twenty. Only probes with the CPUs at the same
    /// distance count: CPUs that share a cache share its bandwidth as well, and no neighbour is to blame. Nothing
    /// before 20 such probes.
    std::optional<double> best(double core_latency_seconds = 0) const;
    /// Adds the probes of a run that ends; keeps those of the last twenty runs.
    void add(const std::string& started, std::vector<ProbeReading> probes);
    std::string text() const;

private:
    struct Run {
        std::string started;
        std::vector<ProbeReading> probes;
    };
    std::vector<Run> runs_;
};

/// The arrays of the probe: allocated at the first one.
class MemoryProbe {
public:
    explicit MemoryProbe(const record::Machine& machine);
    /// Bytes per second of a triad on all usable CPUs in 30 ms; nothing where memory or threads are not to be had.
    std::optional<double> measure();

private:
    std::size_t bytes_;
    std::vector<int> cpus_;
    struct Unmap {
        std::size_t bytes = 0;
        void operator()(double* numbers) const;
    };
    using Slice = std::unique_ptr<double[], Unmap>; // NOLINT(modernize-avoid-c-arrays)
    static Slice make_slice(std::size_t numbers);

    std::vector<Slice> slices_; ///< one for each CPU, on its node
};

/// The time that a message from one CPU to another takes, one way, in seconds: the geometric mean of the first usable
/// CPU and up to eight others. Nothing where there is one CPU, or others hold them. On a virtual machine it shows where
/// the hypervisor has put the CPUs: on this project's the bandwidth of two is 57 GB/s when they are 50 ns apart, and
/// 100 when they are 210.
std::optional<double> core_latency();

/// Records the place of the CPUs, and a disturbance where they moved in between.
void judge_placement(record::Telemetry& telemetry, std::optional<double> before,
                     std::optional<double> after);

/// Adds a disturbance where the worse of the probes is far below the best.
void judge_neighbours(record::Telemetry& telemetry, double probe, double best);

// --- quiet ---------------------------------------------------------------------------------------
// Waits until other programs leave the machine alone. Asked between measurements, when none of our processes works.

struct QuietOptions {
    machine::Files files{};
    std::function<double()> now; ///< seconds since any origin
    /// Waits so many seconds; false: the run is to stop.
    std::function<bool(double seconds)> pause;
    std::function<double()> own_seconds; ///< CPU time that this process used
};

/// True as soon as other programs and the hypervisor used at most 2% of the CPU time in a fifth of a second; false
/// after `limit_seconds`, or when the run is to stop. True at once where the kernel does not tell.
bool wait_for_quiet(const QuietOptions& options, double limit_seconds);

} // namespace assay::run
