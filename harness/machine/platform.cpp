// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "machine/network.hpp"
#include "machine/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace assay::machine {
namespace {

namespace fs = std::filesystem;

const fs::path cpus = "/sys/devices/system/cpu";
/// More disks or network devices than this are parts of a few.
constexpr std::size_t most_listed = 64;

// --- clocks and power -----------------------------------------------------------------------------

/// Governors of all CPUs, each once.
std::string governors(const Files& files) {
    std::set<std::string> found;
    for (const auto& policy : files.names(cpus / "cpufreq"))
        if (policy.starts_with("policy"))
            found.insert(files.line(cpus / "cpufreq" / policy / "scaling_governor"));
    found.erase("");
    return fmt::format("{}", fmt::join(found, ", "));
}

std::optional<bool> boost(const Files& files) {
    if (const auto on = files.number(cpus / "cpufreq" / "boost")) return *on != 0;
    if (const auto off = files.number(cpus / "intel_pstate" / "no_turbo")) return *off == 0;
    return {};
}

std::string microcode(const Files& files) {
    if (auto version = files.line(cpus / "cpu0" / "microcode" / "version"); !version.empty())
        return version;
    return tidied(value_of(files.text("/proc/cpuinfo"), "microcode", ':'));
}

std::vector<record::PowerLimit> power_limits(const Files& files) {
    std::vector<record::PowerLimit> limits;
    const fs::path zones = "/sys/class/powercap";
    for (const auto& name : files.names(zones)) {
        // Packages alone, without the second view of them ("intel-rapl-mmio").
        const auto scope = files.line(zones / name / "name");
        if (!name.starts_with("intel-rapl:") || !scope.starts_with("package")) continue;
        for (const char* const constraint : {"constraint_0", "constraint_1"}) {
            const auto file = [&](std::string_view what) {
                return zones / name / fmt::format("{}_{}", constraint, what);
            };
            const auto microwatts = files.number(file("power_limit_uw"));
            if (!microwatts || *microwatts <= 0) continue;
            limits.push_back({.scope = scope,
                              .term = files.line(file("name")),
                              .watts = static_cast<double>(*microwatts) * 1e-6});
        }
    }
    return limits;
}

/// Reads as telemetry/host_sensors does; containers hide what is behind the names of zones.
std::string energy_unread(const Files& files) {
    const fs::path zones = "/sys/class/powercap";
    bool is_hidden = false;
    for (const auto& name : files.names(zones)) {
        if (!name.starts_with("intel-rapl:")) continue;
        if (files.line(zones / name / "name").starts_with("package") &&
            files.number(zones / name / "energy_uj"))
            return {};
        is_hidden = true;
    }
    if (is_hidden) return "not_permitted";
    return files.exists(cpus) ? "no_counter" : "";
}

// --- memory modules -------------------------------------------------------------------------------

/// A structure of the firmware's table (SMBIOS, DSP0134, 6.1): its fixed part, then its texts.
struct Structure {
    std::span<const unsigned char> fixed;
    std::string_view texts;

    /// Little endian; 0 where it is too short, as in older versions.
    std::uint32_t number(std::size_t offset, std::size_t size) const {
        std::uint32_t value = 0;
        if (offset + size > fixed.size()) return 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= static_cast<std::uint32_t>(fixed[offset + i]) << (8 * i);
        return value;
    }
    std::string text(std::size_t offset) const {
        const auto wanted = number(offset, 1);
        const auto all = split(texts, '\0');
        return wanted == 0 || wanted > all.size() ? std::string{} : tidied(all[wanted - 1]);
    }
};

/// Those of one type, until one that cannot be read.
std::vector<Structure> structures(std::string_view table, unsigned char type) {
    std::vector<Structure> found;
    constexpr std::size_t header = 4;
    while (table.size() >= header) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(table.data());
        const std::size_t length = bytes[1];
        if (length < header || length > table.size()) break;
        const auto end = table.find(std::string_view{"\0\0", 2}, length);
        if (end == std::string_view::npos) break;
        if (bytes[0] == type)
            found.push_back(
                {.fixed = {bytes, length}, .texts = table.substr(length, end - length)});
        table.remove_prefix(end + 2);
    }
    return found;
}

