// SPDX-License-Identifier: Apache-2.0

#include "machine/cpu.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <ranges>
#include <system_error>
#include <utility>

namespace assay::machine {

namespace {

struct ArmVendor {
    std::string_view implementer;
    std::string_view name;
};
// Arm's processors have no name, only numbers: MIDR_EL1, whose fields Arm's manuals and the kernel's
// arch/arm64/include/asm/cputype.h list.
constexpr std::array arm_vendors = {
    ArmVendor{.implementer = "0x41", .name = "Arm"},
    ArmVendor{.implementer = "0x42", .name = "Broadcom"},
    ArmVendor{.implementer = "0x43", .name = "Cavium"},
    ArmVendor{.implementer = "0x46", .name = "Fujitsu"},
    ArmVendor{.implementer = "0x48", .name = "HiSilicon"},
    ArmVendor{.implementer = "0x4e", .name = "NVIDIA"},
    ArmVendor{.implementer = "0x51", .name = "Qualcomm"},
    ArmVendor{.implementer = "0x61", .name = "Apple"},
    ArmVendor{.implementer = "0x6d", .name = "Microsoft"},
    ArmVendor{.implementer = "0xc0", .name = "Ampere"},
};

struct ArmPart {
    std::string_view implementer;
    std::string_view part;
    std::string_view name;
};
constexpr std::array arm_parts = {
    ArmPart{.implementer = "0x41", .part = "0xd03", .name = "Cortex-A53"},
    ArmPart{.implementer = "0x41", .part = "0xd05", .name = "Cortex-A55"},
    ArmPart{.implementer = "0x41", .part = "0xd07", .name = "Cortex-A57"},
    ArmPart{.implementer = "0x41", .part = "0xd08", .name = "Cortex-A72"},
    ArmPart{.implementer = "0x41", .part = "0xd0b", .name = "Cortex-A76"},
    ArmPart{.implementer = "0x41", .part = "0xd0c", .name = "Neoverse N1"},
    ArmPart{.implementer = "0x41", .part = "0xd40", .name = "Neoverse V1"},
    ArmPart{.implementer = "0x41", .part = "0xd41", .name = "Cortex-A78"},
    ArmPart{.implementer = "0x41", .part = "0xd42", .name = "Cortex-A78AE"},
    ArmPart{.implementer = "0x41", .part = "0xd46", .name = "Cortex-A510"},
    ArmPart{.implementer = "0x41", .part = "0xd47", .name = "Cortex-A710"},
    ArmPart{.implementer = "0x41", .part = "0xd48", .name = "Cortex-X2"},
    ArmPart{.implementer = "0x41", .part = "0xd49", .name = "Neoverse N2"},
    ArmPart{.implementer = "0x41", .part = "0xd4d", .name = "Cortex-A715"},
    ArmPart{.implementer = "0x41", .part = "0xd4e", .name = "Cortex-X3"},
    ArmPart{.implementer = "0x41", .part = "0xd4f", .name = "Neoverse V2"},
    ArmPart{.implementer = "0x41", .part = "0xd80", .name = "Cortex-A520"},
    ArmPart{.implementer = "0x41", .part = "0xd81", .name = "Cortex-A720"},
    ArmPart{.implementer = "0x41", .part = "0xd82", .name = "Cortex-X4"},
    ArmPart{.implementer = "0x41", .part = "0xd83", .name = "Neoverse V3AE"},
    ArmPart{.implementer = "0x41", .part = "0xd84", .name = "Neoverse V3"},
    ArmPart{.implementer = "0x41", .part = "0xd85", .name = "Cortex-X925"},
    ArmPart{.implementer = "0x41", .part = "0xd87", .name = "Cortex-A725"},
    ArmPart{.implementer = "0x41", .part = "0xd8e", .name = "Neoverse N3"},
    ArmPart{.implementer = "0x43", .part = "0x0a1", .name = "ThunderX"},
    ArmPart{.implementer = "0x43", .part = "0x0af", .name = "ThunderX2"},
    ArmPart{.implementer = "0x46", .part = "0x001", .name = "A64FX"},
    ArmPart{.implementer = "0x48", .part = "0xd01", .name = "Kunpeng 920"},
    ArmPart{.implementer = "0x4e", .part = "0x004", .name = "Carmel"},
    ArmPart{.implementer = "0x4e", .part = "0x010", .name = "Olympus"},
    ArmPart{.implementer = "0x6d", .part = "0xd49", .name = "Azure Cobalt 100"},
    ArmPart{.implementer = "0xc0", .part = "0xac3", .name = "Ampere-1"},
    ArmPart{.implementer = "0xc0", .part = "0xac4", .name = "Ampere-1a"},
};

std::string_view arm_vendor(std::string_view implementer) {
    const auto known = std::ranges::find(arm_vendors, implementer, &ArmVendor::implementer);
    return known == arm_vendors.end() ? implementer : known->name;
}

std::string arm_name(std::string_view implementer, std::string_view part) {
    for (const ArmPart& known : arm_parts)
        if (known.implementer == implementer && known.part == part)
            return fmt::format("{} {}", arm_vendor(implementer), known.name);
    return fmt::format("{} part {}", arm_vendor(implementer), part);
}

/// A core as both sources write it: "0x41", "0xd4f".
struct ArmCore {
    std::string implementer;
    std::string part;
};

std::vector<ArmCore> listed_cores(std::string_view cpuinfo) {
    std::vector<ArmCore> cores;
    std::string_view implementer;
    for (const std::string_view line : split(cpuinfo, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = trim(line.substr(0, colon));
        const auto value = trim(line.substr(colon + 1));
        if (key == "CPU implementer") implementer = value;
        if (key == "CPU part")
            cores.push_back({.implementer = std::string{implementer}, .part = std::string{value}});
    }
    return cores;
}

/// By MIDR_EL1 of each CPU, as the kernel shows the register ("0x00000000410fd4f1"): some containers hide
/// /proc/cpuinfo, and a process of 32 bits is told of an "ARMv8 Processor".
std::vector<ArmCore> registered_cores(const Files& files) {
    const std::filesystem::path cpus = "/sys/devices/system/cpu";
    std::map<std::int64_t, ArmCore> cores; // by number
    for (const auto& name : files.names(cpus)) {
        const auto number = name.starts_with("cpu") ? to_number(name.substr(3)) : std::nullopt;
        if (!number) continue;
        const auto text = files.line(cpus / name / "regs/identification/midr_el1");
        std::uint64_t midr = 0;
        const auto* const end = text.data() + text.size();
        if (text.size() < 3 || !text.starts_with("0x")) continue;
        const auto read = std::from_chars(text.data() + 2, end, midr, 16);
        if (read.ec != std::errc{} || read.ptr != end) continue;
        cores[*number] = {.implementer = fmt::format("0x{:02x}", midr >> 24U & 0xffU),
                          .part = fmt::format("0x{:03x}", midr >> 4U & 0xfffU)};
    }
    std::vector<ArmCore> in_order;
    for (auto& [number, core] : cores) in_order.push_back(std::move(core));
    return in_order;
}

/// Every kind of core, in the order of the processors: "Arm Cortex-X4 + Arm Cortex-A720".
std::string arm_model(const std::vector<ArmCore>& cores) {
    std::vector<std::string> kinds;
    for (const auto& [implementer, part] : cores) {
        std::string name = arm_name(implementer, part);
        // 4: no machine mixes more kinds of cores.
        if (kinds.size() < 4 && std::ranges::find(kinds, name) == kinds.end())
            kinds.push_back(std::move(name));
    }
    return fmt::format("{}", fmt::join(kinds, " + "));
}

std::string_view first_of(std::string_view cpuinfo, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        if (const auto value = value_of(cpuinfo, key, ':'); !value.empty()) return value;
    return {};
}

std::vector<std::string> instruction_sets(std::string_view cpuinfo) {
    std::vector<std::string> names;
    for (const std::string_view name : words(first_of(cpuinfo, {"flags", "Features", "isa"}))) {
        // Real lists have 20 to 200 names of at most 20 letters.
        if (names.size() == 1000) break;
        if (name.size() <= 64) names.emplace_back(name);
    }
    return names;
}

/// Features that the kernel told this process, by the names of /proc/cpuinfo: under qemu-user that file is the
/// emulating machine's, and some containers hide it.
std::vector<std::string> told_instruction_sets() {
    std::vector<std::string> names;
#if defined(__aarch64__)
    const auto add = [&](unsigned long word, unsigned long bit, const char* name) {
        if ((word & bit) != 0) names.emplace_back(name);
    };
    const unsigned long first = ::getauxval(AT_HWCAP);
    add(first, HWCAP_ASIMD, "asimd");
    add(first, HWCAP_AES, "aes");
    add(first, HWCAP_ASIMDHP, "asimdhp");
    add(first, HWCAP_ASIMDDP, "asimddp");
    add(first, HWCAP_SVE, "sve");
    const unsigned long second = ::getauxval(AT_HWCAP2);
    add(second, HWCAP2_SVE2, "sve2");
    add(second, HWCAP2_SVEAES, "sveaes");
    add(second, HWCAP2_I8MM, "i8mm");
    add(second, HWCAP2_BF16, "bf16");
#endif
    return names;
}

} // namespace

Cpu read_cpu(const Files& files) {
    const std::string cpuinfo = files.text("/proc/cpuinfo");
    Cpu cpu;
    cpu.isa = instruction_sets(cpuinfo);
    if (value_of(cpuinfo, "Features", ':').empty() && files.root() == "/")
        if (auto told = told_instruction_sets(); !told.empty()) cpu.isa = std::move(told);
    // x86, then RISC-V and POWER; Arm below.
    cpu.model = tidied(first_of(cpuinfo, {"model name", "uarch", "cpu"}));
    cpu.vendor = tidied(first_of(cpuinfo, {"vendor_id", "mvendorid"}));
    auto cores = listed_cores(cpuinfo);
    if (cores.empty() && cpu.vendor.empty()) cores = registered_cores(files);
    if (!cores.empty()) {
        cpu.vendor = arm_vendor(std::string_view{cores.front().implementer}.substr(0, 16));
        if (cpu.model.empty() || contains(cpu.model, " Processor rev "))
            cpu.model = tidied(arm_model(cores));
    }
    if (!value_of(cpuinfo, "flags", ':').empty())
        cpu.is_guest = std::ranges::find(cpu.isa, "hypervisor") != cpu.isa.end();
    return cpu;
}

namespace {

/// "MemTotal:       24684084 kB"; the kernel's kB are 1024 bytes.
std::optional<std::int64_t> kilobytes(std::string_view meminfo, std::string_view key) {
    const auto parts = words(value_of(meminfo, key, ':'));
    const auto value = parts.empty() ? std::nullopt : to_number(parts.front());
    // 2^50 KiB, an exbibyte: more is garbage, and would overflow in bytes.
    if (!value || *value < 0 || *value > (std::int64_t{1} << 50U)) return std::nullopt;
    return *value * 1024;
}

/// The choice in brackets: "always [madvise] never".
std::string chosen(std::string_view text) {
    const auto open = text.find('[');
    const auto close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return {};
    return std::string{text.substr(open + 1, close - open - 1)};
}

/// Where empty memory channels, or the memory of devices, make NUMA nodes unlike each other.
void add_nodes(const Files& files, Memory& memory) {
    const std::filesystem::path nodes = "/sys/devices/system/node";
    std::vector<std::int64_t> empty;
    for (const auto& name : files.names(nodes)) {
        if (!name.starts_with("node")) continue;
        const auto number = to_number(name.substr(4)).value_or(-1);
        const auto text = files.text(nodes / name / "meminfo"); // "Node 0 MemTotal:  131072 kB"
        const auto at = std::min(text.find("MemTotal"), text.size());
        const auto bytes = kilobytes(text.substr(at), "MemTotal");
        if (number < 0 || !bytes) continue;
        const bool has_cpus =
            !files.line(nodes / name / "cpulist").empty() ||
            files.line(nodes / name / "cpumap").find_first_not_of("0,") != std::string::npos;
        if (!has_cpus)
            memory.far_bytes += *bytes;
        else if (*bytes == 0)
            empty.push_back(number);
    }
    std::ranges::sort(empty);
    for (const auto number : empty) memory.nodes_without.push_back(std::to_string(number));
}

} // namespace

Memory read_memory(const Files& files) {
    Memory memory;
    add_nodes(files, memory);
    memory.bytes = kilobytes(files.text("/proc/meminfo"), "MemTotal").value_or(0);
    memory.huge_pages = chosen(files.line("/sys/kernel/mm/transparent_hugepage/enabled"));
    for (const MemoryLimit& found : memory_limits(files)) {
        if (memory.bytes > 0 && found.limit >= memory.bytes) continue;
        memory.limit_bytes = std::min(memory.limit_bytes.value_or(found.limit), found.limit);
    }
    return memory;
}

std::optional<std::int64_t> available_memory(const Files& files) {
    auto available = kilobytes(files.text("/proc/meminfo"), "MemAvailable");
    for (const MemoryLimit& found : memory_limits(files)) {
        const std::int64_t left = std::max<std::int64_t>(0, found.limit - found.used);
        available = std::min(available.value_or(left), left);
    }
    return available;
}

namespace {

struct Mount {
    std::filesystem::path root; ///< which part of the hierarchy is mounted
    std::filesystem::path point;
};

/// Does a comma-separated list ("rw,cpu,cpuacct") hold this name?
bool lists(std::string_view list, std::string_view name) {
    const auto names = split(list, ',');
    return std::ranges::find(names, name) != names.end();
}

/// A line of mountinfo: "32 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu".
std::optional<Mount> find_mount(std::string_view mounts, std::string_view controller) {
    for (const std::string_view line : split(mounts, '\n')) {
        const auto parts = words(line);
        const auto dash = std::ranges::find(parts, "-");
        if (parts.size() < 6 || parts.end() - dash < 4) continue;
        const std::string_view type = *(dash + 1);
        const bool wanted = controller.empty() ? type == "cgroup2"
                                               : type == "cgroup" && lists(*(dash + 3), controller);
        if (wanted) return Mount{.root = parts[3], .point = parts[4]};
    }
    return std::nullopt;
}

/// A line of /proc/self/cgroup: "4:memory:/batch/job7", or "0::/batch/job7" for version 2.
std::optional<std::string_view> find_group(std::string_view groups, std::string_view controller) {
    for (const std::string_view line : split(groups, '\n')) {
        const auto first = line.find(':');
        if (first == std::string_view::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const auto names = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? names.empty() : lists(names, controller))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

/// Our group's folder and those above it, up to the mount point. A group outside of what is mounted
/// ("/..", another root), as in a container, is only visible at the mount point.
std::vector<std::filesystem::path> levels(const Mount& mount, std::string_view group) {
    std::filesystem::path inside;
    const auto relative = std::filesystem::path{group}.lexically_relative(mount.root);
    for (const auto& part : relative) {
        if (part == "..") {
            inside.clear();
            break;
        }
        if (part != ".") inside /= part;
    }
    std::vector<std::filesystem::path> folders;
    // 64: deeper than any group; the kernel's own default limit is far beyond use.
    while (!inside.empty() && folders.size() < 64) {
        folders.push_back(mount.point / inside);
        inside = inside.parent_path();
    }
    folders.push_back(mount.point);
    return folders;
}

std::optional<double> quota_at(const Files& files, const std::filesystem::path& folder,
                               bool unified) {
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> period;
    if (unified) {
        const std::string text = files.line(folder / "cpu.max"); // "150000 100000", "max 100000"
        const auto parts = words(text);
        if (parts.size() == 2) {
            quota = to_number(parts[0]);
            period = to_number(parts[1]);
        }
    } else {
        quota = files.number(folder / "cpu.cfs_quota_us"); // -1: none
        period = files.number(folder / "cpu.cfs_period_us");
    }
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<MemoryLimit> limit_at(const Files& files, const std::filesystem::path& folder,
                                    bool unified) {
    auto limit = files.number(folder / (unified ? "memory.max" : "memory.limit_in_bytes"));
    if (unified) {
        // Beyond memory.high the kernel stalls a process until it has given memory back.
        const auto high = files.number(folder / "memory.high");
        if (high && (!limit || *high < *limit)) limit = high;
    }
    // 2^60 bytes: version 1 says "no limit" with a number near 2^63.
    if (!limit || *limit <= 0 || *limit >= std::int64_t{1} << 60U) return std::nullopt;
    const auto used = files.number(folder / (unified ? "memory.current" : "memory.usage_in_bytes"));
    const std::string stat = files.text(folder / "memory.stat");
    const auto cached =
        to_number(value_of(stat, unified ? "inactive_file" : "total_inactive_file", ' '));
    return MemoryLimit{.limit = *limit,
                       .used = std::max<std::int64_t>(0, used.value_or(0) - cached.value_or(0))};
}

} // namespace

Hierarchy hierarchy(const Files& files, std::string_view controller) {
    const std::string groups = files.text("/proc/self/cgroup");
    const std::string mounts = files.text("/proc/self/mountinfo");
    // A controller is in version 1 or in version 2, never in both.
    for (const bool unified : {false, true}) {
        const auto name = unified ? std::string_view{} : controller;
        const auto mount = find_mount(mounts, name);
        const auto group = find_group(groups, name);
        if (mount && group) return {.unified = unified, .folders = levels(*mount, *group)};
    }
    return {};
}

std::filesystem::path own_group(const Files& files) {
    const auto folders = hierarchy(files, {}).folders;
    return folders.empty() ? std::filesystem::path{} : folders.front();
}

std::optional<double> cpu_quota(const Files& files) {
    const Hierarchy cpu = hierarchy(files, "cpu");
    std::optional<double> lowest;
    for (const auto& folder : cpu.folders) {
        const auto quota = quota_at(files, folder, cpu.unified);
        if (quota && (!lowest || *quota < *lowest)) lowest = quota;
    }
    return lowest;
}

std::vector<MemoryLimit> memory_limits(const Files& files) {
    const Hierarchy memory = hierarchy(files, "memory");
    std::vector<MemoryLimit> found;
    for (const auto& folder : memory.folders)
        if (const auto limit = limit_at(files, folder, memory.unified)) found.push_back(*limit);
    return found;
}

std::optional<double> throttled_seconds(const Files& files) {
    const Hierarchy cpu = hierarchy(files, "cpu");
    std::optional<double> most;
    for (const auto& folder : cpu.folders) {
        const std::string stat = files.text(folder / "cpu.stat");
        const auto microseconds = to_number(value_of(stat, "throttled_usec", ' '));
        const auto nanoseconds = to_number(value_of(stat, "throttled_time", ' '));
        const double seconds = microseconds  ? static_cast<double>(*microseconds) * 1e-6
                               : nanoseconds ? static_cast<double>(*nanoseconds) * 1e-9
                                             : -1;
        if (seconds >= 0) most = std::max(most.value_or(0), seconds);
    }
    return most;
}

} // namespace assay::machine
