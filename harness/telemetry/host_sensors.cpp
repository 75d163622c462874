// SPDX-License-Identifier: Apache-2.0
#include "telemetry/host_sensors.hpp"

#include "telemetry/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace assay::telemetry {
namespace {

const std::filesystem::path powercap = "/sys/class/powercap";
const std::filesystem::path monitors = "/sys/class/hwmon";
constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

/// Drivers of sensors inside of processors: Intel, AMD, the latter's out-of-tree one, Arm.
constexpr std::array<std::string_view, 4> processors{"coretemp", "k10temp", "zenpower",
                                                     "cpu_thermal"};

} // namespace

HostSensors::HostSensors(const machine::Files& files) {
    for (const std::string& name : files.names(powercap)) {
        // "intel-rapl:0" is a package (AMD's too), "intel-rapl:0:1" a part of it. Cores are within
        // their package; the memory is not. "intel-rapl-mmio" counts the same energy again.
        if (!name.starts_with("intel-rapl:")) continue;
        const auto folder = powercap / name;
        const std::string zone = files.line(folder / "name");
        const bool is_memory = zone == "dram";
        if (!is_memory && !zone.starts_with("package")) continue;
        const auto range = files.number(folder / "max_energy_range_uj").value_or(0);
        zones_.push_back({.counter = folder / "energy_uj",
                          .range = static_cast<double>(range) * micro,
                          .is_memory = is_memory});
    }
    for (const std::string& name : files.names(monitors)) {
        const auto folder = monitors / name;
        if (std::ranges::find(processors, files.line(folder / "name")) == processors.end())
            continue;
        for (const std::string& file : files.names(folder))
            if (file.starts_with("temp") && file.ends_with("_input"))
                temperatures_.push_back(folder / file);
    }
}

HostSensors::Energy HostSensors::energy(const machine::Files& files) const {
    Energy now;
    for (const Zone& zone : zones_) {
        const auto count = files.number(zone.counter);
        now.push_back(count && *count >= 0 ? std::optional{static_cast<double>(*count) * micro}
                                           : std::nullopt);
    }
    return now;
}

void HostSensors::add_energy(const Energy& begun, const Energy& ended, double seconds,
                             record::Telemetry& telemetry) const {
    if (zones_.empty()) {
        telemetry.energy_note = "this machine does not expose processor energy (RAPL): "
                                "Arm processors have no counter, few virtual machines do";
        return;
    }
    double joules = 0;
    bool has_memory = false;
    for (std::size_t i = 0; i < zones_.size(); ++i) {
        if (i >= begun.size() || i >= ended.size() || !begun[i] || !ended[i]) {
            telemetry.energy_note = "only root may read processor energy "
                                    "(/sys/class/powercap)";
            return;
        }
        double used = *ended[i] - *begun[i];
        if (used < 0) used += zones_[i].range;
        if (used < 0) {
            telemetry.energy_note =
                "a processor energy counter wrapped more than once or was reset";
            return;
        }
        joules += used;
        has_memory = has_memory || zones_[i].is_memory;
    }
    if (seconds < shortest_energy_window) {
        telemetry.energy_note =
            fmt::format("the window was shorter than {} s", shortest_energy_window);
        return;
    }
    telemetry.energy_joules = joules;
    telemetry.energy_scope = has_memory ? "processors and memory" : "processors";
}

std::optional<double> HostSensors::temperature_celsius(const machine::Files& files) const {
    std::optional<double> hottest;
    for (const auto& path : temperatures_)
        if (const auto value = files.number(path))
            hottest = std::max(hottest.value_or(-1e9), static_cast<double>(*value) * milli);
    return hottest;
}

} // namespace assay::telemetry