std::string memory_type(std::uint32_t number) {
    struct Type {
        std::uint32_t number;
        const char* name;
    };
    // SMBIOS, 7.18.2.
    constexpr std::array types = {
        Type{.number = 18, .name = "DDR"},    Type{.number = 19, .name = "DDR2"},
        Type{.number = 24, .name = "DDR3"},   Type{.number = 26, .name = "DDR4"},
        Type{.number = 27, .name = "LPDDR"},  Type{.number = 28, .name = "LPDDR2"},
        Type{.number = 29, .name = "LPDDR3"}, Type{.number = 30, .name = "LPDDR4"},
        Type{.number = 32, .name = "HBM"},    Type{.number = 33, .name = "HBM2"},
        Type{.number = 34, .name = "DDR5"},   Type{.number = 35, .name = "LPDDR5"},
        Type{.number = 36, .name = "HBM3"}};
    const auto known = std::ranges::find(types, number, &Type::number);
    return known == types.end() ? "" : known->name;
}

/// 0: no module; nothing: not known.
std::optional<std::int64_t> module_bytes(const Structure& slot) {
    constexpr std::uint32_t unknown = 0xffff;
    constexpr std::uint32_t elsewhere = 0x7fff;
    constexpr std::uint32_t in_kibibytes = 0x8000;
    const auto size = slot.number(0x0c, 2);
    if (size == unknown) return {};
    if (size == elsewhere) return std::int64_t{slot.number(0x1c, 4) & 0x7fffffffU} << 20U;
    return (size & in_kibibytes) != 0 ? std::int64_t{size & elsewhere} << 10U
                                      : std::int64_t{size} << 20U;
}

std::optional<double> transfers(const Structure& slot, std::size_t offset, std::size_t extended) {
    constexpr std::uint32_t elsewhere = 0xffff;
    auto millions = slot.number(offset, 2);
    if (millions == elsewhere) millions = slot.number(extended, 4);
    return millions == 0 ? std::nullopt : std::optional{millions * 1e6};
}

/// "P0 CHANNEL A/DIMM 1" -> "p0 channel a"; empty where no channel is named.
std::string channel_of(const Structure& slot) {
    for (const std::size_t locator : {0x11U, 0x10U}) {
        const auto text = lower(slot.text(locator));
        const auto at = text.find("channel");
        if (at == std::string::npos) continue;
        const auto name = text.find_first_not_of(" _-", at + std::string_view{"channel"}.size());
        if (name == std::string::npos) continue;
        const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", name);
        return text.substr(0, end);
    }
    return {};
}

void add_memory(const Files& files, record::Platform& platform) {
    // 1 MiB: the largest have some 20 kB.
    const auto table = files.bytes("/sys/firmware/dmi/tables/DMI", std::size_t{1} << 20U);
    constexpr unsigned char memory_device = 17;
    const auto slots = structures(table, memory_device);
    if (slots.empty()) {
        if (files.exists("/sys/firmware"))
            platform.memory_unread = table.empty() && files.exists("/sys/firmware/dmi/tables/DMI")
                                         ? "not_permitted"
                                         : "no_table";
        return;
    }
    platform.memory_slots = static_cast<int>(slots.size());
    std::set<std::string> channels;
    std::set<std::string> all_channels;
    for (const auto& slot : slots) {
        all_channels.insert(channel_of(slot));
        const auto bytes = module_bytes(slot);
        if (!bytes || *bytes == 0) continue;
        channels.insert(channel_of(slot));
        record::MemoryModules one{.bytes = *bytes,
                                  .type = memory_type(slot.number(0x12, 1)),
                                  .transfers_per_second = transfers(slot, 0x20, 0x58),
                                  .transfers_per_second_most = transfers(slot, 0x15, 0x54)};
        auto& kinds = platform.memory_modules;
        const auto same = std::ranges::find_if(kinds, [&](const record::MemoryModules& kind) {
            one.count = kind.count;
            return kind == one;
        });
        one.count = 1;
        if (same == kinds.end())
            kinds.push_back(std::move(one));
        else
            ++same->count;
    }
    if (!channels.empty() && !channels.contains(""))
        platform.memory_channels = static_cast<int>(channels.size());
    if (!all_channels.contains(""))
        platform.memory_channels_most = static_cast<int>(all_channels.size());
}

