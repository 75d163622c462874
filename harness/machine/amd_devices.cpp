// SPDX-License-Identifier: Apache-2.0

#include "machine/amd_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace assay::machine {
namespace {

constexpr const char* nodes = "/sys/class/kfd/kfd/topology/nodes";

/// "name value" a line. Values have up to 64 bits without a sign.
class Properties {
public:
    Properties(const Files& files, const std::filesystem::path& path) {
        std::string_view rest;
        const std::string text = files.text(path);
        for (rest = text; !rest.empty();) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            const auto space = line.find(' ');
            if (space == std::string_view::npos) continue;
            std::uint64_t value = 0;
            const auto* const end = line.data() + line.size();
            if (std::from_chars(line.data() + space + 1, end, value).ec == std::errc{})
                values_.emplace(line.substr(0, space), value);
        }
    }
    /// 0 where it is missing.
    std::uint64_t operator[](const char* name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? 0 : found->second;
    }

private:
    std::map<std::string, std::uint64_t, std::less<>> values_;
};

template <class T>
std::optional<T> positive(std::uint64_t value, T factor = 1) {
    if (value == 0) return {};
    if constexpr (std::is_integral_v<T>)
        if (!std::in_range<T>(value)) return {};
    return static_cast<T>(value) * factor;
}

/// 90402 is "gfx942", 90010 is "gfx90a": the last two are hexadecimal.
std::string target_name(std::uint64_t version) {
    return fmt::format("gfx{}{:x}{:x}", version / 10'000, version / 100 % 100, version % 100);
}

/// `location_id` is the bus, the device and the function in 8, 5 and 3 bits.
std::string address_of(const Properties& node) {
    const auto at = node["location_id"];
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", node["domain"] & 0xffffU, at >> 8U & 0xffU,
                       at >> 3U & 0x1fU, at & 7U);
}

std::filesystem::path pci_folder(const record::Device& device) {
    return std::filesystem::path{"/sys/bus/pci/devices"} / device.pci_address;
}

/// A sensor of the kernel, in its unit.
std::optional<double> reading(const Files& files, const std::filesystem::path& path, double unit) {
    const auto value = files.number(path);
    if (!value || *value <= 0) return {};
    return unit * static_cast<double>(*value);
}
constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

/// The folder of its sensors; empty: none.
std::filesystem::path sensors_of(const Files& files, const record::Device& device) {
    const auto folder = pci_folder(device) / "hwmon";
    const auto found = files.names(folder);
    return found.empty() ? std::filesystem::path{} : folder / found.front();
}

machine::AmdMetrics metrics_of(const Files& files, const std::filesystem::path& pci) {
    constexpr std::size_t most = 4096;
    return machine::read_amd_metrics(files.bytes(pci / "gpu_metrics", most));
}

record::Device describe(const Files& files, const std::filesystem::path& folder,
                        const Properties& node) {
    record::Device device{.kind = "hip", .pci_address = address_of(node)};
    const auto pci = pci_folder(device);
    if (const auto id = node["unique_id"]; id != 0) device.uuid = fmt::format("GPU-{:016x}", id);
    device.name = files.line(pci / "product_name");
    device.compute_capability = target_name(node["gfx_target_version"]);
    if (device.name.empty()) device.name = fmt::format("AMD {}", device.compute_capability);
    if (const auto each = node["simd_per_cu"]; each != 0)
        device.multiprocessors = positive<int>(node["simd_count"] / each);
    device.clock_max_hz = positive<double>(node["max_engine_clk_fcompute"], 1e6);
    const Properties bank{files, folder / "mem_banks/0/properties"};
    device.memory_bytes = positive<std::int64_t>(bank["size_in_bytes"]);
    device.memory_bus_bits = positive<int>(bank["width"]);
    device.memory_clock_max_hz = positive<double>(bank["mem_clk_max"], 1e6);
    device.firmware.vbios = files.line(pci / "vbios_version");
    if (const auto sensors = sensors_of(files, device); !sensors.empty()) {
        device.power_limit_watts = reading(files, sensors / "power1_cap", micro);
        device.power_limit_default_watts = reading(files, sensors / "power1_cap_default", micro);
    }
    // Modes as the driver names them; SPX and NPS1 are the whole device.
    auto mode = files.line(pci / "current_compute_partition");
    std::ranges::transform(mode, mode.begin(), [](unsigned char c) { return std::tolower(c); });
    if (mode != "spx") device.mode = std::move(mode);
    if (const auto node_of_host = files.number(pci / "numa_node");
        node_of_host && *node_of_host >= 0 && std::in_range<int>(*node_of_host))
        device.numa_node = static_cast<int>(*node_of_host);
    return device;
}

bool is_amd(const record::PciDevice& device) {
    return device.kind == "accelerator" && device.vendor_id == "1002";
}

} // namespace

