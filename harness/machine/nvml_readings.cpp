// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml.hpp"
#include "machine/nvml_library.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::machine {
namespace {

struct Reason {
    std::uint64_t bit;
    std::string_view name;
};
constexpr std::array reasons{
    Reason{.bit = nvml::reason_power_cap, .name = "power_cap"},
    Reason{.bit = nvml::reason_software_thermal, .name = "thermal"},
    Reason{.bit = nvml::reason_hardware_thermal, .name = "hardware_thermal"},
    Reason{.bit = nvml::reason_power_brake, .name = "power_brake"},
    Reason{.bit = nvml::reason_hardware_slowdown, .name = "hardware_slowdown"},
    Reason{.bit = nvml::reason_sync_boost, .name = "sync_boost"},
    Reason{.bit = nvml::reason_clock_setting, .name = "clock_setting"},
    Reason{.bit = nvml::reason_display, .name = "display"},
};

std::vector<std::string> names_of(std::uint64_t bits) {
    // Says no more than the two that tell why.
    if ((bits & (nvml::reason_hardware_thermal | nvml::reason_power_brake)) != 0)
        bits &= ~nvml::reason_hardware_slowdown;
    std::vector<std::string> names;
    for (const Reason& reason : reasons)
        if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
    return names;
}

/// Counts are whole numbers; impossible values are dropped.
std::optional<std::int64_t> whole_number(const std::optional<double>& value, double scale = 1) {
    constexpr double most = 9e18; // below 2^63
    if (!value || !(*value >= 0) || *value * scale > most) return {};
    return static_cast<std::int64_t>(std::llround(*value * scale));
}

} // namespace

std::optional<double> NvmlDevice::clock_hz() {
    return state_->hertz(state_->library->clock, nvml::clock_sm);
}

DeviceReadings NvmlDevice::readings() {
    State& s = *state_;
    const Nvml::Library& nvml = *s.library;
    DeviceReadings now;
    const auto fields = s.fields(
        std::array{State::Field{nvml::power_instant}, State::Field{nvml::memory_temperature}});
    // The plain function averages over a second on most devices; the field does not.
    if (!s.is_part) now.power_watts = fields[0] ? *fields[0] * 1e-3 : s.milli(nvml.power);
    now.memory_temperature_celsius = fields[1];
    now.clock_hz = clock_hz();
    now.memory_clock_hz = s.hertz(nvml.clock, nvml::clock_memory);
    nvml::Temperature chip{.version = nvml::temperature_version};
    unsigned old = 0;
    if (s.call(nvml.temperature, s.whole, &chip))
        now.temperature_celsius = chip.celsius;
    else if (s.call(nvml.old_temperature, s.whole, 0, &old))
        now.temperature_celsius = old;
    now.pcie_generation = s.count(nvml.pcie_generation);
    now.pcie_width = s.count(nvml.pcie_width);
    unsigned long long bits = 0;
    if (s.call(nvml.reasons, s.whole, &bits) || s.call(nvml.old_reasons, s.whole, &bits))
        now.throttles = names_of(bits);
    return now;
}

DeviceCounters NvmlDevice::counters() {
    State& s = *state_;
    const Nvml::Library& nvml = *s.library;
    DeviceCounters now;
    unsigned long long count = 0;
    if (!s.is_part && s.call(nvml.energy, s.whole, &count))
        now.energy_joules = static_cast<double>(count) * 1e-3;
    const auto ecc = [&](int kind) -> std::optional<std::int64_t> {
        if (!s.call(nvml.ecc_errors, s.whole, kind, nvml::ecc_since_boot, &count)) return {};
        return whole_number(static_cast<double>(count));
    };
    now.ecc_corrected = ecc(nvml::ecc_corrected);
    now.ecc_uncorrected = ecc(nvml::ecc_uncorrected);
    now.pcie_replays = whole_number(s.number(nvml.pcie_replays));

    std::vector<State::Field> wanted{{nvml::throttled_power}, {nvml::throttled_thermal}};
    if (const auto more = nvml::throttle_fields(nvml.branch))
        wanted.insert(wanted.end(),
                      {{more->software_thermal}, {more->hardware_thermal}, {more->power_brake}});
    auto nanoseconds = s.fields(wanted);
    nanoseconds.resize(5);
    const auto add = [&](const char* reason, const std::optional<double>& value) {
        if (value) now.throttled.emplace(reason, *value * 1e-9);
    };
    add("power_cap", nanoseconds[0]);
    add("thermal", nanoseconds[2] ? nanoseconds[2] : nanoseconds[1]); // the latter on older drivers
    add("hardware_thermal", nanoseconds[3]);
    add("power_brake", nanoseconds[4]);
    if (!s.is_part) count_nvlink(now);
    return now;
}