// --- disks and networks ---------------------------------------------------------------------------

std::string transport_of(const Files& files, const fs::path& folder, const std::string& name) {
    struct Kind {
        std::string_view begins;
        const char* name;
    };
    for (const auto& [begins, kind] :
         {Kind{.begins = "nvme", .name = "nvme"}, Kind{.begins = "vd", .name = "virtio"},
          Kind{.begins = "xvd", .name = "xen"}, Kind{.begins = "mmcblk", .name = "mmc"}})
        if (name.starts_with(begins)) {
            const auto fabric = files.line(folder / "device" / "transport");
            return fabric.empty() || fabric == "pcie" ? kind : fmt::format("{} {}", kind, fabric);
        }
    const auto target = files.link_target(folder);
    if (contains(target, "/ata")) return "sata";
    return contains(target, "/usb") ? "usb" : "scsi";
}

std::vector<record::StorageDevice> storage(const Files& files) {
    std::vector<record::StorageDevice> disks;
    const fs::path blocks = "/sys/block";
    for (const auto& name : files.names(blocks)) {
        const auto folder = blocks / name;
        // Not those made of others (md, dm, loop), no readers of discs, no second paths to one disk.
        if (!files.exists(folder / "device") || name.starts_with("sr") ||
            files.number(folder / "hidden").value_or(0) != 0 || disks.size() == most_listed)
            continue;
        record::StorageDevice disk{.name = name, .model = files.line(folder / "device" / "model")};
        constexpr std::int64_t sector = 512; // of this file, whatever those of the disk are
        const auto sectors = files.number(folder / "size");
        if (sectors && *sectors > 0 && *sectors < (std::int64_t{1} << 50U))
            disk.bytes = *sectors * sector;
        if (const auto rotates = files.number(folder / "queue" / "rotational"))
            disk.rotational = *rotates != 0;
        disk.transport = transport_of(files, folder, name);
        for (const char* const file : {"firmware_rev", "rev"})
            if (disk.firmware.empty()) disk.firmware = files.line(folder / "device" / file);
        disks.push_back(std::move(disk));
    }
    return disks;
}

record::NetworkCard card(const Files& files, const fs::path& folder, std::string name) {
    record::NetworkCard found{.address = files.link_name(folder / "device"),
                              .driver = files.link_name(folder / "device" / "driver")};
    if (const auto rate = network_rate(files, name))
        found.bytes_per_second = rate->bytes_per_second;
    found.name = std::move(name);
    const auto parts = files.number(folder / "device" / "sriov_numvfs");
    if (parts && *parts > 0 && *parts < 65536) found.virtual_functions = static_cast<int>(*parts);
    found.physical_function = files.link_name(folder / "device" / "physfn");
    return found;
}

/// One part of a shared device (SR-IOV), beside the whole: containers see the part alone.
bool is_part_of_another(const Files& files, const fs::path& folder, std::string_view kind) {
    const auto whole = folder / "device" / "physfn";
    return files.exists(whole) && !files.names(whole / kind).empty();
}

