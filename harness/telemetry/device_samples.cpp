// SPDX-License-Identifier: Apache-2.0
#include "telemetry/device_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::telemetry {
namespace {

void keep_most(std::optional<int>& kept, const std::optional<int>& next) {
    if (next && (!kept || *next > *kept)) kept = next;
}

struct Cause {
    std::string_view reason;
    std::string_view what;
};
// Without power_cap, which is normal for a device under full load (decisions/devices.md 0161), and without
// clock_setting and display, which were chosen.
constexpr std::array causes{
    Cause{.reason = "thermal", .what = "it reached its thermal limit: check its cooling"},
    Cause{.reason = "hardware_thermal",
          .what =
              "it reached its hardware thermal limit, which halves the clocks: check its cooling"},
    Cause{.reason = "power_brake",
          .what = "an external power brake was asserted: check the power supply"},
    Cause{.reason = "hardware_slowdown", .what = "of a hardware slowdown: check cooling and power"},
    Cause{.reason = "sync_boost", .what = "sync boost held it to the slowest device of its group"},
};

/// Limits like those of other disturbances: what may change a value by more than the target.
constexpr double throttled_limit = 0.01; // of the window
constexpr double sampled_limit = 0.05;   // of the samples: one alone may be a change of clocks

struct Length {
    double share; ///< of the window, or of the samples
    std::string text;
};
std::optional<Length> how_long(const record::Throttle& throttle, double seconds) {
    if (throttle.seconds) {
        if (*throttle.seconds <= throttled_limit * seconds) return std::nullopt;
        const double length = std::min(*throttle.seconds, seconds);
        return Length{length / seconds, fmt::format("for {:.3g} s of {:.3g} s", length, seconds)};
    }
    if (throttle.share.value_or(0) <= sampled_limit) return std::nullopt;
    return Length{*throttle.share, fmt::format("in {:.0f}% of the samples", 100 * *throttle.share)};
}

using Code = record::DisturbanceCode;

void say_throttled(double seconds, record::Telemetry& telemetry) {
    const auto& device = *telemetry.device;
    for (const auto& [reason, what] : causes) {
        const auto found = std::ranges::find(device.throttles, reason, &record::Throttle::reason);
        if (found == device.throttles.end()) continue;
        if (const auto length = how_long(*found, seconds))
            disturb(telemetry, Code::device_slowed,
                    {{"reason", std::string{reason}}, {"share", length->share}},
                    fmt::format("The device was throttled {}, because {}.", length->text, what));
    }
}

void say_capped(const record::Device& described, double seconds, record::Telemetry& telemetry) {
    const auto& device = *telemetry.device;
    const auto capped = std::ranges::find(device.throttles, "power_cap", &record::Throttle::reason);
    if (capped == device.throttles.end() || !described.power_limit_watts ||
        !described.power_limit_default_watts ||
        *described.power_limit_watts >= *described.power_limit_default_watts)
        return;
    if (const auto length = how_long(*capped, seconds))
        disturb(telemetry, Code::device_capped,
                {{"limit_watts", *described.power_limit_watts},
                 {"default_watts", *described.power_limit_default_watts},
                 {"share", length->share}},
                fmt::format("The device's power limit was {:.0f} of {:.0f} W, which "
                            "throttled it {}: `{}` as root raises the limit.",
                            *described.power_limit_watts, *described.power_limit_default_watts,
                            length->text, machine::power_limit_command(described.kind)));
}

void say_errors(record::Telemetry& telemetry) {
    const auto& device = *telemetry.device;
    const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
    if (const auto errors = device.ecc_uncorrected.value_or(0); errors > 0)
        disturb(telemetry, Code::memory_uncorrected, {{"errors", errors}},
                fmt::format("The device had {} uncorrectable memory error{}: do "
                            "not trust the value, and reset the device.",
                            errors, plural(errors)));
    if (const auto errors = device.ecc_corrected.value_or(0); errors > 0)
        disturb(telemetry, Code::memory_corrected, {{"errors", errors}},
                fmt::format("The device corrected {} memory error{}: watch it, `assay "
                            "doctor` says whether memory waits to be replaced.",
                            errors, plural(errors)));
    if (device.remapping_failed.value_or(false))
        disturb(telemetry, Code::row_broken, {},
                "A memory row of the device could not be remapped: replace the device.");
    else if (device.remapping_pending.value_or(false))
        disturb(telemetry, Code::row_pending, {},
                "A memory row of the device waits to be remapped: reset the device.");
    if (const auto replays = device.pcie_replays.value_or(0); replays > 0)
        disturb(telemetry, Code::packets_resent, {{"packets", replays}},
                fmt::format("{} PCIe packet{} had to be retransmitted: the link has errors, "
                            "check slot and riser.",
                            replays, plural(replays)));
}

void say_link(record::Telemetry& telemetry) {
    const auto& device = *telemetry.device;
    if (device.pcie_width && device.pcie_width_max && *device.pcie_width < *device.pcie_width_max)
        disturb(telemetry, Code::link_narrow,
                {{"lanes", std::int64_t{*device.pcie_width}},
                 {"lanes_most", std::int64_t{*device.pcie_width_max}}},
                fmt::format("The device's PCIe link had {} of {} lanes: check the slot.",
                            *device.pcie_width, *device.pcie_width_max));
    // One sample may fall into an idle moment, when links slow down.
    constexpr std::int64_t enough = 3;
    if (device.samples.value_or(0) >= enough && device.pcie_generation &&
        device.pcie_generation_max && *device.pcie_generation < *device.pcie_generation_max)
        disturb(telemetry, Code::link_slow,
                {{"generation", std::int64_t{*device.pcie_generation}},
                 {"generation_most", std::int64_t{*device.pcie_generation_max}}},
                fmt::format("The device's PCIe link ran at generation {} of {} all the time: "
                            "check the slot and the firmware settings.",
                            *device.pcie_generation, *device.pcie_generation_max));
}

} // namespace

