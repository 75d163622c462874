// SPDX-License-Identifier: Apache-2.0

#include "compare/diff.hpp"
#include "compare/diff_document.hpp"
#include "document/language.hpp"
#include "exchange/diff_data.hpp"
#include "json/json.hpp"
#include "record/reader.hpp"
#include "support/sample_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// With two devices.
record::Run golden() {
    record::Run run{.id = "a", .status = "done", .version = "1"};
    run.machine = test::sample_machine();
    run.machine.platform.governor = "performance";
    run.machine.platform.bios_version = "2.1";
    run.machine.platform.network = {{.name = "eth0", .mtu = 9000}};
    for (int i = 0; i < 2; ++i)
        run.machine.devices.push_back({.kind = "cuda",
                                       .index = i,
                                       .uuid = "GPU-" + std::to_string(i),
                                       .name = "H200",
                                       .ecc = true});
    return run;
}

Diff diff(record::Run a, record::Run b) {
    return diff_machines({.label = "A", .file = "a.json", .run = std::move(a)},
                         {.label = "B", .file = "b.json", .run = std::move(b)});
}

std::vector<std::string> lines_of(const Diff& diff) {
    std::vector<std::string> lines;
    for (const auto& d : diff.differences)
        lines.push_back(fmt::format("{} {} {} {} {}{}", to_string(d.group), d.key, d.before,
                                    d.after, d.count, d.matters ? "!" : ""));
    return lines;
}

TEST(Diff, WhatMattersComesFirstAndWhatAlwaysDiffersIsNotCounted) {
    auto other = golden();
    auto& m = other.machine;
    m.id = "m-fedcba9876543210";
    m.hostname = "node17";
    m.platform.governor = "powersave";
    m.platform.bios_version = "2.2";
    m.platform.network[0] = {.name = "enp1s0", .mtu = 1500};
    m.platform.iommu = "off"; // not recorded of the other
    m.memory_bytes = *m.memory_bytes - 4'000'000;
    m.isa.pop_back();
    m.isa.emplace_back("amx_bf16");
    for (auto& device : m.devices) {
        device.uuid += "x";
        device.ecc = false;
    }
    const auto found = diff(golden(), other);
    EXPECT_THAT(lines_of(found),
                ElementsAre("hardware isa avx512f amx_bf16 1!", "setting devices.ecc on off 2!",
                            "setting platform.governor performance powersave 1!",
                            "setting platform.network.mtu 9000 1500 1!",
                            "firmware platform.bios_version 2.1 2.2 1"));
    EXPECT_THAT(found.by_nature, ElementsAre("devices.uuid", "id", "platform.network.name"));
    EXPECT_THAT(found.only_b, ElementsAre("platform.iommu"));
    EXPECT_FALSE(found.same_machine);
    const auto verdict = verdict_of(found);
    EXPECT_EQ(
        verdict,
        "B differs from A in 1 fact of hardware, 1 firmware version and 3 settings; 4 of these "
        "may change speed or correctness: instruction sets avx512f → amx_bf16, ECC of device "
        "memory on → off (2 times), governor performance → powersave and 1 more.");
    use_language(Language::zh);
    EXPECT_THAT(verdict_of(found), HasSubstr("3 项设置"));
    use_language(Language::en);
    const auto json = json::parse(to_json(found), "diff");
    ASSERT_TRUE(json);
    EXPECT_EQ((*json)["schema"], "assay.diff/1");
    EXPECT_EQ((*json)["differences"].size(), 5U);
    EXPECT_EQ((*json)["differences"][1]["matters"], true);
    const auto document = make_document(found);
    EXPECT_EQ(document.verdict, verdict);
    EXPECT_EQ(document.sections.front().title, "Hardware");
    EXPECT_EQ(document.sections.back().title, "Not counted");
}

TEST(Diff, OfOneMachineNothing) {
    const auto found = diff(golden(), golden());
    EXPECT_THAT(found.differences, IsEmpty());
    EXPECT_THAT(found.by_nature, IsEmpty());
    EXPECT_TRUE(found.same_machine);
    EXPECT_THAT(verdict_of(found), HasSubstr("does not differ"));
    EXPECT_THAT(verdict_of(found), Not(HasSubstr("values")));
}

TEST(Diff, ContainersOnOtherDevicesAreOtherMachines) {
    const auto real = [](const std::string& name) {
        auto run = record::read_run(std::filesystem::path{ASSAY_REAL_RUNS} / name);
        EXPECT_TRUE(run) << run.error().message;
        return std::move(*run);
    };
    const auto h100 = real("h100-acceptance-interrupted.json");
    const auto h200 = real("h200-acceptance.json");
    EXPECT_EQ(h100.machine.id, h200.machine.id); // as recorded, by hardware alone
    const auto found = diff(h100, h200);
    EXPECT_FALSE(found.same_machine);
    const auto data = json::parse(to_json(found), "diff");
    ASSERT_TRUE(data);
    EXPECT_NE((*data)["a"]["machine"], (*data)["b"]["machine"]);
    EXPECT_TRUE(diff(h100, real("h100-shared-device.json")).same_machine);
}

TEST(Diff, ALostDeviceIsOneDifference) {
    auto other = golden();
    other.machine.devices.pop_back();
    EXPECT_THAT(lines_of(diff(golden(), other)), ElementsAre("hardware devices 2 1 1!"));
}

TEST(Diff, ValuesBeyondNoiseTheLargestFirst) {
    Comparison comparison;
    const auto row = [](const char* name, ContrastOutcome outcome, double ratio) {
        ComparedRow one{.name = name, .unit = "B/s"};
        one.cells = {{.value = 1e9}, {.value = ratio * 1e9}};
        one.cells[1].contrast = Contrast{.outcome = outcome, .ratio = ratio};
        return one;
    };
    comparison.tables.push_back(
        {.title = "Memory",
         .rows = {row("read", ContrastOutcome::worse, 0.9), row("copy", ContrastOutcome::same, 1),
                  row("write", ContrastOutcome::better, 1.2)}});
    auto found = diff(golden(), golden());
    add_values(comparison, found);
    EXPECT_EQ(found.compared, 3U);
    ASSERT_EQ(found.values.size(), 2U);
    EXPECT_EQ(found.values[0].name, "Memory, write");
    EXPECT_EQ(found.values[1].after, "900 MB/s");
    EXPECT_THAT(verdict_of(found), HasSubstr("1 of 3 values is worse on B"));
}

} // namespace
} // namespace assay::report