std::vector<record::NetworkCard> network(const Files& files, const FirmwareOf& firmware_of) {
    std::vector<record::NetworkCard> cards;
    const fs::path interfaces = "/sys/class/net";
    for (const auto& name : files.names(interfaces)) {
        const auto folder = interfaces / name;
        // Not of software.
        if (!files.exists(folder / "device") || is_part_of_another(files, folder, "net") ||
            cards.size() == most_listed)
            continue;
        cards.push_back(card(files, folder, name));
        cards.back().mtu = files.number(folder / "mtu");
        cards.back().state = files.line(folder / "operstate");
        if (firmware_of) cards.back().firmware = firmware_of(name);
    }
    const fs::path devices = "/sys/class/infiniband";
    for (const auto& name : files.names(devices)) {
        const auto folder = devices / name;
        if (is_part_of_another(files, folder, "infiniband")) continue;
        for (const auto& port : files.names(folder / "ports")) {
            if (cards.size() == most_listed) return cards;
            cards.push_back(card(files, folder, fmt::format("{}:{}", name, port)));
            cards.back().firmware = files.line(folder / "fw_ver");
            cards.back().link_layer = files.line(folder / "ports" / port / "link_layer");
            // "4: ACTIVE"
            const auto state = files.line(folder / "ports" / port / "state");
            cards.back().state =
                lower(trim(state.substr(std::min(state.find(':'), state.size() - 1) + 1)));
        }
    }
    return cards;
}

// --- the kernel -----------------------------------------------------------------------------------

/// Options that change speed. All others may name hosts, disks and people: they are not recorded.
constexpr std::array<std::string_view, 64> telling_options = {"amd_iommu",
                                                              "amd_pstate",
                                                              "audit",
                                                              "clocksource",
                                                              "cpufreq.default_governor",
                                                              "cpufreq.off",
                                                              "cpuidle.governor",
                                                              "cpuidle.off",
                                                              "default_hugepagesz",
                                                              "gather_data_sampling",
                                                              "hugepages",
                                                              "hugepagesz",
                                                              "idle",
                                                              "intel_idle.max_cstate",
                                                              "intel_iommu",
                                                              "intel_pstate",
                                                              "iommu",
                                                              "iommu.passthrough",
                                                              "iommu.strict",
                                                              "irqaffinity",
                                                              "isolcpus",
                                                              "kpti",
                                                              "l1tf",
                                                              "maxcpus",
                                                              "mds",
                                                              "mem",
                                                              "mitigations",
                                                              "mmio_stale_data",
                                                              "nmi_watchdog",
                                                              "no_timer_check",
                                                              "nohz",
                                                              "nohz_full",
                                                              "nopti",
                                                              "nosmt",
                                                              "nosoftlockup",
                                                              "nospec_store_bypass_disable",
                                                              "nospectre_bhb",
                                                              "nospectre_v1",
                                                              "nospectre_v2",
                                                              "nowatchdog",
                                                              "nr_cpus",
                                                              "numa",
                                                              "numa_balancing",
                                                              "pci",
                                                              "pcie_aspm",
                                                              "preempt",
                                                              "processor.max_cstate",
                                                              "psi",
                                                              "pti",
                                                              "rcu_nocb_poll",
                                                              "rcu_nocbs",
                                                              "reg_file_data_sampling",
                                                              "retbleed",
                                                              "skew_tick",
                                                              "spec_rstack_overflow",
                                                              "spec_store_bypass_disable",
                                                              "spectre_v2",
                                                              "split_lock_detect",
                                                              "swiotlb",
                                                              "threadirqs",
                                                              "transparent_hugepage",
                                                              "tsc",
                                                              "tsx",
                                                              "tsx_async_abort"};

