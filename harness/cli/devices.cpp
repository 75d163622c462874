// SPDX-License-Identifier: Apache-2.0
#include "cli/devices.hpp"

#include "json/codec.hpp"
#include "record/format.hpp"
#include "reference/hardware.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <utility>

namespace assay::cli {
namespace {

using machine::DeviceState;

/// "18 NVLinks", or "17 of 18 NVLinks" if its kind has more.
std::string links(int up, const std::optional<datasheet::HardwareEntry>& known) {
    const bool counts = known && known->nvlink_bandwidth && known->nvlink_rate &&
                        !known->nvlink_bridge; // a bridge is optional
    const long all = counts ? std::lround(*known->nvlink_bandwidth / *known->nvlink_rate) : up;
    const auto of = all > up ? fmt::format(" of {}", all) : std::string{};
    return fmt::format("{}{} NVLink{}", up, of, up == 1 && of.empty() ? "" : "s");
}

/// The facts about a device.
std::string description(const record::Device& device) {
    std::vector<std::string> parts{device.name.empty() ? "unnamed device" : device.name};
    if (!device.mode.empty()) parts.push_back(device.mode);
    if (device.multiprocessors)
        parts.push_back(fmt::format("{} multiprocessors", *device.multiprocessors));
    if (device.memory_bytes)
        parts.push_back(record::human_bytes(static_cast<double>(*device.memory_bytes)));
    if (!device.compute_capability.empty())
        parts.push_back("compute capability " + device.compute_capability);
    if (device.ecc) parts.emplace_back(*device.ecc ? "ECC" : "no ECC");
    if (device.confidential.value_or(false)) parts.emplace_back("confidential");
    if (device.numa_node) parts.push_back(fmt::format("near NUMA node {}", *device.numa_node));
    const auto known = datasheet::find_hardware(device);
    if (device.nvlinks) parts.push_back(links(*device.nvlinks, known));
    if (known)
        parts.push_back(fmt::format("data sheet {} (configs/hardware)", known->name));
    else
        parts.emplace_back("not in configs/hardware: no data sheet values");
    if (!device.firmware.vbios.empty()) parts.push_back("VBIOS " + device.firmware.vbios);
    parts.push_back(fmt::format("{} {}", device.pci_address, device.uuid));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// "1.76 of 1.98 GHz": a reading and its maximum.
std::string share(const std::optional<double>& value, const std::optional<double>& most,
                  double scale, std::string_view unit, int digits) {
    if (!value) return {};
    if (!most) return fmt::format("{:.{}f} {}", *value * scale, digits, unit);
    return fmt::format("{:.{}f} of {:.{}f} {}", *value * scale, digits, *most * scale, digits,
                       unit);
}

/// Its present state.
std::string condition(const DeviceState& state) {
    const auto& now = state.readings;
    std::vector<std::string> parts;
    const auto add = [&](std::string text) {
        if (!text.empty()) parts.push_back(std::move(text));
    };
    add(share(now.clock_hz, state.device.clock_max_hz, 1e-6, "MHz", 0));
    add(share(now.power_watts, state.device.power_limit_watts, 1, "W", 0));
    if (now.temperature_celsius)
        add(fmt::format("{:.0f} °C{}", *now.temperature_celsius,
                        now.memory_temperature_celsius
                            ? fmt::format(" (memory {:.0f} °C)", *now.memory_temperature_celsius)
                            : ""));
    if (now.pcie_generation && now.pcie_width)
        add(fmt::format("PCIe generation {}{}, {} lanes", *now.pcie_generation,
                        state.health.pcie_generation_max
                            ? fmt::format(" of {}", *state.health.pcie_generation_max)
                            : "",
                        *now.pcie_width));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Below its device, which need not be named.
std::vector<std::string> complaint_sentences(const DeviceState& state) {
    std::vector<std::string> sentences;
    for (auto& finding : machine::complaints(state)) {
        finding.where.clear();
        sentences.push_back(sentence(finding));
    }
    return sentences;
}

json::Value state_json(const DeviceState& state) {
    const auto& now = state.readings;
    return {{"index", state.device.index},
            {"uuid", state.device.uuid},
            {"clock_hz", json::encode(now.clock_hz)},
            {"memory_clock_hz", json::encode(now.memory_clock_hz)},
            {"power_watts", json::encode(now.power_watts)},
            {"temperature_celsius", json::encode(now.temperature_celsius)},
            {"memory_temperature_celsius", json::encode(now.memory_temperature_celsius)},
            {"throttles", json::encode(now.throttles)},
            {"pcie_generation", json::encode(now.pcie_generation)},
            {"pcie_generation_max", json::encode(state.health.pcie_generation_max)},
            {"pcie_width", json::encode(now.pcie_width)},
            {"pcie_width_max", json::encode(state.health.pcie_width_max)},
            {"pcie_replays", json::encode(state.counters.pcie_replays)},
            {"ecc_corrected", json::encode(state.counters.ecc_corrected)},
            {"ecc_uncorrected", json::encode(state.counters.ecc_uncorrected)},
            {"remapping_pending", json::encode(state.health.remapping_pending)},
            {"remapping_failed", json::encode(state.health.remapping_failed)},
            {"persistence", json::encode(state.health.persistence)},
            {"processes", json::encode(state.processes)},
            {"complaints", complaint_sentences(state)}};
}

} // namespace

std::vector<DeviceLine> device_lines(const machine::DeviceStates& states) {
    std::vector<DeviceLine> lines;
    for (const DeviceState& state : states.devices) {
        const bool is_divided = state.device.mode == "mig"; // and cannot be chosen
        lines.push_back({.name = is_divided
                                     ? "divided"
                                     : fmt::format("{} {}", state.device.kind, state.device.index),
                         .text = description(state.device)});
        lines.push_back({.text = condition(state)});
        for (const std::string& sentence : complaint_sentences(state))
            lines.push_back({.text = "! " + sentence});
    }
    for (const std::string& problem : states.problems)
        lines.push_back({.name = "problem", .text = problem});
    return lines;
}

json::Value devices_json(const machine::DeviceStates& states) {
    json::Value found = json::Value::array();
    for (const DeviceState& state : states.devices) found.push_back(state_json(state));
    return {{"found", std::move(found)}, {"problems", states.problems}};
}

} // namespace assay::cli
