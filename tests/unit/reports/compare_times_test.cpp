// SPDX-License-Identifier: Apache-2.0
//
// Runs at different times differ by what their replicas do not show: by chance alone no more series than promised are
// called better or worse. And what sets two machines apart.

#include "compare/comparison.hpp"
#include "compare/diff.hpp"
#include "compare/words.hpp"
#include "exchange/data.hpp"
#include "json/json.hpp"
#include "record/reader.hpp"
#include "support/collection_maker.hpp"
#include "support/document.hpp"
#include "support/noise.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

namespace assay::compare {
namespace {

using namespace testing;
using test::CollectionMaker;
using test::gemm;

constexpr double between_runs = 0.08;      // as memory on a shared host
constexpr double between_replicas = 0.008; // within one hour of it
constexpr std::int64_t sizes = 6;

/// Effect of the hour on the series of a run: the same for all, or another for each.
enum class Weather { common, own };

struct Fleet {
    std::uint64_t seed = 1;
    int runs = 1; ///< a side
    Weather weather = Weather::common;
    double change = 1; ///< of side B
    bool known = true; ///< files have a spread
    std::string machine = "m-1";
};

store::Collection made(const Fleet& fleet) {
    CollectionMaker maker;
    test::Noise dice{fleet.seed};
    for (const char* label : {"A", "B"})
        for (int i = 0; i < fleet.runs; ++i) {
            const auto run = maker.run({.label = label, .machine = fleet.machine});
            const double hour = dice.normal();
            for (std::int64_t size = 1; size <= sizes; ++size) {
                const double effect =
                    between_runs * (fleet.weather == Weather::common ? hour : dice.normal());
                std::vector<double> replicas;
                for (int k = 0; k < 5; ++k)
                    replicas.push_back((label[0] == 'B' ? fleet.change : 1) * 1e11 *
                                       std::exp(effect + between_replicas * dice.normal()));
                auto& seen = maker.observe(run, gemm("openblas", size), replicas);
                if (fleet.known) seen.between_runs = between_runs;
            }
        }
    return maker.collection();
}

constexpr int comparisons = 200;
/// The promised 1%, and what so many comparisons may show of it by chance: two standard errors.
const double promised = 0.01 + 2 * std::sqrt(0.01 * 0.99 / comparisons);

/// The share of series called better or worse of two sides that are the same.
double called(Fleet fleet) {
    std::size_t count = 0;
    double means = 0;
    for (int i = 0; i < comparisons; ++i) {
        fleet.seed = 1000 + static_cast<std::uint64_t>(i);
        const auto comparison = *compare(made(fleet));
        const auto& tally = comparison.tallies[1];
        count += tally.better + tally.worse;
        const auto whole = comparison.overall[1].outcome;
        means += whole == ContrastOutcome::better || whole == ContrastOutcome::worse ? 1 : 0;
    }
    if (fleet.known) {
        EXPECT_LE(means, promised * comparisons) << "of the overall ratio";
    }
    return static_cast<double>(count) / (static_cast<double>(sizes) * comparisons);
}

const Contrast& first_of(const Comparison& comparison) {
    return *comparison.tables[0].rows[0].cells[1].contrast;
}

TEST(CompareTimes, ReplicasOfOneRunCannotJudgeTwoTimes) {
    EXPECT_GT(called({.known = false}), 0.5); // what files without a spread allow
    for (const auto weather : {Weather::common, Weather::own})
        EXPECT_LE(called({.weather = weather}), promised);
}

TEST(CompareTimes, ThreeRunsASideShowWhatRunsDifferBy) {
    for (const auto weather : {Weather::common, Weather::own})
        EXPECT_LE(called({.runs = 3, .weather = weather}), promised);
}

TEST(CompareTimes, WhatIsSmallerThanLiesBetweenTimesSaysSo) {
    const auto comparison = *compare(made({.change = 1.1}));
    const auto& contrast = first_of(comparison);
    EXPECT_EQ(contrast.outcome, ContrastOutcome::cannot_tell);
    EXPECT_EQ(contrast.no_verdict, NoVerdict::between_times);
    ASSERT_TRUE(contrast.detectable && contrast.between_runs);
    EXPECT_GT(*contrast.detectable, 0.2);
    EXPECT_NEAR(contrast.between_runs->deviation, between_runs, 1e-12);
    EXPECT_EQ(contrast.between_runs->history, 0U);
    EXPECT_THAT(contrast_in_words(contrast), HasSubstr("use --interleave"));
    EXPECT_THAT(exchange::to_json(comparison), HasSubstr("\"reason_code\": \"between_times\""));
    EXPECT_THAT(exchange::to_json(comparison), HasSubstr("\"source\": \"default\""));
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("estimated from the default")));
    // The mean of all series errs with the hour, too.
    EXPECT_LT(*comparison.overall[1].low, *comparison.overall[1].ratio * std::exp(-0.2));
    EXPECT_EQ(first_of(*compare(made({.change = 2}))).outcome, ContrastOutcome::better);
}

