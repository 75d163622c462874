// SPDX-License-Identifier: Apache-2.0
//
// Histories of fleets made by hand: what was planted is found at its date with its cause, and nothing else.

#include "history/history.hpp"
#include "support/fleet.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>

namespace assay::history {
namespace {

using test::day;
using namespace testing;

class HistoryTest : public test::EveryFortnight {
protected:
    HistoryTest() : EveryFortnight{11} {}
    History made(const HistoryOptions& options = {}) const {
        return must(make_history(fleet.collection, options));
    }
};

TEST_F(HistoryTest, AChangeHasItsDateSizeAndCause) {
    measure("m-1", 0, 10);
    fleet.machine.kernel = "6.8.0";
    measure("m-1", 10, 22, 0.95);
    const auto history = made();
    const auto& group = history.groups.at(0);
    ASSERT_THAT(group.series, SizeIs(2));
    for (const auto& series : group.series) {
        ASSERT_THAT(series.change_points, SizeIs(1)) << series.identity;
        const auto& step = series.change_points[0];
        EXPECT_EQ(step.seconds, day(140));
        EXPECT_NEAR(step.ratio, 0.95, 0.005); // worse, whichever way up the figure is
        EXPECT_LT(*step.low, step.ratio);
        EXPECT_GT(*step.high, step.ratio);
        EXPECT_EQ(step.cause, ChangeCause::software);
        ASSERT_THAT(step.facts, SizeIs(1));
        EXPECT_EQ(step.facts[0].name, "kernel");
        EXPECT_EQ(step.facts[0].before, "6.1.0");
        EXPECT_EQ(step.facts[0].after, "6.8.0");
        EXPECT_NEAR(step.after / step.before, series.higher_is_better ? 0.95 : 1 / 0.95, 0.005);
    }
    ASSERT_THAT(group.events, SizeIs(1));
    EXPECT_EQ(group.events[0].worse, 2U);
    EXPECT_EQ(group.events[0].measured, 2U);
    EXPECT_THAT(group.events[0].text, HasSubstr("(2024-05-20; kernel 6.1.0 → 6.8.0)"));
    EXPECT_TRUE(has_regression(history));
}

TEST_F(HistoryTest, RefusesRunsWhoseClockWasSetMeanwhile) {
    measure("m-1", 0, 10);
    fleet.collection.runs[4].strayed_seconds = 40 * 86400.0;
    const auto history = made();
    EXPECT_THAT(history.groups.at(0).series.at(0).points, SizeIs(9));
    EXPECT_THAT(history.not_used, Contains(Field(&store::Problem::reason,
                                                 HasSubstr("the clock was set by 40 days"))));
}

TEST_F(HistoryTest, FilesThatDoNotSayHowManyMachinesGoOnWhereOthersDo) {
    measure("m-1", 0, 10);
    fleet.collection.series[gemm].conditions = {}; // as older files
    const auto old = gemm;
    auto newer = fleet.collection.series[gemm];
    newer.conditions = {{"machines", std::int64_t{2}}};
    fleet.collection.series.push_back(newer);
    gemm = static_cast<std::uint32_t>(fleet.collection.series.size() - 1);
    measure("m-1", 10, 22);
    const auto joined = made();
    ASSERT_THAT(joined.groups.at(0).series, SizeIs(2));
    EXPECT_THAT(joined.groups[0].series[0].points, SizeIs(22));
    EXPECT_THAT(joined.groups[0].series[0].identity, HasSubstr("machines 2"));
    EXPECT_THAT(joined.notes,
                Contains(HasSubstr("machines not recorded in 10 runs; assumed to be 2")));
    // Eight machines are another series, and then nothing says which the older ones were.
    fleet.collection.series[old].conditions = {{"machines", std::int64_t{8}}};
    const auto apart = made();
    ASSERT_THAT(apart.groups.at(0).series, SizeIs(3));
    EXPECT_THAT(apart.groups[0].series[0].points, SizeIs(10));
    EXPECT_THAT(apart.groups[0].series[1].points, SizeIs(12));
}

TEST_F(HistoryTest, AStateOfTheDeviceIsACauseAndNoOtherSeries) {
    fleet.machine.devices = {{.kind = "cuda", .uuid = "GPU-1", .ecc = false},
                             {.kind = "cuda", .index = 1, .uuid = "GPU-2", .ecc = false}};
    fleet.collection.series[gemm].place = "cuda";
    fleet.collection.series[gemm].conditions = {{"ecc", std::string{"off"}}};
    measure("m-1", 0, 10);
    auto other = fleet.collection.series[gemm];
    other.conditions = {{"ecc", std::string{"on"}}};
    fleet.collection.series.push_back(other);
    gemm = static_cast<std::uint32_t>(fleet.collection.series.size() - 1);
    fleet.machine.devices[1].ecc = true;
    measure("m-1", 10, 22, 0.95);
    const auto history = made();
    ASSERT_THAT(history.groups.at(0).series, SizeIs(2));
    for (const auto& series : history.groups[0].series) {
        ASSERT_THAT(series.change_points, SizeIs(1)) << series.identity;
        const auto& facts = series.change_points[0].facts;
        if (series.benchmark == "memory.latency") { // of the host
            EXPECT_THAT(facts, IsEmpty());
            continue;
        }
        ASSERT_THAT(facts, SizeIs(1));
        EXPECT_EQ(facts[0].name, "device.ecc");
        EXPECT_EQ(facts[0].before, "off");
        EXPECT_EQ(facts[0].after, "off, on");
        EXPECT_EQ(facts[0].cause, ChangeCause::software);
    }
}

TEST_F(HistoryTest, FirmwareIsACause) {
    fleet.machine.platform = {.bios_version = "1.4", .microcode = "0x2b"};
    measure("m-1", 0, 10);
    fleet.machine.platform = {.bios_version = "1.5", .microcode = "0x2c"};
    measure("m-1", 10, 22, 0.95);
    const auto history = made();
    for (const auto& series : history.groups.at(0).series) {
        ASSERT_THAT(series.change_points, SizeIs(1)) << series.identity;
        std::string text;
        for (const auto& fact : series.change_points[0].facts)
            text += fact.name + " " + fact.before + " " + fact.after + "; ";
        EXPECT_EQ(text, "bios 1.4 1.5; microcode 0x2b 0x2c; ");
    }
}

TEST_F(HistoryTest, AChosenKernelIsACauseAndHowFarOthersWereBehindIsNot) {
    measure("m-1", 0, 10);
    measure("m-1", 10, 22, 0.95);
    auto& settings = fleet.collection.settings;
    settings.clear();
    for (auto& seen : fleet.collection.observations) {
        settings.push_back({{"isa", std::string{seen.run < 10 ? "avx512" : "avx2"}},
                            {"trial", "sse4 1." + std::to_string(seen.run)}});
        seen.settings = static_cast<std::uint32_t>(settings.size() - 1);
    }
    const auto history = made();
    for (const auto& series : history.groups.at(0).series) {
        ASSERT_THAT(series.change_points, SizeIs(1)) << series.identity;
        ASSERT_THAT(series.change_points[0].facts, SizeIs(1));
        EXPECT_EQ(series.change_points[0].facts[0].name, "setting.isa");
    }
}

TEST_F(HistoryTest, SeveralFactsAtOnceAreAllNamedAndTheInstanceComesFirst) {
    measure("m-1", 0, 10);
    fleet.machine.kernel = "6.8.0";
    fleet.machine.virtualization = "xen";
    *fleet.machine.memory_bytes += 10'000'000; // less than a kernel keeps more or less
    measure("m-1", 10, 22, 0.9);
    const auto history = made();
    const auto& step = history.groups[0].series[0].change_points.at(0);
    EXPECT_EQ(step.cause, ChangeCause::instance);
    ASSERT_THAT(step.facts, SizeIs(2));
    EXPECT_EQ(step.facts[0].name, "virtualization");
    EXPECT_EQ(step.facts[1].name, "kernel");
}

TEST_F(HistoryTest, WhatDidNotLastIsNoCause) {
    measure("m-1", 0, 10);
    fleet.machine.kernel = "6.8.0";
    measure("m-1", 10, 11, 0.95);
    fleet.machine.kernel = "6.1.0"; // and back, while the level stays
    measure("m-1", 11, 24, 0.95);
    const History history = made();
    const auto& step = history.groups[0].series[0].change_points.at(0);
    EXPECT_EQ(step.cause, ChangeCause::unexplained);
}

TEST_F(HistoryTest, OneBadRunIsNoChange) {
    measure("m-1", 0, 12);
    measure("m-1", 12, 13, 0.6);
    measure("m-1", 13, 24);
    EXPECT_THAT(made().groups[0].events, IsEmpty());
}

TEST_F(HistoryTest, TagsCanMakeTheGroups) {
    measure("m-1", 0, 6);
    measure("m-2", 0, 6);
    for (auto& run : fleet.collection.runs)
        run.tags = {
            {"rack",
             std::string{run.file.string().find("m-1") != std::string::npos ? "b7" : "c1"}}};
    const auto history = made({.group = "tag.rack"});
    ASSERT_THAT(history.groups, SizeIs(2));
    EXPECT_EQ(history.groups[0].name, "b7");
    EXPECT_EQ(history.groups[1].name, "c1");
    EXPECT_THAT(made({.group = "tag.rack", .filter = {"tag.rack=c1"}}).groups, SizeIs(1));
    const auto wrong = make_history(fleet.collection, {.group = "library"});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("known: instance"));
}

TEST_F(HistoryTest, WhatWasDisturbedIsNoFigure) {
    measure("m-1", 0, 22);
    for (auto& observation : fleet.collection.observations)
        if (observation.run == 5) observation.status = record::Status::disturbed;
    const auto history = made();
    EXPECT_THAT(history.groups.at(0).series.at(0).points, SizeIs(21));
    EXPECT_THAT(history.not_used, SizeIs(2));
}

TEST_F(HistoryTest, WhatIsRecordedWithoutEffectIsNoChangeAndWeakensTheEvidence) {
    measure("m-1", 0, 10);
    measure("m-2", 0, 10);
    measure("m-3", 0, 10);
    fleet.machine.kernel = "6.8.0";
    measure("m-1", 10, 22, 0.95);
    measure("m-2", 10, 22);
    measure("m-3", 10, 22);
    const auto history = made();
    ASSERT_THAT(history.groups[0].events, SizeIs(1));
    const auto& event = history.groups[0].events[0];
    EXPECT_THAT(event.machines, ElementsAre("m-1"));
    ASSERT_THAT(event.facts, SizeIs(1));
    EXPECT_EQ(event.facts[0].without_effect, 2U);
    EXPECT_THAT(event.text, HasSubstr("without effect on 2 other machines"));
}

TEST_F(HistoryTest, MachinesOneAfterTheOtherWithOneCauseAreOneEvent) {
    for (const auto& [id, when] : {std::pair{"m-1", 8}, {"m-2", 10}, {"m-3", 12}}) {
        fleet.machine.kernel = "6.1.0";
        measure(id, 0, when);
        fleet.machine.kernel = "6.8.0";
        measure(id, when, 22, 1.06);
    }
    const auto history = made();
    ASSERT_THAT(history.groups[0].events, SizeIs(1));
    const auto& event = history.groups[0].events[0];
    EXPECT_THAT(event.machines, ElementsAre("m-1", "m-2", "m-3"));
    EXPECT_EQ(event.better, 2U);
    EXPECT_EQ(event.seconds, day(112));
    EXPECT_EQ(event.until, day(168));
    EXPECT_THAT(event.text, HasSubstr("on 3 machines"));
    EXPECT_FALSE(has_regression(history));
}

TEST_F(HistoryTest, SmallerThanTheMinimumEffectIsNotCalled) {
    for (int i = 0; i < 200; ++i)
        fleet.run("m-1", day(i),
                  {{gemm, 1e11 * (i < 100 ? 1 : 1.006) * std::exp(0.001 * gauss())}});
    EXPECT_THAT(made().groups[0].events, IsEmpty());
    EXPECT_THAT(made({.minimum_effect = 0.003}).groups[0].events, SizeIs(1));
}

TEST_F(HistoryTest, MachinesOfATypeLieApartAndThatIsNoChange) {
    for (int m = 0; m < 8; ++m) measure("m-" + std::to_string(m), 0, 8, 1 + 0.05 * m);
    const auto history = made();
    EXPECT_THAT(history.groups[0].events, IsEmpty());
    for (const auto& series : history.groups[0].series) {
        ASSERT_TRUE(series.spread);
        EXPECT_EQ(series.spread->machines, 8U);
        const double worst = series.higher_is_better ? 1e11 : 1e-7;
        const double best = series.higher_is_better ? 1.35e11 : 1e-7 / 1.35;
        EXPECT_NEAR(series.spread->p05 / worst, 1, 0.03);
        EXPECT_NEAR(series.spread->p95 / best, 1, 0.03);
        // The slowest of many is the slowest that was seen, and worse than that of two.
        EXPECT_NEAR(series.spread->slowest.back().value / worst, 1, 0.01);
        const double of_two = series.spread->slowest.front().value / worst;
        EXPECT_GT(series.higher_is_better ? of_two : 1 / of_two, 1.05);
    }
}

TEST_F(HistoryTest, FewMachinesSayNothingOfOthers) {
    for (int m = 0; m < 4; ++m) measure("m-" + std::to_string(m), 0, 8);
    const auto history = made();
    EXPECT_FALSE(history.groups[0].series[0].spread);
    EXPECT_THAT(history.notes, Contains(HasSubstr("fewer measured: aws c7a.large")));
}

TEST_F(HistoryTest, RunsOfADayAreOnePointUnlessDaysAreFew) {
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 4; ++k) fleet.run("m-1", day(i) + 60 * k, {{gemm, 1e11 + k}});
    auto points = made().groups[0].series[0].points;
    ASSERT_THAT(points, SizeIs(6));
    EXPECT_EQ(points[0].runs, 4U);
    EXPECT_NEAR(points[0].value, 1e11 + 1.5, 1);
    const auto few = made({.filter = {"version=0.1.0"}}); // all of them
    EXPECT_EQ(few.runs, 24U);

