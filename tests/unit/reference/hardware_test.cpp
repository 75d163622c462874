// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "reference/catalog.hpp"
#include "reference/hardware.hpp"
#include "reference/processor.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::reference;
using namespace testing;

const Hardware& shipped() {
    static const auto hardware = read_hardware().value();
    return hardware;
}

record::Device device(std::string name, std::int64_t bytes = 0) {
    record::Device found{.kind = "cuda", .name = std::move(name)};
    if (bytes > 0) found.memory_bytes = bytes;
    return found;
}

const HardwareEntry& entry(const std::string& name) {
    return *find_hardware(shipped(), device(name));
}

/// "NVIDIA H20 96GB tensor fp64" where rate x multiprocessors x clock is another figure than the one
/// printed, or where either is not known.
std::vector<std::string> unlike_the_formula(bool computable) {
    std::vector<std::string> found;
    for (const auto& e : shipped().entries)
        for (const auto engine : {Engine::vector, Engine::tensor})
            for (const auto& [precision, peak] : e.peaks.of(engine)) {
                const auto rate = e.rates.of(engine).find(precision);
                const auto clock = clock_of(e, engine, precision);
                const bool known = rate != e.rates.of(engine).end() && clock && e.multiprocessors;
                const auto name =
                    e.name + (engine == Engine::tensor ? " tensor " : " vector ") + precision;
                if (!computable && !known) found.push_back(name);
                if (computable && known &&
                    std::abs(*e.multiprocessors * rate->second * *clock / peak - 1) > 0.03)
                    found.push_back(name);
            }
    return found;
}

TEST(Hardware, RatesGiveTheFiguresThatMakersPrint) {
    const std::map<std::string, std::string> exceptions{
        {"NVIDIA H20 96GB vector fp32", "the product brief says 44, the chip's cores make 39.5"},
    };
    std::vector<std::string> names;
    for (const auto& [name, reason] : exceptions) names.push_back(name);
    EXPECT_THAT(unlike_the_formula(true), UnorderedElementsAreArray(names));
}