TEST(CompareTimes, WithoutASpreadTheOldRuleHoldsAndANoteSaysSo) {
    const auto old = *compare(made({.known = false}));
    EXPECT_FALSE(first_of(old).between_runs);
    EXPECT_THAT(old.notes, Contains(HasSubstr("These files do not show")));
    const auto many = *compare(made({.runs = 3, .known = false}));
    EXPECT_THAT(many.notes, Not(Contains(HasSubstr("These files do not show"))));
}

TEST(CompareTimes, AMachinesOwnHistoryCountsMoreThanADefault) {
    CollectionMaker maker;
    test::Noise dice{7};
    for (const char* label : {"a", "b", "c", "d", "e", "f"}) {
        const double rate = 1e11 * std::exp(0.02 * dice.normal());
        auto& seen = maker.observe(maker.run({.label = label}), gemm("openblas", 1),
                                   {rate, rate * 1.001, rate * 0.999});
        seen.between_runs = between_runs;
    }
    const auto comparison = *compare(maker.collection());
    const auto between = first_of(comparison).between_runs.value();
    EXPECT_EQ(between.history, 6U);
    EXPECT_LT(between.deviation, 0.04);
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("estimated from the history of 6 runs")));
}

TEST(CompareTimes, RunsThatTookTurnsWereMeasuredAtTheSameTime) {
    auto collection = made({.change = 0.95});
    for (auto& run : collection.runs)
        run.pairing = record::Pairing{.id = "p", .setting = run.label, .order = "ABBA"};
    const auto comparison = *compare(collection);
    const auto& contrast = first_of(comparison);
    EXPECT_TRUE(contrast.paired);
    EXPECT_FALSE(contrast.between_runs);
}

TEST(CompareTimes, RunsThatTookTurnsHaveAVerdictAtTwoLevelsToo) {
    auto collection = made({.change = 0.8});
    for (auto& run : collection.runs)
        run.pairing = record::Pairing{.id = "p", .setting = run.label, .order = "ABBA"};
    for (auto& seen : collection.observations) seen.two_levels = true;
    // At 1.65 times the time in every second pair, on both sides.
    for (auto& seen : collection.observations)
        for (auto& replica : seen.replicas)
            if (replica.index % 2 == 1) replica.value /= 1.65;
    const auto comparison = *compare(collection);
    EXPECT_EQ(comparison.tallies[1].worse, static_cast<std::size_t>(sizes));
    EXPECT_EQ(comparison.overall[1].outcome, ContrastOutcome::worse);
    EXPECT_EQ(first_of(comparison).no_verdict, NoVerdict::none);
}

TEST(CompareTimes, CpusThatAHypervisorPlacedDifferentlyAreNotCompared) {
    auto collection = made({.change = 0.5});
    const auto place = [&](double a, double b) {
        for (auto& seen : collection.observations)
            seen.core_latency = collection.runs[seen.run].label == "A" ? a : b;
    };
    place(50e-9, 212e-9);
    const auto apart = *compare(collection);
    const auto& contrast = first_of(apart);
    EXPECT_EQ(contrast.no_verdict, NoVerdict::cpus_moved);
    EXPECT_THAT(contrast_in_words(contrast),
                StartsWith("CPUs placed differently by the hypervisor (A: 50.0 ns, B: 212 ns): "));
    EXPECT_THAT(exchange::to_json(apart), HasSubstr("\"reason_code\": \"cpus_moved\""));
    place(50e-9, 62e-9);
    EXPECT_EQ(first_of(*compare(collection)).outcome, ContrastOutcome::worse);
    place(50e-9, 212e-9);
    for (auto& run : collection.runs)
        run.pairing = record::Pairing{.id = "p", .setting = run.label, .order = "ABBA"};
    EXPECT_EQ(first_of(*compare(collection)).outcome, ContrastOutcome::worse) << "they took turns";
}

