// SPDX-License-Identifier: Apache-2.0
#include "machine/devices.hpp"

#include "machine/amd_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace assay::machine {
namespace {

/// -1: the kernel knows no node.
std::optional<int> numa_node(const Files& files, const std::string& address) {
    if (address.empty()) return {};
    const auto node =
        files.number(std::filesystem::path{"/sys/bus/pci/devices"} / address / "numa_node");
    if (!node || *node < 0 || !std::in_range<int>(*node)) return {};
    return static_cast<int>(*node);
}

bool is_nvidia(const record::PciDevice& device) {
    return device.kind == "accelerator" && device.vendor_id == "10de";
}

void add_software(record::NamedList& software, const char* name, std::string version) {
    if (!version.empty()) software.push_back({name, std::move(version)});
}

struct Found {
    machine::NvmlDevice handle;
    record::Device device;
};

/// The devices in order, each followed by its parts. They are numbered as by nvidia-smi; the parts of a
/// divided one take its number and the following ones.
std::vector<Found> describe_all(std::vector<machine::NvmlDevice> whole) {
    std::vector<Found> all;
    int next = 0;
    const auto add = [&](machine::NvmlDevice handle, bool counts) {
        record::Device device = handle.describe();
        next = device.index = handle.is_part() ? next : std::max(next, device.index);
        if (counts) ++next;
        all.push_back({.handle = std::move(handle), .device = std::move(device)});
    };
    for (machine::NvmlDevice& one : whole) {
        auto parts = one.parts();
        add(std::move(one), parts.empty());
        const std::string whole = all.back().device.uuid;
        for (machine::NvmlDevice& part : parts) {
            add(std::move(part), true);
            all.back().device.whole_uuid = whole;
        }
    }
    return all;
}

/// The problem when the library cannot be used: none if there are no devices.
std::vector<std::string> missed(const std::vector<record::PciDevice>& pci, const Error& error) {
    const auto count = std::ranges::count_if(pci, is_nvidia);
    if (count == 0) return {};
    return {fmt::format("{} NVIDIA device{} cannot be used: {}", count, count == 1 ? "" : "s",
                        error.message)};
}

struct Throttling {
    std::string_view name;
    std::string_view what;
};
constexpr std::array throttlings{
    Throttling{.name = "thermal", .what = "thermal limit reached: check its cooling"},
    Throttling{.name = "hardware_thermal",
               .what = "hardware thermal limit reached, clocks are halved: check its cooling"},
    Throttling{.name = "power_brake", .what = "external power brake: check the power supply"},
    Throttling{.name = "hardware_slowdown", .what = "hardware slowdown: check cooling and power"},
    Throttling{.name = "sync_boost",
               .what = "sync boost: it follows the slowest device of its group"},
};

const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

void complain_of_memory(const DeviceState& state, std::vector<record::Finding>& said) {
    const auto& health = state.health;
    if (health.remapping_failed.value_or(false))
        said.push_back({"row_remap_failed", record::Severity::serious, "a memory row remap failed",
                        "replace the device"});
    if (health.remapping_pending.value_or(false))
        said.push_back({"row_remap_pending", record::Severity::serious,
                        "a memory row remap is pending", "reset the device"});
    if (const auto errors = state.counters.ecc_uncorrected.value_or(0); errors > 0)
        said.push_back({"device_memory_uncorrected", record::Severity::serious,
                        fmt::format("{} uncorrectable memory error{} since the driver was loaded",
                                    errors, plural(errors)),
                        "results may be wrong, reset the device"});
    if (const auto rows = health.remapped_rows_uncorrected.value_or(0); rows > 0)
        said.push_back({"rows_remapped", record::Severity::note,
                        fmt::format("{} memory row{} {} remapped after uncorrectable errors", rows,
                                    plural(rows), rows == 1 ? "was" : "were"),
                        "watch it; eight in one bank are a reason to return the device"});
    if (const auto errors = state.counters.ecc_corrected.value_or(0); errors > 0)
        said.push_back({"device_memory_corrected", record::Severity::note,
                        fmt::format("{} memory error{} since the driver was loaded {} corrected",
                                    errors, plural(errors), errors == 1 ? "was" : "were")});
    if (state.device.ecc == false)
        said.push_back({"ecc_off", record::Severity::caution, "ECC of its memory is off",
                        "`nvidia-smi -e 1` as root and a reset turn it on"});
}

void complain_of_speed(const DeviceState& state, std::vector<record::Finding>& said) {
    const auto now = state.readings.throttles.value_or(std::vector<std::string>{});
    for (const auto& [name, what] : throttlings)
        if (std::ranges::find(now, name) != now.end())
            said.push_back({"device_throttled", record::Severity::caution, "it is throttled now",
                            std::string{what}});
    if (std::ranges::find(now, "clock_setting") != now.end())
        said.push_back({"device_clock_limited", record::Severity::caution,
                        "a setting holds its clocks down",
                        "`nvidia-smi -rgc` and `nvidia-smi -rac` as root reset it"});
    const auto& device = state.device;
    if (device.power_limit_watts && device.power_limit_default_watts &&
        *device.power_limit_watts < *device.power_limit_default_watts)
        said.push_back(
            {"power_limit_low", record::Severity::caution,
             fmt::format("its power limit is {:.0f} of {:.0f} W", *device.power_limit_watts,
                         *device.power_limit_default_watts),
             fmt::format("`{}` as root raises it", machine::power_limit_command(device.kind))});
    constexpr std::int64_t a_few = 100; // while a link trains
    if (const auto packets = state.counters.pcie_replays.value_or(0); packets > a_few)
        said.push_back(
            {"packets_resent", record::Severity::caution,
             fmt::format("{} PCIe packets were sent again since the driver was loaded", packets),
             "if it grows under load, check slot and riser"});
}

DeviceInventory inventory(const Files& files, const std::vector<record::PciDevice>& pci,
                          const std::filesystem::path& nvml) {
    DeviceInventory found;
    const auto library = machine::Nvml::open(nvml);
    if (!library) {
        found.problems = missed(pci, library.error());
        return found;
    }
    add_software(found.software, "nvidia.driver", library->driver_version());
    add_software(found.software, "nvidia.cuda", library->cuda_version());
    auto [whole, problems] = library->devices();
    found.problems = std::move(problems);
    for (auto& [handle, device] : describe_all(std::move(whole))) {
        if (!handle.problem().empty())
            found.problems.push_back(fmt::format("device {}: {}", device.index, handle.problem()));
        if (!handle.is_part())
            found.serials.push_back({.kind = "device",
                                     .where = device.pci_address,
                                     .text = handle.serial(),
                                     .keyed = {}});
        if (device.mode == "mig") continue; // the whole device cannot be used
        device.confidential = library->confidential();
        device.numa_node = numa_node(files, device.pci_address);
        found.devices.push_back(std::move(device));
    }
    return found;
}

DeviceStates states(const std::vector<record::PciDevice>& pci, const std::filesystem::path& nvml) {
    DeviceStates found;
    const auto library = machine::Nvml::open(nvml);
    if (!library) {
        found.problems = missed(pci, library.error());
        return found;
    }
    auto [whole, problems] = library->devices();
    found.problems = std::move(problems);
    for (auto& [handle, device] : describe_all(std::move(whole))) {
        DeviceState state{.device = std::move(device),
                          .readings = handle.readings(),
                          .counters = handle.counters(),
                          .health = handle.health(),
                          .processes = handle.processes()};
        state.problem = handle.problem();
        state.is_denied = handle.is_denied();
        found.devices.push_back(std::move(state));
    }
    return found;
}

/// Eight devices without persistence mode initialise within half a minute.
constexpr auto driver_patience = std::chrono::seconds{60};

/// A hang usually means that a device fell off the bus: nvidia-smi hangs, too.
template <class Found>
Found or_silence(std::optional<Found> found, const std::vector<record::PciDevice>& pci) {
    if (found) return std::move(*found);
    Found nothing;
    nothing.problems = missed(
        pci, {.message = fmt::format("their driver has not answered for {} s: `dmesg` as root may "
                                     "show why; usually the machine has to be rebooted",
                                     driver_patience.count()),
              .fault = Fault::environment});
    return nothing;
}

} // namespace