TEST(Hardware, WhatFollowsFromNoRateIsKnownByName) {
    const std::map<std::string, std::string> reasons{
        {"AMD Instinct", "rates of its units in no source"},
        {"NVIDIA L20", "multiprocessors and clock in no source"},
        {"NVIDIA H100 NVL", "clock of its tensor figures not published"},
        {"NVIDIA H200 NVL", "the same"},
        {"NVIDIA H800", "fp64 cut to a fixed figure"},
        {"NVIDIA H20", "cut to fixed figures"},
        {"NVIDIA B200", "clock of its tensor figures not published"},
        {"NVIDIA GB200", "the same"},
        {"NVIDIA B300", "no clock published"},
        {"NVIDIA GB300", "multiprocessors and clock in no source"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation", "clock in no source"},
    };
    for (const auto& name : unlike_the_formula(false)) {
        bool explained = false;
        for (const auto& [begin, reason] : reasons)
            explained = explained || name.starts_with(begin);
        EXPECT_TRUE(explained) << name;
    }
    // And not a chip that must be reproduced.
    for (const char* name : {"NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA H200",
                             "NVIDIA L40S", "NVIDIA L4", "Tesla T4"})
        for (const auto& unknown : unlike_the_formula(false))
            EXPECT_FALSE(unknown.starts_with(entry(name).name)) << unknown;
}

TEST(Hardware, BusAndClockGiveTheBandwidth) {
    const std::map<std::string, std::string> exceptions{
        {"NVIDIA B200 (HGX) 180GB", "7.7 TB/s printed, 8.18 by its bus and clock"},
    };
    int compared = 0;
    for (const auto& e : shipped().entries) {
        if (!e.memory_bus_bits || !e.memory_clock_hz || !e.memory_bandwidth) continue;
        ++compared;
        const double computed = *e.memory_bus_bits * *e.memory_clock_hz * 2 / 8;
        EXPECT_EQ(std::abs(computed / *e.memory_bandwidth - 1) > 0.03, exceptions.contains(e.name))
            << e.name << ": " << computed << " and " << *e.memory_bandwidth;
    }
    EXPECT_GE(compared, 15);
}

TEST(Hardware, LinksOfOneRateGiveTheBandwidthOfNvlink) {
    int checked = 0;
    for (const auto& entry : shipped().entries) {
        if (!entry.nvlink_bandwidth) continue;
        ASSERT_TRUE(entry.nvlink_rate) << entry.name;
        const double links = *entry.nvlink_bandwidth / *entry.nvlink_rate;
        EXPECT_DOUBLE_EQ(links, std::round(links)) << entry.name;
        EXPECT_LE(links, 18) << entry.name;
        ++checked;
    }
    EXPECT_GT(checked, 20);
}

TEST(Hardware, EveryFigureSaysWhereItComesFrom) {
    std::vector<std::string> without;
    const auto check = [&](const Sheet& sheet, std::string_view but = "none") {
        for (const auto& [path, figure] : sheet.figures)
            if (figure.value.is_number() && figure.origin.source.empty() && !path.starts_with(but))
                without.push_back(sheet.name + " " + path);
    };
    for (const auto& entry : shipped().entries) check(entry.sheet, "rates."); // exceptions
    for (const auto& entry : shipped().network_cards) check(entry.sheet);
    for (const auto& entry : shipped().instances) check(entry.sheet);
    EXPECT_GT(shipped().instances.size(), 250U);
    for (const auto& entry : shipped().processors) {
        check(entry.sheet);
        check(entry.core.sheet);
    }
    EXPECT_THAT(without, IsEmpty());
}

TEST(Hardware, EverySourceIsOfAFigureThatIsThere) {
    std::vector<std::string> without;
    for (const auto& file : std::filesystem::directory_iterator{layout().share / "hardware"}) {
        const auto root = json::read_file(file.path()).value();
        for (const auto& section : root)
            for (const auto& entry : section.is_array() ? section : json::Value::array())
                for (const auto& line : entry.value("figures", json::Value::array()))
                    for (std::string path : line["of"]) {
                        std::ranges::replace(path, '.', '/');
                        if (path != "*" && !entry.contains(json::Value::json_pointer{"/" + path}))
                            without.push_back(file.path().string() + " " + path);
                    }
    }
    EXPECT_THAT(without, IsEmpty());
}

TEST(Hardware, ANameIsFoundAsAnyDriverWritesIt) {
    EXPECT_EQ(entry("NVIDIA H100 80GB HBM3").name, "NVIDIA H100 SXM5 80GB");
    EXPECT_EQ(entry("A100-SXM4-80GB").name, entry("NVIDIA A100-SXM4-80GB").name);
    EXPECT_EQ(entry("NVIDIA T4").name, entry("Tesla T4").name);
    EXPECT_EQ(entry("nvidia l40s").name, "NVIDIA L40S");
    // Names by amdgpu and HIP.
    for (const char* name : {"AMD Instinct MI300X OAM", "AMD Instinct MI300X"}) {
        const auto* const found = find_hardware(shipped(), device(name));
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->memory_bandwidth, 5.3e12);
        EXPECT_EQ(found->multiprocessors, 304);
    }
    EXPECT_EQ(find_hardware(shipped(), device("NVIDIA H900")), nullptr);
    EXPECT_EQ(find_hardware(shipped(), device("")), nullptr);
    EXPECT_THAT(unknown_hardware(shipped(), device("NVIDIA H900")),
                MatchesRegex("configs/hardware has no \"NVIDIA H900\"; nearest is \"NVIDIA "
                             "H[0-9]+\""));
    EXPECT_EQ(unknown_hardware(shipped(), device("\x1b[31m")),
              "configs/hardware has no \"\\u001b[31m\"");
}

/// A file of one accelerator; `more` are further keys of it.
std::string one(const std::string& more, const std::string& figures = "") {
    return R"({"schema":"assay.hardware/1","sources":{"s":"a book"},"accelerators":[{"id":"x","name":"X","names":["X"],"architecture":"a","form_factor":"f","compute_capability":"9.9","figures":[)" +
           figures + "]" + more + "}]}";
}

Result<Hardware> read(const std::vector<std::string>& texts) {
    std::vector<HardwareText> files;
    for (const auto& text : texts) files.push_back({.text = text, .source = "x.json"});
    return parse_hardware(files, *json::read_file(layout().share / "schema" / "hardware.json"));
}

