// SPDX-License-Identifier: Apache-2.0
#include "plan/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace assay::plan {
namespace {

constexpr std::string_view nvidia_vendor = "10de";
constexpr std::string_view amd_vendor = "1002";

std::vector<record::Device> of_kind(const std::vector<record::Device>& devices,
                                    std::string_view kind) {
    std::vector<record::Device> chosen;
    std::ranges::copy_if(devices, std::back_inserter(chosen),
                         [&](const auto& device) { return device.kind == kind; });
    return chosen;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "3", "hip:3", "GPU-7d1f..." (its first letters are enough), "0000:65:00.0" (with or without the domain)
bool is_meant(const record::Device& device, const std::string& word) {
    constexpr std::size_t enough = 8; // "GPU-" and four digits
    if (word == std::to_string(device.index)) return true;
    if (word == fmt::format("{}:{}", device.kind, device.index)) return true;
    const auto wanted = lower(word);
    const auto address = lower(device.pci_address);
    if (!address.empty() && (address == wanted || address == "0000:" + wanted)) return true;
    return wanted.size() >= enough && lower(device.uuid).starts_with(wanted);
}

std::string list_of(const record::Machine& machine) {
    std::vector<std::string> lines;
    for (const auto& device : machine.devices)
        lines.push_back(fmt::format("{} ({}, {}, {})", device.index, device.name, device.uuid,
                                    device.pci_address));
    return fmt::format("{}", fmt::join(lines, "; "));
}

Result<void> add(const record::Machine& machine, const std::string& word,
                 std::vector<record::Device>& chosen) {
    const auto known = [&](const record::Device& device) {
        return std::ranges::any_of(chosen, [&](const auto& c) { return c.uuid == device.uuid; });
    };
    std::vector<record::Device> found;
    for (const auto& device : machine.devices)
        if (word == "all" || is_meant(device, word)) found.push_back(device);
    if (found.empty())
        return fail(fmt::format("--device {}: there is no such device; there are {}", word,
                                list_of(machine)));
    if (word != "all" && found.size() > 1)
        return fail(
            fmt::format("--device {}: matches several; there are {}", word, list_of(machine)));
    std::ranges::copy_if(found, std::back_inserter(chosen),
                         [&](const auto& d) { return !known(d); });
    return {};
}

} // namespace

bool may_have_devices(const record::Machine& machine, std::string_view kind) {
    const auto is_of_kind = [&](const record::PciDevice& device) {
        return device.kind == "accelerator" &&
               device.vendor_id == (kind == "hip" ? amd_vendor : nvidia_vendor);
    };
    return std::ranges::find(machine.devices, kind, &record::Device::kind) !=
               machine.devices.end() ||
           std::ranges::any_of(machine.pci, is_of_kind);
}

bool may_run_here(const Benchmark& benchmark, const record::Machine& machine) {
    return benchmark.place == "host" || may_have_devices(machine, benchmark.place);
}

Result<ChosenDevices> choose_devices(const record::Machine& machine,
                                     const std::vector<std::string>& asked) {
    if (asked.empty()) {
        ChosenDevices chosen{.together = machine.devices};
        for (const auto& device : machine.devices)
            if (of_kind(chosen.one_each, device.kind).empty()) chosen.one_each.push_back(device);
        return chosen;
    }
    if (machine.devices.empty())
        return fail(fmt::format("--device {}: no driver reports a device on this machine; "
                                "`assay doctor` says more",
                                fmt::join(asked, ",")),
                    Fault::environment);
    std::vector<record::Device> chosen;
    for (const auto& word : asked) ASSAY_TRY(add(machine, word, chosen));
    std::ranges::sort(chosen, {}, &record::Device::index);
    return ChosenDevices{.one_each = chosen, .together = chosen};
}

std::vector<PlannedCase> put_on_devices(std::vector<PlannedCase> cases,
                                        const ChosenDevices& chosen) {
    std::vector<PlannedCase> placed;
    for (auto& planned : cases) {
        const bool on_host = planned.benchmark->place == "host";
        auto& use = planned.devices_used;
        if (planned.benchmark->team && use == DeviceUse::at_once) use = DeviceUse::in_turn;
        const bool on_all = planned.benchmark->all_devices || use == DeviceUse::at_once ||
                            record::text(planned.together, "together") == "devices";
        auto one_each = of_kind(use == DeviceUse::usual ? chosen.one_each : chosen.together,
                                planned.benchmark->place);
        if (use == DeviceUse::alone && !on_host) {
            if (one_each.size() < 2) continue; // it is measured alone anyway
            one_each.resize(1);
        }
        if (on_host || on_all || one_each.empty()) {
            if (!on_host && on_all)
                planned.devices = of_kind(chosen.together, planned.benchmark->place);
            placed.push_back(std::move(planned));
            continue;
        }
        for (const auto& device : one_each) {
            placed.push_back(planned);
            placed.back().devices = {device};
        }
    }
    return placed;
}

} // namespace assay::plan