DeviceInventory read_devices(const Files& files, const std::vector<record::PciDevice>& pci,
                             const std::filesystem::path& nvml) {
    auto found = or_silence(
        answer_within(driver_patience, [=] { return inventory(files, pci, nvml); }), pci);
    auto amd = read_amd_devices(files, pci);
    std::ranges::move(amd.devices, std::back_inserter(found.devices));
    std::ranges::move(amd.serials, std::back_inserter(found.serials));
    std::ranges::move(amd.problems, std::back_inserter(found.problems));
    add_software(found.software, "amd.driver", std::move(amd.driver));
    return found;
}

DeviceStates read_device_states(const Files& files, const std::vector<record::PciDevice>& pci,
                                const std::filesystem::path& nvml) {
    auto found = or_silence(answer_within(driver_patience, [=] { return states(pci, nvml); }), pci);
    auto amd = read_amd_devices(files, pci);
    std::ranges::move(amd.problems, std::back_inserter(found.problems));
    for (auto& device : amd.devices) found.devices.push_back({.device = std::move(device)});
    return found;
}

std::vector<record::Finding> complaints(const DeviceState& state) {
    std::vector<record::Finding> said;
    if (!state.problem.empty())
        said.push_back(
            {"query_failed", record::Severity::caution, "some queries failed", state.problem});
    if (state.is_denied)
        said.push_back({"query_denied", record::Severity::note,
                        "the driver does not show this user all readings",
                        "faults among them are not known: run `assay doctor` as root"});
    complain_of_memory(state, said);
    complain_of_speed(state, said);
    if (state.processes && !state.processes->empty())
        said.push_back({"device_busy", record::Severity::caution,
                        fmt::format("{} process{} on it now: {}", state.processes->size(),
                                    state.processes->size() == 1 ? " computes" : "es compute",
                                    fmt::join(*state.processes, ", "))});
    if (state.device.mode == "mig")
        said.push_back({"mig", record::Severity::note, "MIG is enabled",
                        "only its instances can run work (`nvidia-smi mig -lgi` lists them)"});
    if (state.device.mode == "vgpu")
        said.push_back({"vgpu", record::Severity::note,
                        "it is a vGPU; other guests may share the physical device"});
    if (state.health.persistence == false)
        said.push_back({"persistence_off", record::Severity::note,
                        "persistence mode is off, so every program starts slowly",
                        "`nvidia-smi -pm 1` as root or nvidia-persistenced turns it on"});
    for (auto& finding : said)
        finding.where = fmt::format("{} {}", state.device.kind, state.device.index);
    return said;
}

} // namespace assay::machine