/// Where the administrator allows less than the hardware does, of the CPU where that is least.
void add_clock_limit(const Files& files, record::Platform& platform) {
    constexpr double kilohertz = 1e3;
    for (const auto& policy : files.names(cpus / "cpufreq")) {
        const auto limit = files.number(cpus / "cpufreq" / policy / "scaling_max_freq");
        const auto most = files.number(cpus / "cpufreq" / policy / "cpuinfo_max_freq");
        if (!limit || !most || *limit <= 0 || *most <= 0) continue;
        const auto allowed = static_cast<double>(*limit) * kilohertz;
        const auto possible = static_cast<double>(*most) * kilohertz;
        if (platform.clock_limit_hz &&
            *platform.clock_limit_hz * possible <= allowed * *platform.clock_most_hz)
            continue;
        platform.clock_limit_hz = allowed;
        platform.clock_most_hz = possible;
    }
}

/// "off", or how the accelerators and network devices are mapped.
std::string iommu(const Files& files) {
    if (files.names("/sys/class/iommu").empty())
        return files.exists("/sys/class/iommu") ? "off" : "";
    std::set<std::string> kinds;
    const fs::path bus = "/sys/bus/pci/devices";
    for (const auto& address : files.names(bus)) {
        const auto kind = files.line(bus / address / "class").substr(0, 4);
        if (kind == "0x02" || kind == "0x03" || kind == "0x12")
            kinds.insert(files.line(bus / address / "iommu_group" / "type"));
    }
    kinds.erase("");
    return fmt::format("{}", fmt::join(kinds, ", "));
}

std::vector<std::string> mitigations(const Files& files) {
    std::vector<std::string> active;
    for (const auto& name : files.names(cpus / "vulnerabilities"))
        if (files.line(cpus / "vulnerabilities" / name).starts_with("Mitigation"))
            active.push_back(name);
    return active;
}

void add_swap(const Files& files, record::Platform& platform) {
    const auto memory = files.text("/proc/meminfo");
    const auto bytes_of = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto parts = words(value_of(memory, name, ':'));
        const auto kibibytes = parts.empty() ? std::nullopt : to_number(parts[0]);
        if (!kibibytes || *kibibytes < 0 || *kibibytes >= (std::int64_t{1} << 50U)) return {};
        return *kibibytes << 10U;
    };
    platform.swap_bytes = bytes_of("SwapTotal");
    if (const auto left = bytes_of("SwapFree"); left && platform.swap_bytes)
        platform.swap_used_bytes = std::max<std::int64_t>(0, *platform.swap_bytes - *left);
}

std::vector<std::string> kernel_options(const Files& files) {
    const auto line = files.text("/proc/cmdline", 4096);
    std::vector<std::string> options;
    for (const auto word : words(line)) {
        if (word == "--") break; // the rest is for the first process
        const auto name = word.substr(0, word.find('='));
        if (std::ranges::find(telling_options, name) != telling_options.end())
            options.push_back(tidied(word));
    }
    return options;
}

} // namespace

record::Platform read_platform(const Files& files, const FirmwareOf& firmware_of) {
    record::Platform platform;
    platform.bios_vendor = dmi_field(files, "bios_vendor");
    platform.bios_version = dmi_field(files, "bios_version");
    platform.bios_date = dmi_field(files, "bios_date");
    platform.microcode = microcode(files);
    platform.frequency_driver = files.line(cpus / "cpu0" / "cpufreq" / "scaling_driver");
    platform.governor = governors(files);
    platform.boost = boost(files);
    platform.smt = files.line(cpus / "smt" / "control");
    platform.power_limits = power_limits(files);
    platform.energy_unread = energy_unread(files);
    add_memory(files, platform);
    platform.storage = storage(files);
    platform.network = network(files, firmware_of);
    platform.bonds = read_bonds(files);
    platform.kernel_options = kernel_options(files);
    add_clock_limit(files, platform);
    if (const auto balances = files.number("/proc/sys/kernel/numa_balancing"))
        platform.numa_balancing = *balances != 0;
    platform.iommu = iommu(files);
    platform.mitigations = mitigations(files);
    add_swap(files, platform);
    return platform;
}

} // namespace assay::machine