/// Older links are counted together in KiB, NVLink 5 one by one in bytes.
void NvmlDevice::count_nvlink(DeviceCounters& now) {
    using Field = State::Field;
    State& s = *state_;
    const auto old = s.fields(std::array{Field{nvml::nvlink_received, nvml::all_links},
                                         Field{nvml::nvlink_sent, nvml::all_links}});
    constexpr double kibi = 1024;
    now.nvlink_received_bytes = whole_number(old[0], kibi);
    now.nvlink_sent_bytes = whole_number(old[1], kibi);
    if (now.nvlink_received_bytes || now.nvlink_sent_bytes) return;
    std::vector<Field> links;
    for (std::uint32_t link = 0; link < nvml::most_links; ++link) {
        links.push_back({nvml::nvlink5_received, link});
        links.push_back({nvml::nvlink5_sent, link});
    }
    const auto counts = s.fields(links);
    std::optional<double> received;
    std::optional<double> sent;
    for (std::size_t i = 0; i < counts.size(); i += 2) {
        if (counts[i]) received = received.value_or(0) + *counts[i];
        if (counts[i + 1]) sent = sent.value_or(0) + *counts[i + 1];
    }
    now.nvlink_received_bytes = whole_number(received);
    now.nvlink_sent_bytes = whole_number(sent);
}

std::map<std::string, std::int64_t> NvmlDevice::link_errors() {
    struct Counter {
        const char* name;
        State::Field field;
    };
    static constexpr std::array counters{
        Counter{"crc_flit", {nvml::nvlink_crc_flit}},
        Counter{"crc_data", {nvml::nvlink_crc_data}},
        Counter{"replay", {nvml::nvlink_replay}},
        Counter{"recovery", {nvml::nvlink_recovery}},
        Counter{"malformed_packet", {nvml::nvlink5_malformed, nvml::all_links}},
        Counter{"buffer_overrun", {nvml::nvlink5_overrun, nvml::all_links}},
        Counter{"receive", {nvml::nvlink5_receive_errors, nvml::all_links}},
        Counter{"link_integrity", {nvml::nvlink5_integrity, nvml::all_links}},
        Counter{"recovery_failed", {nvml::nvlink5_recovery_failed, nvml::all_links}},
        Counter{"recovery_event", {nvml::nvlink5_recovery_events, nvml::all_links}},
    };
    std::vector<State::Field> wanted;
    for (const auto& counter : counters) wanted.push_back(counter.field);
    const auto values = state_->fields(wanted);
    std::map<std::string, std::int64_t> errors;
    for (std::size_t i = 0; i < counters.size(); ++i)
        if (const auto value = whole_number(values[i])) errors.emplace(counters.at(i).name, *value);
    return errors;
}

DeviceHealth NvmlDevice::health() {
    State& s = *state_;
    const Nvml::Library& nvml = *s.library;
    DeviceHealth now;
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failed = 0;
    if (s.call(nvml.remapped, s.whole, &corrected, &uncorrected, &pending, &failed)) {
        now.remapped_rows_corrected = corrected;
        now.remapped_rows_uncorrected = uncorrected;
        now.remapping_pending = pending != 0;
        now.remapping_failed = failed != 0;
    }
    now.pcie_generation_max = s.count(nvml.pcie_generation_max);
    now.pcie_width_max = s.count(nvml.pcie_width_max);
    int persistence = 0;
    if (s.call(nvml.persistence, s.whole, &persistence)) now.persistence = persistence != 0;
    return now;
}

std::optional<std::vector<int>> NvmlDevice::processes() {
    State& s = *state_;
    std::vector<nvml::ProcessInfo> list;
    unsigned room = 64;
    constexpr unsigned most = 4096;
    int code = nvml::insufficient_size;
    for (int attempt = 0; attempt < 3 && code == nvml::insufficient_size && room <= most;
         ++attempt) {
        list.resize(room);
        unsigned count = room;
        code = s.library->processes(s.handle, &count, list.data());
        if (code == nvml::success) list.resize(std::min(count, room));
        room = std::min(count, most) + 64; // more may have come meanwhile
    }
    if (code == nvml::insufficient_size || !s.good(code, s.library->processes.name)) return {};
    std::vector<int> pids;
    for (const nvml::ProcessInfo& process : list)
        if (std::in_range<int>(process.pid)) pids.push_back(static_cast<int>(process.pid));
    std::ranges::sort(pids);
    pids.erase(std::ranges::unique(pids).begin(), pids.end());
    return pids;
}

} // namespace assay::machine
