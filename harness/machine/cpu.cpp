// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.hpp"

#include "base/text.hpp"
#include "machine/cgroup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
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

/// What the kernel told this process, by the names of /proc/cpuinfo: under qemu-user that file is the emulating
/// machine's, and some containers hide it.
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

} // namespace

Memory read_memory(const Files& files) {
    Memory memory;
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

} // namespace assay::machine
