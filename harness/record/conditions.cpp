// SPDX-License-Identifier: Apache-2.0
#include "record/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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
    // As proven by counters, logs and lanes: "tcp", "rdma", "nvlink", "shared_memory".
    Condition{.name = "path",
              .of = [](const Case& c, const Machine&) { return setting(c, "path"); },
              .setting = "path"},
    // That carried messages in place of the networks of a library's own: "AWS Libfabric v8, efa".
    Condition{.name = "net_plugin",
              .of = [](const Case& c, const Machine&) { return setting(c, "net_plugin"); },
              .setting = "net_plugin"},
    // Of another program that is measured: what it does may change with its version.
    Condition{.name = "program_version",
              .of = [](const Case& c, const Machine&) { return setting(c, "program_version"); },
              .setting = "program_version"},
    // That a program reads and writes: "ext4", "nfs4".
    Condition{.name = "file_system",
              .of = [](const Case& c, const Machine&) { return setting(c, "file_system"); },
              .setting = "file_system"},
    // Of metrics made of energy alone, which reports give it (Telemetry::energy_scope): a device's is not a host's.
    Condition{.name = "energy_scope", .of = [](const Case&, const Machine&) { return Found{}; }},
    // A device that is the CPU, for tests, is no device.
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

} // namespace assay::record