AmdDevices read_amd_devices(const Files& files, const std::vector<record::PciDevice>& pci) {
    AmdDevices found;
    for (const auto& name : files.names(nodes)) {
        const auto folder = std::filesystem::path{nodes} / name;
        const Properties node{files, folder / "properties"};
        if (node["gfx_target_version"] == 0) continue; // a processor
        auto device = describe(files, folder, node);
        if (device.uuid.empty())
            found.problems.push_back(fmt::format(
                "the AMD device at {} cannot be chosen: it has no unique id", device.pci_address));
        else
            found.devices.push_back(std::move(device));
    }
    // Parts of one device have its address, and follow each other by their ids.
    std::ranges::sort(found.devices, {}, [](const record::Device& device) {
        return std::tie(device.pci_address, device.uuid);
    });
    int next = 0;
    for (auto& device : found.devices) device.index = next++;
    for (const auto& device : pci) {
        if (!is_amd(device)) continue;
        const auto folder = std::filesystem::path{"/sys/bus/pci/devices"} / device.address;
        if (auto text = files.line(folder / "serial_number"); !text.empty())
            found.serials.push_back(
                {.kind = "device", .where = device.address, .text = std::move(text), .keyed = {}});
        if (std::ranges::find(found.devices, device.address, &record::Device::pci_address) ==
            found.devices.end())
            found.problems.push_back(fmt::format(
                "the AMD device at {} cannot be used: the kernel's driver amdgpu does not offer it",
                device.address));
    }
    if (!found.devices.empty()) found.driver = files.line("/sys/module/amdgpu/version");
    return found;
}

AmdDevice::AmdDevice(Files files, record::Device described, std::string kfd_id)
    : files_{std::move(files)}, described_{std::move(described)}, pci_{pci_folder(described_)},
      sensors_{sensors_of(files_, described_)}, kfd_id_{std::move(kfd_id)} {}

machine::DeviceReadings AmdDevice::readings() const {
    machine::DeviceReadings now;
    auto metrics = metrics_of(files_, pci_);
    now.throttles = std::move(metrics.throttles);
    now.pcie_generation = metrics.pcie_generation;
    now.pcie_width = metrics.pcie_width;
    if (sensors_.empty()) return now;
    // Older drivers have an average, newer ones the present power.
    now.power_watts = reading(files_, sensors_ / "power1_average", micro);
    if (!now.power_watts) now.power_watts = reading(files_, sensors_ / "power1_input", micro);
    now.clock_hz = reading(files_, sensors_ / "freq1_input", 1);
    now.memory_clock_hz = reading(files_, sensors_ / "freq2_input", 1);
    now.temperature_celsius = reading(files_, sensors_ / "temp2_input", milli); // junction
    now.memory_temperature_celsius = reading(files_, sensors_ / "temp3_input", milli);
    return now;
}

machine::DeviceCounters AmdDevice::counters() const {
    machine::DeviceCounters now;
    auto metrics = metrics_of(files_, pci_);
    if (!is_part()) now.energy_joules = metrics.energy_joules; // of the whole device
    now.looks = metrics.looks;
    now.throttled_looks = std::move(metrics.throttled_looks);
    // Errors of the memory controllers: "ue: 0", "ce: 3".
    const auto errors = files_.text(pci_ / "ras/umc_err_count");
    const auto count_of = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto at = errors.find(name);
        if (at == std::string::npos) return {};
        std::int64_t count = 0;
        const auto* const from = errors.data() + at + name.size();
        if (std::from_chars(from, errors.data() + errors.size(), count).ec != std::errc{})
            return {};
        return count;
    };
    now.ecc_uncorrected = count_of("ue: ");
    now.ecc_corrected = count_of("ce: ");
    return now;
}

std::optional<std::vector<int>> AmdDevice::processes() const {
    constexpr const char* users = "/sys/class/kfd/kfd/proc";
    if (kfd_id_.empty() || !files_.exists(users)) return {};
    std::vector<int> found;
    for (const auto& name : files_.names(users)) {
        int pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{})
            continue;
        const auto used =
            files_.number(std::filesystem::path{users} / name / fmt::format("vram_{}", kfd_id_));
        if (used.value_or(0) > 0) found.push_back(pid);
    }
    return found;
}

std::optional<AmdDevice> find_amd_device(const Files& files, std::string_view uuid) {
    for (const auto& name : files.names(nodes)) {
        const auto folder = std::filesystem::path{nodes} / name;
        const Properties node{files, folder / "properties"};
        if (node["gfx_target_version"] == 0) continue;
        auto device = describe(files, folder, node);
        if (device.uuid.empty() || device.uuid != uuid) continue;
        for (const auto& one : read_amd_devices(files, {}).devices)
            if (one.uuid == uuid) device.index = one.index;
        return AmdDevice{files, std::move(device), files.line(folder / "gpu_id")};
    }
    return {};
}

} // namespace assay::machine

