// SPDX-License-Identifier: Apache-2.0
#include "reference/hardware.hpp"
#include "reference/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::datasheet;

const std::vector<ProcessorEntry>& shipped() {
    static const auto hardware = read_hardware().value();
    return hardware.processors;
}

record::Machine machine(std::string model, std::string vendor, std::vector<std::string> isa) {
    record::Machine found;
    found.cpu_model = std::move(model);
    found.cpu_vendor = std::move(vendor);
    found.isa = std::move(isa);
    return found;
}

std::string found_name(const record::Machine& of) {
    const auto* entry = find_processor(shipped(), of);
    return entry == nullptr ? "" : entry->name;
}

TEST(Processors, AreFoundAsTheKernelWritesThem) {
    const std::string intel = "GenuineIntel";
    const std::string amd = "AuthenticAMD";
    EXPECT_EQ(found_name(machine("Intel(R) Xeon(R) Platinum 8488C", intel, {"avx512f"})),
              "Intel Xeon Platinum 8488C");
    EXPECT_EQ(found_name(machine("Intel(R) Xeon(R) Platinum 8480+", intel, {"avx512f"})),
              "Intel Xeon Scalable, fourth generation");
    EXPECT_EQ(found_name(machine("AMD EPYC 9R14 96-Core Processor", amd, {})), "AMD EPYC 9R14");
    EXPECT_EQ(found_name(machine("AMD EPYC 9654 96-Core Processor", amd, {})), "AMD EPYC 9004");
    EXPECT_EQ(found_name(machine("AMD EPYC 9754", amd, {})), "AMD EPYC 9004");
    // Memory on the package: another bandwidth.
    EXPECT_EQ(found_name(machine("AMD EPYC 9V64H 96-Core Processor", amd, {})), "");
    EXPECT_EQ(found_name(machine("AMD EPYC 7B13", amd, {})), "AMD EPYC 7003");
    EXPECT_EQ(found_name(machine("Arm Neoverse V2", "Arm", {"sve"})),
              "Arm Neoverse V2 (Graviton4, Grace)");
    EXPECT_EQ(found_name(machine("AWS Graviton4 (Arm Neoverse V2)", "Arm", {"sve"})),
              "AWS Graviton4");
    EXPECT_EQ(found_name(machine("NVIDIA Grace (Arm Neoverse V2)", "Arm", {"sve"})),
              "NVIDIA Grace");
    EXPECT_EQ(found_name(machine("Ampere Ampere-1a", "Ampere", {"asimd"})), "AmpereOne");
    EXPECT_EQ(found_name(machine("AMD Ryzen 9 7950X", amd, {"avx512f"})), "");
    EXPECT_EQ(found_name(machine("AMD EPYC 7B13", intel, {})), "");
    EXPECT_EQ(found_name(machine("", "", {})), "");
}

TEST(Processors, WithoutAModelTheFeaturesTellThemApart) {
    const auto guest = [](std::vector<std::string> isa) {
        return found_name(
            machine("Intel(R) Xeon(R) Processor @ 2.80GHz", "GenuineIntel", std::move(isa)));
    };
    EXPECT_EQ(guest({"avx2", "adx"}), "Intel Xeon (Broadwell)");
    EXPECT_EQ(guest({"avx2", "adx", "avx512f"}), "Intel Xeon (Skylake-SP or Cascade Lake-SP)");
    EXPECT_EQ(guest({"avx2", "adx", "avx512f", "avx512_vbmi2"}),
              "Intel Xeon Scalable, third generation (Ice Lake-SP)");
    EXPECT_EQ(guest({"avx512f", "avx512_vbmi2", "avx512_bf16", "avx512_fp16"}),
              "Intel Xeon (Sapphire Rapids or Emerald Rapids)");
    EXPECT_EQ(guest({"avx512f", "avx512_vbmi2", "avx512_bf16", "avx512_fp16", "amx_fp16"}),
              "Intel Xeon 6 with P-cores");
    EXPECT_EQ(guest({"sse2"}), "");
}

/// A machine that has the name and the features of an entry, and no feature that it lacks.
record::Machine like(const ProcessorEntry& entry, const std::string& pattern) {
    std::string name;
    for (const char letter : pattern)
        if (letter != '*') name += letter == '?' ? '0' : letter;
    return machine(name, entry.core.vendor, entry.needs);
}

TEST(Processors, EachIsFoundByEachOfItsNamesAndByNoOther) {
    for (const auto& entry : shipped())
        for (const auto& pattern : entry.names)
            EXPECT_EQ(found_name(like(entry, pattern)), entry.name) << pattern;
}

TEST(Processors, RatesAndMemoryAreThoseThatHardwareCanHave) {
    const std::set<double> per_clock{8, 16, 32, 64, 128, 256, 1024, 2048};
    std::set<std::string> names;
    for (const auto& entry : shipped()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        ASSERT_FALSE(entry.core.rates.empty()) << entry.name;
        for (const auto& [isa, rates] : entry.core.rates) {
            for (const auto& [precision, rate] : rates)
                EXPECT_TRUE(per_clock.contains(rate)) << entry.name << ' ' << isa << precision;
            if (isa == "amx") continue;
            EXPECT_EQ(rates.at("fp32"), 2 * rates.at("fp64")) << entry.name << ' ' << isa;
        }
        if (entry.memory_channels) {
            EXPECT_GE(*entry.memory_channels, 4) << entry.name;
            EXPECT_LE(*entry.memory_channels, 12) << entry.name;
            ASSERT_TRUE(entry.memory_transfer_rate) << entry.name;
            EXPECT_GE(*entry.memory_transfer_rate, 2.4e9) << entry.name;
            EXPECT_LE(*entry.memory_transfer_rate, 8.8e9) << entry.name;
        }
        if (entry.boost_clock_hz) {
            EXPECT_GE(*entry.boost_clock_hz, 2.5e9) << entry.name;
            EXPECT_LE(*entry.boost_clock_hz, 6e9) << entry.name;
        }
    }
    EXPECT_GT(names.size(), 35U);
}

TEST(Processors, OnlyInstructionsOfTheMachineCount) {
    const auto rate = [](std::vector<std::string> isa, std::string_view precision,
                         bool matrices = true, std::string_view set = {}) {
        const auto of = machine("Intel(R) Xeon(R) Platinum 8488C", "GenuineIntel", std::move(isa));
        const auto found = core_rate(*find_processor(shipped(), of), of, precision, matrices, set);
        return found ? found->isa + " " + std::to_string(static_cast<int>(found->per_clock)) : "";
    };
    const std::vector<std::string> all{"avx2", "avx512f", "avx512_vnni", "amx_bf16", "amx_int8"};
    EXPECT_EQ(rate(all, "fp64"), "avx512 32");
    EXPECT_EQ(rate({"avx2"}, "fp64"), "avx2 16");
    EXPECT_EQ(rate(all, "fp64", true, "avx2"), "avx2 16");
    EXPECT_EQ(rate(all, "fp64", true, "sse4"), "");
    EXPECT_EQ(rate(all, "int8"), "amx 2048");
    EXPECT_EQ(rate(all, "int8", false), "avx512 256");
    EXPECT_EQ(rate({"avx2", "avx512f"}, "int8"), ""); // no dot instruction
    EXPECT_EQ(rate(all, "bf16", false), "");          // in no source
    EXPECT_EQ(rate({}, "fp64"), "");
    EXPECT_EQ(rate(all, "fp4"), "");
}

} // namespace
