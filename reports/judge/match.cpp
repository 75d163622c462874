// SPDX-License-Identifier: Apache-2.0

#include "judge/match.hpp"

#include "judge/evidence.hpp"
#include "judge/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace assay::judge {
namespace {

struct MachineKey {
    std::string_view name;
    std::string (*text)(const record::Machine&);
};
struct DeviceKey {
    std::string_view name;
    std::string (*text)(const record::Machine&, const record::Device&);
};

std::string number(const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string{};
}

/// "10de:2335", by its address on the PCI bus.
std::string pci_of(const record::Machine& machine, const record::Device& device) {
    const auto found =
        std::ranges::find(machine.pci, device.pci_address, &record::PciDevice::address);
    if (found == machine.pci.end()) return {};
    const auto bare = [](std::string_view id) {
        constexpr std::string_view prefix = "0x";
        return std::string{id.starts_with(prefix) ? id.substr(prefix.size()) : id};
    };
    return fmt::format("{}:{}", bare(found->vendor_id), bare(found->device_id));
}

/// By the data sheet of its name; no driver reports it.
std::string form_factor_of(const record::Machine& /*machine*/, const record::Device& device) {
    const auto* const hardware = installed_hardware();
    const auto* const entry =
        hardware == nullptr ? nullptr : reference::find_hardware(*hardware, device);
    return entry == nullptr ? std::string{} : entry->form_factor;
}

constexpr std::array machine_table{
    MachineKey{"devices",
               [](const record::Machine& m) { return std::to_string(m.devices.size()); }},
    MachineKey{"cpu", [](const record::Machine& m) { return m.cpu_model; }},
    MachineKey{"cores", [](const record::Machine& m) { return number(m.usable_cores); }},
    MachineKey{"sockets", [](const record::Machine& m) { return number(m.sockets); }},
    MachineKey{"architecture", [](const record::Machine& m) { return m.architecture; }},
    MachineKey{"provider", [](const record::Machine& m) { return m.provider; }},
    MachineKey{"instance", [](const record::Machine& m) { return m.instance; }},
    MachineKey{"virtualization", [](const record::Machine& m) { return m.virtualization; }},
};
constexpr std::array device_table{
    DeviceKey{"device",
              [](const record::Machine&, const record::Device& device) { return device.name; }},
    DeviceKey{"pci", &pci_of},
    DeviceKey{"form_factor", &form_factor_of},
    DeviceKey{"power_limit",
              [](const record::Machine&, const record::Device& device) {
                  return device.power_limit_watts ? fmt::format("{:g}", *device.power_limit_watts)
                                                  : std::string{};
              }},
    DeviceKey{"mode",
              [](const record::Machine&, const record::Device& device) { return device.mode; }},
};

bool names_device(std::string_view key) {
    return std::ranges::find(device_table, key, &DeviceKey::name) != device_table.end();
}

/// "cuda" and 3 of "cuda:3"; 0 of "cuda"; -1 of an invalid place.
std::pair<std::string_view, int> parts_of(std::string_view place) {
    const auto colon = place.find(':');
    if (colon == std::string_view::npos) return {place, 0};
    const auto digits = place.substr(colon + 1);
    int index = -1;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    return {place.substr(0, colon),
            read.ec == std::errc{} && read.ptr == digits.data() + digits.size() ? index : -1};
}

} // namespace

std::string pattern_of(const Selector& selector, std::string_view key) {
    const auto found = selector.find(key);
    return found == selector.end() ? std::string{} : found->second;
}

std::vector<std::string> alternatives(std::string_view patterns) {
    std::vector<std::string> all;
    for (std::string_view rest = patterns; !rest.empty();) {
        const auto bar = rest.find('|');
        all.emplace_back(rest.substr(0, bar));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
    }
    return all;
}

bool overlap(const std::string& a, const std::string& b) {
    const auto admits = [](const std::string& pattern, const std::string& texts) {
        return std::ranges::any_of(alternatives(texts),
                                   [&](const auto& text) { return matches(pattern, text); });
    };
    return admits(a, b) || admits(b, a);
}

bool is_for_device(const Selector& machine, const record::Machine& found,
                   const record::Device& device) {
    return std::ranges::all_of(machine, [&](const auto& entry) {
        const auto* const key =
            std::ranges::find(device_table, std::string_view{entry.first}, &DeviceKey::name);
        return key == device_table.end() || matches(entry.second, key->text(found, device));
    });
}

