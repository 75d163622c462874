// SPDX-License-Identifier: Apache-2.0

#include "document/texts/device.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/core.h>

#include <map>
#include <optional>

namespace assay::document {
namespace {

using record::human;

std::string celsius(double degrees) { return fmt::format("{:.3g} °C", degrees); }

/// A mean and the extreme that it hides; once where they read the same.
template <const Entry& Both>
void add(std::vector<std::string>& parts, const std::optional<double>& mean,
         const std::optional<double>& extreme, std::string_view unit) {
    if (!mean && !extreme) return;
    const std::string usual = human(mean ? *mean : *extreme, unit);
    const std::string most = human(extreme ? *extreme : *mean, unit);
    parts.push_back(usual == most ? usual : say<Both>(usual, most));
}

void add_throttles(std::vector<std::string>& parts, const record::DeviceTelemetry& device) {
    constexpr std::size_t shown = 4; // reasons that a device can have at once
    std::size_t said = 0;
    for (const record::Throttle& throttle : device.throttles) {
        // Shorter than this it changes nothing that anybody could measure.
        constexpr double shortest = 0.001; // seconds
        const bool counted = throttle.seconds.value_or(0) >= shortest;
        if ((!counted && (throttle.seconds || throttle.share.value_or(0) <= 0)) || ++said > shown)
            continue;
        const auto known = find_text("throttle", throttle.reason);
        const std::string reason{known ? *known : std::string_view{throttle.reason}};
        parts.push_back(
            counted
                ? say<text::device::slowed_for>(reason, human(*throttle.seconds, "s"))
                : say<text::device::slowed_share>(reason, record::human_percent(*throttle.share)));
    }
}

} // namespace

std::vector<std::string> device_kinds(const record::Machine& machine) {
    std::map<std::string, std::size_t> counts;
    for (const record::Device& device : machine.devices) {
        std::vector<std::string> about;
        if (device.memory_bytes)
            about.push_back(record::human_bytes(static_cast<double>(*device.memory_bytes)));
        if (!device.mode.empty()) about.push_back(device.mode);
        const std::string name = device.name.empty() ? device.uuid : device.name;
        ++counts[about.empty() ? name : say<text::words::in_brackets>(name, join(about))];
    }
    std::vector<std::string> kinds;
    for (const auto& [name, count] : counts)
        kinds.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
    return kinds;
}

std::string device_in_words(const record::Case& c) {
    if (!c.telemetry.device) return "";
    const record::DeviceTelemetry& device = *c.telemetry.device;
    std::vector<std::string> parts;
    add<text::device::at_most>(parts, device.power_watts, device.power_high_watts, "W");
    add<text::device::down_to>(parts, device.clock_hz, device.clock_low_hz, "Hz");
    if (device.temperature_celsius) {
        const std::string chip = celsius(*device.temperature_celsius);
        parts.push_back(device.memory_temperature_celsius
                            ? say<text::device::memory_temperature>(
                                  chip, celsius(*device.memory_temperature_celsius))
                            : chip);
    }
    add_throttles(parts, device);
    return join(parts);
}

} // namespace assay::document