    test::Fleet once;
    const auto series = once.series("gemm.square", "openblas", "flop_rate");
    for (int k = 0; k < 8; ++k)
        once.run("m-1", day(0) + 600 * k, {{series, k < 4 ? 1e11 + k : 1.1e11 + k}});
    const auto history = make_history(once.collection).value();
    EXPECT_THAT(history.groups[0].series[0].points, SizeIs(8));
    EXPECT_THAT(history.groups[0].series[0].change_points, SizeIs(1));
    EXPECT_THAT(history.notes, Contains(HasSubstr("fewer than 5 days")));
}

TEST_F(HistoryTest, ManyPointsAreDrawnAsFewer) {
    for (int m = 0; m < 20; ++m)
        for (int i = 0; i < 50; ++i)
            fleet.run("m-" + std::to_string(m), day(7 * i), {{gemm, 1e11}});
    const auto points = made({.points = 200}).groups[0].series[0].points;
    EXPECT_LE(points.size(), 200U);
    EXPECT_GE(points.size(), 40U);
    std::size_t runs = 0;
    for (const auto& point : points) runs += point.runs;
    EXPECT_EQ(runs, 1000U);
}

TEST_F(HistoryTest, QuartersAndTrend) {
    // 4% a year better, on top of it a step of 10% in the middle that a driver made.
    for (const char* id : {"m-1", "m-2"})
        for (int i = 0; i < 52; ++i) {
            fleet.machine.kernel = i < 27 ? "6.1.0" : "6.8.0";
            const double years = 14.0 * i / 365.25;
            fleet.run(id, day(14.0 * i),
                      {{gemm, 1e11 * (i < 27 ? 1 : 1.1) * std::pow(1.04, years) *
                                  std::exp(0.002 * gauss())}});
        }
    const auto series = made().groups[0].series[0];
    ASSERT_TRUE(series.change);
    EXPECT_EQ(series.change->to, "2025 Q4");
    EXPECT_EQ(series.change->from, "2024 Q4");
    EXPECT_EQ(series.change->machines, 2U);
    EXPECT_NEAR(series.change->ratio, 1.1 * 1.04, 0.01);
    ASSERT_THAT(series.quarters, SizeIs(8));
    EXPECT_EQ(series.quarters[0].name, "2024 Q1");
    EXPECT_NEAR(series.quarters[0].value, 1e11 * 1.005, 1e9);
    EXPECT_EQ(series.quarters[0].machines, 2U);
    ASSERT_TRUE(series.trend);
    EXPECT_GT(series.trend->per_year, 0);
    EXPECT_LT(series.trend->per_year, 0.06); // the step is not part of it
}