bool is_for(const Selector& machine, const record::Machine& found) {
    for (const auto& [name, patterns] : machine) {
        const auto* const key =
            std::ranges::find(machine_table, std::string_view{name}, &MachineKey::name);
        if (key != machine_table.end() && !matches(patterns, key->text(found))) return false;
    }
    const bool by_device =
        std::ranges::any_of(machine, [](const auto& entry) { return names_device(entry.first); });
    return !by_device || std::ranges::any_of(found.devices, [&](const record::Device& device) {
        return is_for_device(machine, found, device);
    });
}

std::string places_of(const Limit& limit) {
    const auto place = pattern_of(limit.cases, "place");
    return place.empty() ? "*" : place;
}

bool is_for(const Limit& limit, const decide::Series& series) {
    if (limit.metric.empty() ? !series.is_headline : limit.metric != series.metric) return false;
    // A limit of a case alone says nothing of a part of the host, of eight devices at once, of a soak, or of stress.
    for (const char* name : {"together", "part", "soak", "alone", "stress"})
        if (record::find(series.parameters, name) != nullptr && !limit.cases.contains(name))
            return false;
    return std::ranges::all_of(limit.cases, [&](const auto& entry) {
        const auto& [key, patterns] = entry;
        if (key == "benchmark") return matches(patterns, series.benchmark);
        if (key == "library") return matches(patterns, series.library);
        if (key == "place") return matches(patterns, series.place);
        if (key == "version") return matches(patterns, std::to_string(series.version));
        const auto* value = record::find(series.parameters, key);
        if (value == nullptr) value = record::find(series.conditions, key); // machines, ranks
        return value != nullptr && matches(patterns, record::to_string(*value));
    });
}

std::string device_part(std::string place) {
    if (place.find(':') == std::string::npos) place += ":0";
    return place;
}
std::string part_of(const decide::Series& series) {
    const bool crosses_network = record::number(series.conditions, "machines").value_or(1) > 1;
    if (series.place == "host") return crosses_network ? "fabric" : "host";
    return is_of_one_device(series) ? device_part(series.place) : "fabric";
}
namespace {

/// Those at the limit's place.
std::vector<const record::Device*> devices_of(const Limit& limit, const record::Machine& machine) {
    const auto places = places_of(limit);
    std::vector<const record::Device*> meant;
    for (const auto& device : machine.devices)
        if (is_for_device(limit.machine, machine, device) &&
            (matches(places, device.kind) ||
             matches(places, fmt::format("{}:{}", device.kind, device.index))))
            meant.push_back(&device);
    return meant;
}

} // namespace

std::string part_of(const Limit& limit, const record::Machine& machine) {
    const auto places = pattern_of(limit.cases, "place");
    const auto benchmark = pattern_of(limit.cases, "benchmark");
    if (places.empty() && benchmark.starts_with("network.")) return "fabric";
    if (places.empty() || matches(places, "host")) return "host";
    const auto meant = devices_of(limit, machine);
    if (meant.size() != 1) return "devices";
    return fmt::format("{}:{}", meant.front()->kind, meant.front()->index);
}

bool has_place_for(const Limit& limit, const record::Machine& found) {
    const auto places = pattern_of(limit.cases, "place");
    if (places.empty() || matches(places, "host")) return true;
    const auto meant = devices_of(limit, found);
    const auto count = pattern_of(limit.machine, "devices");
    return !meant.empty() && (count.empty() || matches(count, std::to_string(meant.size())));
}

namespace {

/// Patterns that do not admit everything.
std::ptrdiff_t closeness(const Selector& selector) {
    return std::ranges::count_if(selector, [](const auto& entry) { return entry.second != "*"; });
}

} // namespace

bool is_closer(const Limit& limit, const Limit& other) {
    const bool one_question = limit.kind == other.kind && limit.metric == other.metric &&
                              limit.share_of == other.share_of && limit.file == other.file &&
                              limit.at_least.has_value() == other.at_least.has_value() &&
                              limit.at_most.has_value() == other.at_most.has_value();
    return one_question && std::pair{closeness(limit.machine), closeness(limit.cases)} >
                               std::pair{closeness(other.machine), closeness(other.cases)};
}

bool replaces(const Limit& limit, const Limit& other, const record::Machine& found) {
    return is_closer(limit, other) && is_for(limit.machine, found) && has_place_for(limit, found) &&
           std::ranges::all_of(other.cases, [&](const auto& entry) {
               const auto own = limit.cases.find(entry.first);
               return own != limit.cases.end() && overlap(own->second, entry.second);
           });
}

const record::Device* device_of(const record::Machine& machine, const decide::Series& series) {
    const auto [kind, index] = parts_of(series.place);
    for (const auto& device : machine.devices)
        if (device.kind == kind && device.index == index) return &device;
    return nullptr;
}

} // namespace assay::judge