TEST(Hardware, OfTheSameNameTheNearestInMemoryCounts) {
    auto small = one(R"(,"memory":{"bytes":1e9},"multiprocessors":1)");
    auto large = one(R"(,"memory":{"bytes":2e9},"multiprocessors":2)");
    const auto both = valid(read({small, large}));
    EXPECT_EQ(find_hardware(*both, device("X", 1'100'000'000))->multiprocessors, 1);
    EXPECT_EQ(find_hardware(*both, device("X", 1'900'000'000))->multiprocessors, 2);
    EXPECT_EQ(find_hardware(*both, device("X"))->multiprocessors, 1);
}

TEST(Hardware, AWrongFileIsRefusedWithThePlace) {
    struct Wrong {
        std::string text;
        std::string message;
    };
    const std::vector<Wrong> wrongs{
        {"", "x.json"},
        {"[]", "expected an object"},
        {R"({"schema":"assay.suite/1","sources":{}})", "assay.hardware/1"},
        {one(R"(,"multiprocessors":0)"), "accelerators[0].multiprocessors"},
        {one(R"(,"multiprocessors":1e30)"), "multiprocessors"},
        {one(R"(,"peaks":{"tensor":{"bf16":-1}})"), "accelerators[0].peaks.tensor.bf16"},
        {one(R"(,"peaks":{"tensor":{"bf61":1}})"), "bf61"},
        {one(R"(,"clock":{"tensor":null})"), "clock.tensor"},
        {one("", R"({"of":["power"],"source":"t","sure":"recalled"})"), "\"t\" is not among"},
        {one("", R"({"of":["power","power"],"source":"s","sure":"recalled"})"), "two sources"},
        {one("", R"({"of":["power"],"source":"s","sure":"hoped"})"), "sure"},
    };
    for (const auto& [text, message] : wrongs) {
        const auto got = read({text});
        EXPECT_THAT(got, Fails(HasSubstr(message))) << text;
        EXPECT_THAT(got.error().message, HasSubstr("x.json")) << text;
    }
    EXPECT_TRUE(read({one("")}));
    EXPECT_THAT(read({one(""), one("")}).error().message, HasSubstr("occurs twice"));
    const std::string rates =
        R"({"schema":"assay.hardware/1","sources":{},"rates":[{"compute_capability":"9.9","vector":{},"tensor":{},"figures":[]}]})";
    EXPECT_THAT(read({rates, rates}).error().message, HasSubstr("occurs twice"));
    const auto file = [](const std::string& content) {
        return R"({"schema":"assay.hardware/1","sources":{},)" + content + "}";
    };
    const auto core = file(
        R"("microarchitectures":[{"id":"m","name":"M","vendor":"v","rates":{},"figures":[]}])");
    const auto processor = file(
        R"("processors":[{"id":"x","name":"X","names":["X"],"microarchitecture":"m","figures":[]}])");
    EXPECT_TRUE(read({processor, core})); // in either order
    EXPECT_THAT(read({core, core}).error().message, HasSubstr("occurs twice"));
    EXPECT_THAT(read({processor}).error().message, HasSubstr("unknown microarchitecture \"m\""));
    EXPECT_THAT(
        read(
            {file(
                R"("microarchitectures":[{"id":"m","name":"M","vendor":"v","rates":{"mmx":{}},"figures":[]}])")})
            .error()
            .message,
        HasSubstr("mmx"));
}

// --- processors --------------------------------------------------------------------------------------

const std::vector<ProcessorEntry>& processors() {
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
    const auto* entry = find_processor(processors(), of);
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
    for (const auto& entry : processors())
        for (const auto& pattern : entry.names)
            EXPECT_EQ(found_name(like(entry, pattern)), entry.name) << pattern;
}

TEST(Processors, RatesAndMemoryAreThoseThatHardwareCanHave) {
    const std::set<double> per_clock{8, 16, 32, 64, 128, 256, 1024, 2048};
    std::set<std::string> names;
    for (const auto& entry : processors()) {
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
        const auto found =
            core_rate(*find_processor(processors(), of), of, precision, matrices, set);
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

// --- entries by name, and files laid over others -----------------------------------------------------

// Entries by what people call them, and files that are laid over others.

std::string id_of(std::string_view text, std::optional<Kind> kind = {}) {
    const auto found = entry_named(shipped(), text, kind);
    return found ? found->sheet->id : "";
}
std::string why_not(std::string_view text) { return entry_named(shipped(), text).error().message; }

TEST(Catalog, FindsEntriesByWhatPeopleCallThem) {
    for (const char* name : {"aws/p5.48xlarge", "p5.48xlarge", "P5.48XLARGE", "AWS p5.48xlarge",
                             "amazon web services p5.48xlarge", "Amazon p5.48xlarge"})
        EXPECT_EQ(id_of(name), "aws/p5.48xlarge") << name;
    EXPECT_EQ(id_of("nvidia-l40s"), "nvidia-l40s");
    EXPECT_EQ(id_of("L40S"), "nvidia-l40s");
    EXPECT_EQ(id_of("nvidia h100 80gb hbm3"), "nvidia-h100-sxm5-80gb"); // as its driver has it
    EXPECT_EQ(id_of("h100 sxm5"), "nvidia-h100-sxm5-80gb");
    EXPECT_EQ(id_of("A10"), "nvidia-a10"); // not the A10G
    EXPECT_EQ(id_of("EPYC 9R14"), "amd-epyc-9r14");
    EXPECT_EQ(id_of("mi300x"), "amd-mi300x"); // types of instances have it in their names too
    EXPECT_EQ(id_of("L40S", Kind::processor), "");
}

TEST(Catalog, WhatIsAmbiguousOrUnknownIsSaid) {
    EXPECT_EQ(why_not("H100"),
              "\"H100\" matches 3 entries: nvidia-h100-sxm5-80gb, nvidia-h100-pcie-80gb, "
              "nvidia-h100-nvl-94gb; give one of them");
    EXPECT_THAT(why_not("p5.48xlarg"), HasSubstr("did you mean \"p5.48xlarge\"?"));
    EXPECT_THAT(why_not(""), HasSubstr("has no \"\""));
    EXPECT_THAT(why_not("\x1b[31m"), HasSubstr("has no \"\\u001b[31m\""));
}

TEST(Catalog, ProvidersGoByManyNames) {
    for (const char* name : {"aws", "AWS", "Amazon", "amazon web services", "Amazon-EC2"})
        EXPECT_EQ(provider_id(shipped(), name), "aws") << name;
    EXPECT_EQ(provider_id(shipped(), "阿里云"), "alibaba");
    EXPECT_EQ(provider_id(shipped(), "Our Own"), "ourown");
    ASSERT_NE(find_instance(shipped(), "Microsoft", "standard_nd96isr_h100_v5"), nullptr);
    EXPECT_EQ(find_instance(shipped(), "gcp", "p5.48xlarge"), nullptr);
}

Result<Hardware> laid_over(const std::vector<std::string>& texts) {
    std::vector<HardwareText> files;
    for (const auto& text : texts)
        files.push_back(
            {.text = R"({"schema":"assay.hardware/1","sources":{"s":"a book","t":"a page"},)" +
                     text + "}",
             .source = "file" + std::to_string(files.size()),
             .is_laid_over = !files.empty()});
    return parse_hardware(files, *json::read_file(layout().share / "schema" / "hardware.json"));
}

TEST(Catalog, AFileLaidOverOthersReplacesFiguresAndSaysSo) {
    const auto found = valid(laid_over(
        {R"("checked":"2026-01-31","instances":[{"provider":"p","type":"t","vcpus":8,"memory_gib":32,"figures":[{"of":["*"],"source":"s","sure":"retrieved"}]}])",
         R"("instances":[{"provider":"p","type":"t","vcpus":16,"cores":8,"figures":[{"of":["vcpus","cores"],"source":"t","sure":"hardware_readout","checked":"2026-02-01"}]},
             {"provider":"p","type":"u","vcpus":1}])"}));
    ASSERT_EQ(found->instances.size(), 2U);
    const auto& entry = found->instances.front();
    EXPECT_EQ(entry.vcpus, 16);
    EXPECT_EQ(entry.memory_gib, 32);
    const auto& memory = entry.sheet.figures.at("memory_gib");
    EXPECT_EQ(memory.origin.file, "file0");
    EXPECT_EQ(memory.origin.checked, "2026-01-31");
    const auto& vcpus = entry.sheet.figures.at("vcpus");
    EXPECT_EQ(vcpus.origin.file, "file1");
    EXPECT_EQ(vcpus.origin.source, "a page");
    EXPECT_EQ(vcpus.origin.checked, "2026-02-01");
    ASSERT_EQ(entry.sheet.replaced.size(), 1U);
    EXPECT_EQ(entry.sheet.replaced.front().of, "vcpus");
    EXPECT_EQ(entry.sheet.replaced.front().value, 8);
    EXPECT_EQ(entry.sheet.replaced.front().origin.file, "file0");
}

TEST(Catalog, AnAcceleratorIsReplacedFieldByField) {
    const auto found = valid(laid_over(
        {R"("accelerators":[{"id":"x","name":"X","names":["X"],"architecture":"a","form_factor":"f","power":300,"peaks":{"tensor":{"bf16":1e14,"fp8":2e14}},"figures":[]}])",
         R"("accelerators":[{"id":"x","power":350,"peaks":{"tensor":{"bf16":9e13},"sparse":{"bf16":2e14}}}])"}));
    ASSERT_EQ(found->entries.size(), 1U);
    const auto& entry = found->entries.front();
    EXPECT_EQ(entry.name, "X");
    EXPECT_EQ(entry.power, 350);
    EXPECT_EQ(entry.peaks.tensor.at("bf16"), 9e13);
    EXPECT_EQ(entry.peaks.tensor.at("fp8"), 2e14);
    EXPECT_EQ(entry.sparse.at("bf16"), 2e14);
    EXPECT_EQ(entry.sheet.replaced.size(), 2U);
    // New entries must be complete.
    EXPECT_THAT(laid_over({R"("providers":[])", R"("accelerators":[{"id":"y","power":1}])"})
                    .error()
                    .message,
                HasSubstr("accelerators[0]: `name` is missing"));
}

TEST(Catalog, ADayThatIsNoneIsRefused) {
    EXPECT_THAT(laid_over({R"("checked":"yesterday ")"}).error().message, HasSubstr("checked"));
}

} // namespace
