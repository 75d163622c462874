// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "reference/hardware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::datasheet;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

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

TEST(Hardware, ClocksAreTheMakersAndFp64HoldsAtTheHigherOne) {
    const auto& h200 = entry("NVIDIA H200");
    EXPECT_EQ(clock_of(h200, Engine::tensor, "bf16"), 1.83e9);
    EXPECT_EQ(clock_of(h200, Engine::tensor, "fp64"), 1.98e9);
    EXPECT_EQ(clock_of(h200, Engine::vector, "fp32"), 1.98e9);
    EXPECT_EQ(h200.rates.tensor.at("bf16"), 4096);
    EXPECT_EQ(h200.rates.tensor.at("fp8"), 8192);
}

TEST(Hardware, WhereAChipDepartsFromItsCapabilityThatIsKept) {
    EXPECT_EQ(entry("NVIDIA A10").rates.tensor.at("fp16"), 1024);
    EXPECT_EQ(entry("NVIDIA A10G").rates.tensor.at("fp16"), 512);
    EXPECT_FALSE(entry("NVIDIA H20").rates.tensor.contains("bf16"));
    EXPECT_EQ(entry("NVIDIA H20").rates.vector.at("fp32"), 256);
}

TEST(Hardware, ANameIsFoundAsAnyDriverWritesIt) {
    EXPECT_EQ(entry("NVIDIA H100 80GB HBM3").name, "NVIDIA H100 SXM5 80GB");
    EXPECT_EQ(entry("A100-SXM4-80GB").name, entry("NVIDIA A100-SXM4-80GB").name);
    EXPECT_EQ(entry("NVIDIA T4").name, entry("Tesla T4").name);
    EXPECT_EQ(entry("nvidia l40s").name, "NVIDIA L40S");
    // As amdgpu and HIP have them.
    for (const char* name : {"AMD Instinct MI300X OAM", "AMD Instinct MI300X"}) {
        const auto* const found = find_hardware(shipped(), device(name));
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->memory_bandwidth, 5.3e12);
        EXPECT_EQ(found->multiprocessors, 304);
    }
    EXPECT_EQ(find_hardware(shipped(), device("NVIDIA H900")), nullptr);
    EXPECT_EQ(find_hardware(shipped(), device("")), nullptr);
    EXPECT_THAT(
        unknown_hardware(shipped(), device("NVIDIA H900")),
        testing::MatchesRegex("configs/hardware has no \"NVIDIA H900\"; nearest is \"NVIDIA "
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
    const auto both = read({small, large});
    ASSERT_TRUE(both);
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
        ASSERT_FALSE(got) << text;
        EXPECT_THAT(got.error().message, HasSubstr(message)) << text;
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
    EXPECT_THAT(read({processor}).error().message,
                HasSubstr("no file of hardware has the microarchitecture \"m\""));
    EXPECT_THAT(
        read(
            {file(
                R"("microarchitectures":[{"id":"m","name":"M","vendor":"v","rates":{"mmx":{}},"figures":[]}])")})
            .error()
            .message,
        HasSubstr("mmx"));
}

} // namespace