TEST_F(HistoryTest, WhatHasNoPlaceIsNamed) {
    measure("m-1", 0, 6);
    fleet.run("m-1", 0, {{gemm, 1e11}});                // a start nobody could read
    fleet.run("m-1", day(14), {{gemm, 1e11}});          // in the same second as another
    fleet.run("m-1", day(15), {{gemm, 1e11}}).pairing = // under another setting
        record::Pairing{.id = "p", .setting = "passive", .changes = {{"environment.X", "1"}}};
    fleet.run("m-1", day(16), {{gemm, 0.0}, {latency, -1.0}}); // no figures
    fleet.collection.problems.push_back({"broken.json", "ends in the middle"});
    const auto history = made();
    std::vector<std::string> reasons;
    for (const auto& problem : history.not_used) reasons.push_back(problem.reason);
    EXPECT_THAT(reasons, UnorderedElementsAre("ends in the middle", HasSubstr("invalid start time"),
                                              HasSubstr("one of the two is a copy"),
                                              HasSubstr("(\"passive\")"), HasSubstr("no value"),
                                              HasSubstr("no value")));
    EXPECT_EQ(history.groups[0].series[0].points.size(), 6U);
}

TEST_F(HistoryTest, GroupsFiltersAndSince) {
    measure("m-1", 0, 10);
    measure("m-1", 10, 20, 0.9);
    fleet.machine.instance = "c7i.large";
    measure("m-2", 0, 10);
    EXPECT_THAT(made().groups, SizeIs(2));
    EXPECT_THAT(made({.group = "cpu"}).groups, SizeIs(1));
    EXPECT_THAT(made({.group = "machine"}).groups, SizeIs(2));
    EXPECT_THAT(made({.filter = {"instance=c7a.large|x"}}).groups, SizeIs(1));
    EXPECT_THAT(made({.filter = {"library!=openblas"}}).groups[0].series, SizeIs(1));
    EXPECT_TRUE(has_regression(made({.since = day(100)})));
    EXPECT_FALSE(has_regression(made({.since = day(200)})));
    EXPECT_FALSE(make_history(fleet.collection, {.group = "instanse"}));
    EXPECT_FALSE(make_history(fleet.collection, {.filter = {"libary=x"}}));
    EXPECT_FALSE(make_history(fleet.collection, {.filter = {"library"}}));
}

TEST_F(HistoryTest, ASinglePointIsNothingToCompare) {
    EXPECT_FALSE(is_comparable(made()));
    measure("m-1", 0, 1);
    EXPECT_FALSE(is_comparable(made()));
    measure("m-1", 1, 2);
    EXPECT_TRUE(is_comparable(made()));
}

} // namespace
} // namespace assay::history