TEST(CompareTimes, LoadAndLevelsSayWhichSideAndWhy) {
    auto collection = made({.change = 0.5});
    auto& disturbed = collection.observations[0];
    disturbed.status = record::Status::disturbed;
    disturbed.cause = record::Disturbance{.code = record::DisturbanceCode::foreign_cpu,
                                          .values = {{"share", 0.6}}};
    auto& levels = collection.observations[sizes + 1];
    levels.two_levels = true;
    levels.replicas.back() = {.index = 9, .value = 4 * *levels.value, .kept = false};
    const auto comparison = *compare(collection);
    const auto& rows = comparison.tables[0].rows;
    EXPECT_THAT(
        contrast_in_words(*rows[0].cells[1].contrast),
        AllOf(StartsWith("at most 0."), EndsWith("x (A: other programs used 60% of the CPU)")));
    const auto& second = *rows[1].cells[1].contrast;
    EXPECT_EQ(second.no_verdict, NoVerdict::two_levels);
    EXPECT_THAT(contrast_in_words(second), StartsWith("two performance levels (B): "));
    EXPECT_EQ(comparison.tallies[1].cannot_tell, 1U);
    EXPECT_THAT(group_not_compared(comparison),
                Contains(Field(&NotComparedGroup::cause, "two performance levels")));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(contrast_in_words(second), StartsWith("两个性能水平（B）："));
}

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
    EXPECT_THAT(found.b.only, ElementsAre("platform.iommu"));
    EXPECT_FALSE(found.same_machine);
    EXPECT_THAT(verdict_of(found),
                AllOf(HasSubstr("B differs from A in 5 facts, 4 of which may change speed"),
                      HasSubstr("ECC of device memory on → off (2 times)")));
    const auto json = json::parse(exchange::to_json(found), "diff").value();
    EXPECT_EQ(json["schema"], "assay.diff/1");
    EXPECT_EQ(json["differences"].size(), 5U);
    EXPECT_EQ(json["differences"][1]["matters"], true);
    const auto document = make_document(found);
    EXPECT_EQ(document.sections.front().title, "Facts");
    EXPECT_EQ(document.sections.back().title, "Not counted");
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(verdict_of(found), HasSubstr("5 项信息不同"));
}

TEST(Diff, OfOneMachineNothing) {
    const auto found = diff(golden(), golden());
    EXPECT_THAT(found.differences, IsEmpty());
    EXPECT_THAT(found.by_nature, IsEmpty());
    EXPECT_TRUE(found.same_machine);
    EXPECT_EQ(verdict_of(found),
              fmt::format("All {} facts recorded for both A and B are equal.", found.facts));
}

TEST(Diff, ContainersOnOtherDevicesAreOtherMachines) {
    const auto real = [](const std::string& name) {
        return must(record::read_run(std::filesystem::path{ASSAY_REAL_RUNS} / name));
    };
    const auto h100 = real("h100-acceptance-interrupted.json");
    const auto h200 = real("h200-acceptance.json");
    EXPECT_EQ(h100.machine.id, h200.machine.id); // as recorded, by hardware alone
    const auto found = diff(h100, h200);
    EXPECT_FALSE(found.same_machine);
    const auto data = json::parse(exchange::to_json(found), "diff").value();
    EXPECT_NE(data["a"]["machine"], data["b"]["machine"]);
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
    EXPECT_THAT(verdict_of(found), HasSubstr("1 of 3 cases is slower on B; 1 is faster."));
    const std::vector documents{make_document(found)};
    EXPECT_THAT(write::to_terminal(documents, {.width = 400}),
                HasSubstr("95% intervals. Faster and slower: a difference of at least 1%"));
}

} // namespace
} // namespace assay::compare
