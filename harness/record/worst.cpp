// SPDX-License-Identifier: Apache-2.0
#include "record/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace assay::record {
namespace {

template <class T>
void keep_least(std::optional<T>& kept, const std::optional<T>& next) {
    if (next && (!kept || *next < *kept)) kept = next;
}
template <class T>
void keep_most(std::optional<T>& kept, const std::optional<T>& next) {
    if (next && (!kept || *next > *kept)) kept = next;
}
void add(std::optional<double>& sum, const std::optional<double>& next) {
    if (next) sum = sum.value_or(0) + *next;
}
/// Saturates: a file may hold any counts.
void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& next) {
    if (!next) return;
    std::int64_t total = 0;
    if (__builtin_add_overflow(sum.value_or(0), *next, &total))
        total = std::numeric_limits<std::int64_t>::max();
    sum = total;
}

void keep_worst(std::vector<Throttle>& kept, const std::vector<Throttle>& next) {
    for (const Throttle& throttle : next) {
        const auto known = std::ranges::find(kept, throttle.reason, &Throttle::reason);
        if (known == kept.end()) {
            kept.push_back(throttle);
            continue;
        }
        keep_most(known->seconds, throttle.seconds);
        keep_most(known->share, throttle.share);
    }
}

void keep_worst(DeviceTelemetry& kept, const DeviceTelemetry& next) {
    keep_least(kept.samples, next.samples);
    keep_most(kept.power_watts, next.power_watts);
    keep_most(kept.power_high_watts, next.power_high_watts);
    keep_least(kept.clock_hz, next.clock_hz);
    keep_least(kept.clock_low_hz, next.clock_low_hz);
    keep_least(kept.memory_clock_hz, next.memory_clock_hz);
    keep_most(kept.temperature_celsius, next.temperature_celsius);
    keep_most(kept.memory_temperature_celsius, next.memory_temperature_celsius);
    keep_worst(kept.throttles, next.throttles);
    add(kept.ecc_corrected, next.ecc_corrected);
    add(kept.ecc_uncorrected, next.ecc_uncorrected);
    keep_most(kept.remapped_rows_corrected, next.remapped_rows_corrected);
    keep_most(kept.remapped_rows_uncorrected, next.remapped_rows_uncorrected);
    keep_most(kept.remapping_pending, next.remapping_pending);
    keep_most(kept.remapping_failed, next.remapping_failed);
    keep_least(kept.pcie_generation, next.pcie_generation);
    keep_least(kept.pcie_width, next.pcie_width);
    keep_most(kept.pcie_generation_max, next.pcie_generation_max);
    keep_most(kept.pcie_width_max, next.pcie_width_max);
    add(kept.pcie_replays, next.pcie_replays);
    add(kept.nvlink_received_bytes, next.nvlink_received_bytes);
    add(kept.nvlink_sent_bytes, next.nvlink_sent_bytes);
    keep_most(kept.other_processes, next.other_processes);
}

} // namespace

Telemetry worst_telemetry(const std::vector<Replica>& replicas) {
    Telemetry worst;
    for (const Replica& replica : replicas) {
        const Telemetry& next = replica.telemetry;
        keep_least(worst.window_seconds, next.window_seconds);
        keep_least(worst.core_clock_hz, next.core_clock_hz);
        keep_most(worst.foreign_cpu, next.foreign_cpu);
        keep_most(worst.steal, next.steal);
        keep_most(worst.throttle_events, next.throttle_events);
        keep_most(worst.page_migrations, next.page_migrations);
        keep_most(worst.temperature_celsius, next.temperature_celsius);
        add(worst.energy_joules, next.energy_joules);
        if (!worst.energy_scope) worst.energy_scope = next.energy_scope;
        if (!worst.energy_note) worst.energy_note = next.energy_note;
        if (next.device)
            keep_worst(worst.device ? *worst.device : worst.device.emplace(), *next.device);
        const bool has_codes = next.disturbed_by.size() == next.disturbances.size();
        for (std::size_t i = 0; i < next.disturbances.size(); ++i) {
            const std::string& sentence = next.disturbances[i];
            if (std::ranges::find(worst.disturbances, sentence) != worst.disturbances.end())
                continue;
            worst.disturbances.push_back(sentence);
            if (has_codes) worst.disturbed_by.push_back(next.disturbed_by[i]);
        }
    }
    if (worst.energy_joules) worst.energy_note.reset();
    return worst;
}

} // namespace assay::record
