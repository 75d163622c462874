// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::machine {
namespace {

struct ArmVendor {
    std::string_view implementer;
    std::string_view name;
};
// Arm's processors have no name, only numbers: MIDR_EL1, whose fields Arm's manuals and the kernel's
// arch/arm64/include/asm/cputype.h list.
constexpr std::array arm_vendors = {
    ArmVendor{"0x41", "Arm"},      ArmVendor{"0x42", "Broadcom"},  ArmVendor{"0x43", "Cavium"},
    ArmVendor{"0x46", "Fujitsu"},  ArmVendor{"0x48", "HiSilicon"}, ArmVendor{"0x4e", "NVIDIA"},
    ArmVendor{"0x51", "Qualcomm"}, ArmVendor{"0x61", "Apple"},     ArmVendor{"0x6d", "Microsoft"},
    ArmVendor{"0xc0", "Ampere"},
};

struct ArmPart {
    std::string_view implementer;
    std::string_view part;
    std::string_view name;
};
constexpr std::array arm_parts = {
    ArmPart{"0x41", "0xd03", "Cortex-A53"},   ArmPart{"0x41", "0xd07", "Cortex-A57"},
    ArmPart{"0x41", "0xd08", "Cortex-A72"},   ArmPart{"0x41", "0xd0b", "Cortex-A76"},
    ArmPart{"0x41", "0xd05", "Cortex-A55"},   ArmPart{"0x41", "0xd41", "Cortex-A78"},
    ArmPart{"0x41", "0xd42", "Cortex-A78AE"}, ArmPart{"0x41", "0xd0c", "Neoverse N1"},
    ArmPart{"0x41", "0xd40", "Neoverse V1"},  ArmPart{"0x41", "0xd49", "Neoverse N2"},
    ArmPart{"0x41", "0xd4f", "Neoverse V2"},  ArmPart{"0x41", "0xd84", "Neoverse V3"},
    ArmPart{"0x41", "0xd8e", "Neoverse N3"},  ArmPart{"0x43", "0x0a1", "ThunderX"},
    ArmPart{"0x43", "0x0af", "ThunderX2"},    ArmPart{"0x46", "0x001", "A64FX"},
    ArmPart{"0x48", "0xd01", "Kunpeng 920"},  ArmPart{"0x6d", "0xd49", "Azure Cobalt 100"},
    ArmPart{"0xc0", "0xac3", "Ampere-1"},     ArmPart{"0xc0", "0xac4", "Ampere-1a"},
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

/// Every kind of core there is, in the order of the processors: "Arm Cortex-X4 + Arm Cortex-A720".
std::string arm_model(std::string_view cpuinfo) {
    std::vector<std::string> kinds;
    std::string_view implementer;
    for (const std::string_view line : split(cpuinfo, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = trim(line.substr(0, colon));
        const auto value = trim(line.substr(colon + 1));
        if (key == "CPU implementer") implementer = value;
        if (key != "CPU part") continue;
        std::string name = arm_name(implementer, value);
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

} // namespace

Cpu read_cpu(const Files& files) {
    const std::string cpuinfo = files.text("/proc/cpuinfo");
    Cpu cpu;
    cpu.isa = instruction_sets(cpuinfo);
    // x86, then RISC-V and POWER; Arm below.
    cpu.model = tidied(first_of(cpuinfo, {"model name", "uarch", "cpu"}));
    cpu.vendor = tidied(first_of(cpuinfo, {"vendor_id", "mvendorid"}));
    const auto implementer = value_of(cpuinfo, "CPU implementer", ':');
    if (!implementer.empty()) {
        cpu.vendor = arm_vendor(implementer.substr(0, 16));
        if (cpu.model.empty()) cpu.model = tidied(arm_model(cpuinfo));
    }
    if (!value_of(cpuinfo, "flags", ':').empty())
        cpu.is_guest = std::ranges::find(cpu.isa, "hypervisor") != cpu.isa.end();
    return cpu;
}

} // namespace assay::machine