std::optional<std::int64_t> grown(const std::optional<std::int64_t>& begun,
                                  const std::optional<std::int64_t>& ended) {
    if (!begun || !ended || *ended < *begun) return std::nullopt;
    return *ended - *begun;
}

void Range::add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
    low_ = std::min(low_.value_or(*value), *value);
    high_ = std::max(high_.value_or(*value), *value);
}

std::optional<double> Range::mean() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
}

void DeviceSamples::add(const machine::DeviceReadings& now) {
    ++count_;
    power_.add(now.power_watts);
    clock_.add(now.clock_hz);
    memory_clock_.add(now.memory_clock_hz);
    temperature_.add(now.temperature_celsius);
    memory_temperature_.add(now.memory_temperature_celsius);
    keep_most(generation_, now.pcie_generation);
    keep_most(width_, now.pcie_width);
    if (!now.throttles) return;
    ++reasons_known_;
    for (const std::string& reason : *now.throttles) ++reasons_[reason];
}

std::vector<record::Throttle> DeviceSamples::throttles(const machine::DeviceCounters& begun,
                                                       const machine::DeviceCounters& ended) const {
    std::map<std::string, record::Throttle> found;
    for (const auto& [reason, after] : ended.throttled) {
        const auto before = begun.throttled.find(reason);
        if (before != begun.throttled.end() && after > before->second)
            found[reason].seconds = after - before->second;
    }
    const double looks = ended.looks.value_or(0) - begun.looks.value_or(0);
    for (const auto& [reason, after] : ended.throttled_looks) {
        const auto before = begun.throttled_looks.find(reason);
        if (looks > 0 && before != begun.throttled_looks.end() && after > before->second)
            found[reason].share = std::min(1.0, (after - before->second) / looks);
    }
    for (const auto& [reason, samples] : reasons_) {
        found[reason].share = static_cast<double>(samples) / static_cast<double>(reasons_known_);
        // Its counter did not increase: the sampled moments were short.
        if (begun.throttled.contains(reason) && ended.throttled.contains(reason))
            found[reason].seconds = found[reason].seconds.value_or(0);
    }
    std::vector<record::Throttle> list;
    for (auto& [reason, throttle] : found) {
        throttle.reason = reason;
        list.push_back(std::move(throttle));
    }
    return list;
}

record::DeviceTelemetry DeviceSamples::summary(const machine::DeviceCounters& begun,
                                               const machine::DeviceCounters& ended,
                                               const machine::DeviceHealth& health) const {
    return {.samples = count_,
            .power_watts = power_.mean(),
            .power_high_watts = power_.high(),
            .clock_hz = clock_.mean(),
            .clock_low_hz = clock_.low(),
            .memory_clock_hz = memory_clock_.low(),
            .temperature_celsius = temperature_.high(),
            .memory_temperature_celsius = memory_temperature_.high(),
            .throttles = throttles(begun, ended),
            .ecc_corrected = grown(begun.ecc_corrected, ended.ecc_corrected),
            .ecc_uncorrected = grown(begun.ecc_uncorrected, ended.ecc_uncorrected),
            .remapped_rows_corrected = health.remapped_rows_corrected,
            .remapped_rows_uncorrected = health.remapped_rows_uncorrected,
            .remapping_pending = health.remapping_pending,
            .remapping_failed = health.remapping_failed,
            .pcie_generation = generation_,
            .pcie_width = width_,
            .pcie_generation_max = health.pcie_generation_max,
            .pcie_width_max = health.pcie_width_max,
            .pcie_replays = grown(begun.pcie_replays, ended.pcie_replays),
            .nvlink_received_bytes =
                grown(begun.nvlink_received_bytes, ended.nvlink_received_bytes),
            .nvlink_sent_bytes = grown(begun.nvlink_sent_bytes, ended.nvlink_sent_bytes)};
}

void add_disturbances(const record::Device& described, double seconds,
                      record::Telemetry& telemetry) {
    say_throttled(seconds, telemetry);
    say_capped(described, seconds, telemetry);
    say_errors(telemetry);
    if (const int others = telemetry.device->other_processes.value_or(0); others > 0)
        disturb(telemetry, Code::device_shared, {{"processes", std::int64_t{others}}},
                fmt::format("{} other process{} computed on the device: stop {} "
                            "(`{}` shows which) and measure again.",
                            others, others == 1 ? "" : "es", others == 1 ? "it" : "them",
                            machine::processes_command(described.kind)));
    say_link(telemetry);
}

} // namespace assay::telemetry