namespace assay::machine {
namespace {

/// Where a layout has its fields, in bytes; 0: it has none.
struct Layout {
    std::uint8_t revision; ///< of the content: 3 for v1_3
    std::size_t size;
    std::size_t energy;    // 64 bits, in 2^-16 J
    std::size_t pcie;      // lanes, then speed in 0.1 GT/s: 16 bits each
    std::size_t throttler; // 64 bits: the reasons of this moment
    std::size_t looks;     // 32 bits, then those that found a reason: see `residencies`
};
constexpr std::array layouts{
    Layout{.revision = 1, .size = 96, .energy = 24, .pcie = 74, .throttler = 0, .looks = 0},
    Layout{.revision = 2, .size = 104, .energy = 24, .pcie = 74, .throttler = 0, .looks = 0},
    Layout{.revision = 3, .size = 120, .energy = 24, .pcie = 74, .throttler = 112, .looks = 0},
    Layout{.revision = 4, .size = 288, .energy = 24, .pcie = 48, .throttler = 0, .looks = 0},
    Layout{.revision = 6, .size = 1664, .energy = 16, .pcie = 60, .throttler = 0, .looks = 32},
    Layout{.revision = 7, .size = 2208, .energy = 24, .pcie = 68, .throttler = 0, .looks = 40},
    Layout{.revision = 8, .size = 3360, .energy = 24, .pcie = 68, .throttler = 0, .looks = 40},
};

/// A field that the firmware does not fill has all bits set.
template <class T>
std::optional<T> field(std::string_view table, std::size_t at) {
    T value{};
    if (at == 0 || at + sizeof value > table.size()) return {};
    std::memcpy(&value, table.data() + at, sizeof value);
    if (value == std::numeric_limits<T>::max()) return {};
    return value;
}

/// Bits of the throttler's state that are of one kind: power and current, temperatures, and the hardware's own limits.
struct Reason {
    std::uint64_t bits;
    const char* name;
};
constexpr std::uint64_t bits(unsigned first, unsigned last) {
    return (std::uint64_t{2} << last) - (std::uint64_t{1} << first);
}
constexpr std::array reasons{
    Reason{.bits = bits(0, 7) | bits(16, 23), .name = "power_cap"},
    Reason{.bits = bits(32, 43), .name = "thermal"},
    Reason{.bits = bits(44, 47), .name = "hardware_thermal"},
};

/// In the order of the table: PROCHOT, package power, temperatures of socket, regulators and memory.
constexpr std::array residencies{"hardware_thermal", "power_cap", "thermal", "thermal", "thermal"};

std::optional<int> generation_of(std::optional<std::uint16_t> speed) {
    constexpr std::array<std::uint16_t, 6> speeds{25, 50, 80, 160, 320, 640}; // 0.1 GT/s
    if (!speed) return {};
    const auto* const found = std::ranges::find(speeds, *speed);
    if (found == speeds.end()) return {};
    return static_cast<int>(found - speeds.begin()) + 1;
}

} // namespace

AmdMetrics read_amd_metrics(std::string_view table) {
    AmdMetrics now;
    struct Header {
        std::uint16_t size;
        std::uint8_t format;
        std::uint8_t content;
    } header{};
    if (table.size() < sizeof header) return now;
    std::memcpy(&header, table.data(), sizeof header);
    const auto* const layout = std::ranges::find(layouts, header.content, &Layout::revision);
    if (header.format != 1 || layout == layouts.end() || header.size != layout->size ||
        table.size() < layout->size)
        return now;
    if (const auto energy = field<std::uint64_t>(table, layout->energy); energy && *energy > 0)
        now.energy_joules = static_cast<double>(*energy) / 65536;
    if (const auto lanes = field<std::uint16_t>(table, layout->pcie); lanes && *lanes > 0)
        now.pcie_width = *lanes;
    now.pcie_generation = generation_of(field<std::uint16_t>(table, layout->pcie + 2));
    if (const auto state = field<std::uint64_t>(table, layout->throttler)) {
        now.throttles.emplace();
        for (const auto& reason : reasons)
            if ((*state & reason.bits) != 0) now.throttles->emplace_back(reason.name);
    }
    if (const auto looks = field<std::uint32_t>(table, layout->looks)) {
        now.looks = *looks;
        std::size_t at = layout->looks;
        for (const auto* reason : residencies)
            if (const auto found = field<std::uint32_t>(table, at += sizeof(std::uint32_t)))
                now.throttled_looks[reason] += *found;
    }
    return now;
}

} // namespace assay::machine
