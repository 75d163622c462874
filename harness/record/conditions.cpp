// SPDX-License-Identifier: Apache-2.0
#include "record/conditions.hpp"

#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace assay::record {
namespace {

using Found = std::optional<Value>;

Found setting(const Case& c, std::string_view name) {
    const Value* value = find(c.settings, name);
    return value == nullptr ? Found{} : Found{*value};
}

/// Evidence, or in files from before there was any the setting of that name.
Found counted(const std::optional<std::int64_t>& told, const Case& c, std::string_view name) {
    if (told) return Value{*told};
    const auto count = number(c.settings, name);
    if (!count || *count != std::floor(*count)) return {};
    return Value{static_cast<std::int64_t>(*count)};
}

Found state(const std::optional<bool>& on) {
    if (!on) return {};
    return Value{std::string{*on ? "on" : "off"}};
}

/// Devices of one kind differ in their limits by design: a limit is told apart from the device's own.
Found power_limit(const Device& device) {
    if (!device.power_limit_watts) return {};
    const double limit = std::round(*device.power_limit_watts);
    if (device.power_limit_default_watts && limit == std::round(*device.power_limit_default_watts))
        return Value{std::string{"default"}};
    return Value{fmt::format("{:.0f} W", limit)};
}

template <auto Of>
Found of_device(const Case& c, const Machine& machine) {
    const Device* device = find_device(machine, c.place);
    return device == nullptr ? Found{} : Of(*device);
}

constexpr std::array table{
    Condition{.name = "machines",
              .of = [](const Case& c,
                       const Machine&) { return counted(c.evidence.machines, c, "machines"); },
              .usual = "1",
              .setting = "machines"},
    Condition{
        .name = "ranks",
        .of = [](const Case& c, const Machine&) { return counted(c.evidence.ranks, c, "ranks"); },
        .setting = "ranks"},
    // Path proven by counters, logs and lanes: "tcp", "rdma", "nvlink", "shared_memory".
    Condition{.name = "path",
              .of = [](const Case& c, const Machine&) { return setting(c, "path"); },
              .setting = "path"},
    // That carried messages in place of the networks of a library's own: "AWS Libfabric v8, efa".
    Condition{.name = "net_plugin",
              .of = [](const Case& c, const Machine&) { return setting(c, "net_plugin"); },
              .setting = "net_plugin"},
    // Another program that is measured may change with its version.
    Condition{.name = "program_version",
              .of = [](const Case& c, const Machine&) { return setting(c, "program_version"); },
              .setting = "program_version"},
    // That a program reads and writes: "ext4", "nfs4".
    Condition{.name = "file_system",
              .of = [](const Case& c, const Machine&) { return setting(c, "file_system"); },
              .setting = "file_system"},
    // Metrics made of energy alone, which reports give this condition
    // (Telemetry::energy_scope): a device's is not a host's.
    Condition{.name = "energy_scope", .of = [](const Case&, const Machine&) { return Found{}; }},
    // A device that is the CPU, for tests, does not count as one.
    Condition{.name = "executed_on",
              .of = [](const Case& c, const Machine&) -> Found {
                  if (c.place.kind == "host" || c.settings.empty()) return {};
                  if (auto found = setting(c, "executed_on")) return found;
                  return Value{std::string{"device"}};
              },
              .usual = "device",
              .setting = "executed_on"},
    // A part of a device, or a virtual one.
    Condition{.name = "mode",
              .of = &of_device<[](const Device& device) -> Found {
                  return Value{device.mode.empty() ? std::string{"whole"} : device.mode};
              }>,
              .usual = "whole"},
    Condition{.name = "ecc",
              .of = &of_device<[](const Device& device) { return state(device.ecc); }>,
              .usual = "on",
              .is_state = true},
    Condition{.name = "confidential",
              .of = &of_device<[](const Device& device) { return state(device.confidential); }>,
              .usual = "off",
              .is_state = true},
    Condition{.name = "power_limit",
              .of = &of_device<&power_limit>,
              .usual = "default",
              .is_state = true},
};

} // namespace

std::span<const Condition> condition_table() { return table; }

const Condition* find_condition(std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &Condition::name);
    return found == table.end() ? nullptr : found;
}

NamedList conditions(const Case& c, const Machine& machine) {
    NamedList list;
    for (const auto& condition : table)
        if (auto value = condition.of(c, machine))
            list.push_back({std::string{condition.name}, *std::move(value)});
    return list;
}

// --- of several windows the worst, for summary.hpp

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
        keep_most(worst.core_latency_seconds, next.core_latency_seconds);
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
