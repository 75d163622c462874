// SPDX-License-Identifier: Apache-2.0
//
// Neighbours on a shared host use memory bandwidth, and no counter of a virtual machine shows it. What shows it is a
// short triad on all cores beside the window, held against the best that earlier runs of this machine saw: best of
// this run alone would hide neighbours that stay (decisions/timing.md 0292).

#pragma once

#include "record/model.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// Bandwidth that probes of earlier runs reached, in bytes per second.
class ProbeHistory {
public:
    /// Empty where there is no such file, or it is damaged.
    static ProbeHistory read(const std::filesystem::path& path);
    static ProbeHistory parse(std::string_view text);
    /// The machine's best: exceeded by one probe in twenty. Nothing before 20 probes are known.
    std::optional<double> best() const;
    /// Of a run that ends; keeps those of the last twenty runs.
    void add(const std::string& started, std::vector<double> probes);
    std::string text() const;

private:
    struct Run {
        std::string started;
        std::vector<double> probes;
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
    std::vector<std::vector<double>> slices_; ///< one for each CPU, on its node
};

/// Adds a disturbance where the worse of the probes is far below the best.
void judge_neighbours(record::Telemetry& telemetry, double probe, double best);

} // namespace assay::harness
