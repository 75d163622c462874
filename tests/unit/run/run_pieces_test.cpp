// SPDX-License-Identifier: Apache-2.0
//
// The small pieces a run is made of: tuning, forecast, names of folders.

#include "record/convert.hpp"
#include "run/active_run.hpp"
#include "run/forecast.hpp"
#include "run/run_folder.hpp"
#include "run/tuning.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- tuning ---------------------------------------------------------------------------------------

/// Answers from a table; "" is the library's own choice. Keeps the order it was asked in.
struct FakeProbe {
    std::map<std::string, double> seconds;
    std::vector<std::string> asked;
    std::optional<double> operator()(const Tuning* tuning) {
        asked.push_back(tuning == nullptr ? "" : tuning->value);
        const auto known = seconds.find(asked.back());
        return known == seconds.end() ? std::nullopt : std::optional{known->second};
    }
};

const std::vector<Tuning> three{{"CORE", "a", ""}, {"CORE", "b", ""}, {"CORE", "c", ""}};

TEST(Tuning, TheFastestWinsAndIsTriedThereAndBack) {
    FakeProbe probe{.seconds = {{"", 2.0}, {"a", 1.5}, {"b", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(choice.variables, ElementsAre(record::Named{"CORE", std::string{"b"}}));
    EXPECT_THAT(probe.asked, ElementsAre("", "a", "b", "c", "b", ""));
    EXPECT_THAT(choice.settings, ElementsAre(record::Named{"tuning.CORE", std::string{"b"}},
                                             record::Named{"tuning.default_seconds", 2.0},
                                             record::Named{"tuning.best_seconds", 1.0}));
    EXPECT_THAT(choice.warnings,
                ElementsAre(::testing::AllOf(HasSubstr("100% more time"), HasSubstr("CORE=b"))));
}

TEST(Tuning, ASmallWinChangesNothing) {
    FakeProbe probe{.seconds = {{"", 1.01}, {"a", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(choice.variables, IsEmpty());
    EXPECT_THAT(choice.warnings, IsEmpty());
    EXPECT_EQ(record::to_string(choice.settings.at(0).value), "default");
}

TEST(Tuning, AWinBelowFivePercentIsTakenWithoutAWord) {
    FakeProbe probe{.seconds = {{"", 1.04}, {"a", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_EQ(choice.variables.size(), 1U);
    EXPECT_THAT(choice.warnings, IsEmpty());
}

TEST(Tuning, WhatCannotBeMeasuredIsNotTriedFurther) {
    FakeProbe probe{.seconds = {{"a", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(probe.asked, ElementsAre(""));
    EXPECT_THAT(choice.settings, IsEmpty());
}

TEST(Tuning, OneDisturbedProbeDoesNotDecide) {
    int own = 0;
    const auto choice = choose_tuning({{"CORE", "a", ""}}, [&](const Tuning* tuning) {
        if (tuning != nullptr) return std::optional{1.0};
        return std::optional{own++ == 0 ? 3.0 : 1.0}; // the first was disturbed
    });
    EXPECT_THAT(choice.variables, IsEmpty());
    int tuned = 0;
    const auto lucky = choose_tuning({{"CORE", "a", ""}}, [&](const Tuning* tuning) {
        if (tuning == nullptr) return std::optional{1.0};
        return std::optional{tuned++ == 0 ? 0.9 : 1.1};
    });
    EXPECT_THAT(lucky.variables, IsEmpty());
}

TEST(Tuning, IsReadBackFromTheRecord) {
    const Manifest manifest{.tunings = three};
    FakeProbe probe{.seconds = {{"", 2.0}, {"b", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    const auto again = recorded_choice(manifest, choice.settings);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->variables, choice.variables);
    EXPECT_EQ(again->settings, choice.settings);
    EXPECT_EQ(again->warnings, choice.warnings);
    EXPECT_FALSE(recorded_choice(manifest, {}));
}

TEST(Tuning, SaysWhatAnUnsetValueWouldHaveCost) {
    const Manifest manifest{.tunings = three};
    const auto unset = unset_tunings(manifest, {"CORE=a", "OTHER=x"}, {"OTHER=x"});
    ASSERT_EQ(unset.size(), 1U);
    EXPECT_EQ(unset[0].variable + "=" + unset[0].value, "CORE=a");
    FakeProbe probe{.seconds = {{"", 1.5}, {"a", 4.0}, {"b", 1.0}}, .asked = {}};
    auto choice = choose_tuning(three, std::ref(probe), unset);
    auto timed = choice;
    warn_of_unset(timed);
    ASSERT_EQ(timed.warnings.size(), 2U);
    EXPECT_THAT(timed.warnings[1], HasSubstr("taken 300% more time"));
    warn_of_unset(choice, 452e9);
    ASSERT_EQ(choice.warnings.size(), 2U);
    EXPECT_THAT(choice.warnings[1],
                ::testing::AllOf(HasSubstr("CORE=a was set here"), HasSubstr("--keep-environment"),
                                 HasSubstr("reached 113 GFLOP/s of 452 GFLOP/s")));
    EXPECT_EQ(record::text(choice.settings, "tuning.unset_variable"), "CORE");
    EXPECT_EQ(record::text(choice.settings, "tuning.unset_value"), "a");
    EXPECT_EQ(record::number(choice.settings, "tuning.unset_seconds"), 4.0);
    EXPECT_EQ(record::number(choice.settings, "tuning.flops"), 452e9);
    const auto again = recorded_choice(manifest, choice.settings);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->settings, choice.settings);
    EXPECT_EQ(again->warnings, choice.warnings);
}

TEST(Tuning, AnUnsetValueThatCostsNothingOrWasNotTriedIsNoWarning) {
    for (const auto* value : {"b", "unheard of"}) {
        FakeProbe probe{.seconds = {{"", 1.0}, {"a", 4.0}, {"b", 1.01}}, .asked = {}};
        auto choice = choose_tuning(three, std::ref(probe), {{.variable = "CORE", .value = value}});
        warn_of_unset(choice, 1e9);
        EXPECT_THAT(choice.warnings, IsEmpty()) << value;
    }
    EXPECT_THAT(unset_tunings({.tunings = three}, {"CORE=a"}, {"CORE=a"}), IsEmpty())
        << "kept by the user: nothing is tried";
}

TEST(Tuning, OnlyWhatTheCpuHasAndTheUserLeftOpen) {
    const Manifest manifest{.tunings = {{"CORE", "plain", ""},
                                        {"CORE", "wide", "avx512f avx512bw"},
                                        {"OTHER", "x", ""}}};
    record::Machine machine;
    machine.isa = {"avx2", "avx512f"};
    EXPECT_EQ(usable_tunings(manifest, machine, {}).size(), 2U);
    machine.isa.emplace_back("avx512bw");
    EXPECT_EQ(usable_tunings(manifest, machine, {}).size(), 3U);
    EXPECT_EQ(usable_tunings(manifest, machine, {"CORE=mine"}).size(), 1U);
}

TEST(Tuning, SizesShareAChoiceAndPrecisionsDoNot) {
    const Manifest manifest{.module = "openblas"};
    const Benchmark benchmark{.id = "gemm.square",
                              .parameters = {{.name = "precision", .kind = ParameterKind::name},
                                             {.name = "size", .kind = ParameterKind::integer}}};
    const auto group = [&](const std::string& precision, std::int64_t size) {
        return tuning_group({.module = &manifest,
                             .benchmark = &benchmark,
                             .parameters = {{"precision", precision}, {"size", size}}});
    };
    EXPECT_EQ(group("fp64", 1024), group("fp64", 2048));
    EXPECT_NE(group("fp64", 1024), group("fp32", 1024));
}

// --- forecast -------------------------------------------------------------------------------------

TEST(Forecast, GoesFromThePlanToWhatWasMeasured) {
    double now = 100;
    Forecast forecast{{10, 10}, 2, [&] { return now; }};
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 40);
    forecast.begin(0);
    now += 4;
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 36);
    forecast.end(0); // 4 s, planned 10
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 4 + 20);
    EXPECT_EQ(forecast.now().steps_done, 1U);
    EXPECT_EQ(forecast.now().steps_total, 4U);
    forecast.skip(1);
    forecast.skip(1);
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 4);
    EXPECT_DOUBLE_EQ(forecast.now().elapsed_seconds, 4);
    forecast.begin(0);
    now += 1000; // longer than last time: nothing is left, but never less
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 0);
}

// --- facts ----------------------------------------------------------------------------------------

TEST(Facts, ThereAreAtMostTenThousand) {
    record::NamedList software{{"kernel", std::string{"6.1"}}};
    record::NamedList facts;
    for (std::int64_t i = 0; i < 9'998; ++i) facts.push_back({"a." + std::to_string(i), i});
    add_facts(software, facts);
    EXPECT_EQ(software.size(), 9'999U);
    add_facts(software, {{"b.first", true}, {"b.second", true}});
    EXPECT_EQ(software.size(), 10'000U);
    EXPECT_EQ(software.front().name, "kernel");
    EXPECT_EQ(software.back().name, "b.first");
    add_facts(software, facts);
    EXPECT_EQ(software.size(), 10'000U);
}

// --- folders --------------------------------------------------------------------------------------

TEST(PathWord, IsOneHarmlessLevel) {
    EXPECT_EQ(path_word("c7a.large"), "c7a.large");
    EXPECT_EQ(path_word("2026 Q1 / test"), "2026-Q1-test");
    EXPECT_EQ(path_word(".."), "unknown");
    EXPECT_EQ(path_word("../../etc"), "etc");
    EXPECT_EQ(path_word(".hidden"), "hidden");
    EXPECT_EQ(path_word(""), "unknown");
    EXPECT_EQ(path_word(std::string(1000, 'x')).size(), 64U);
    EXPECT_EQ(path_word("a\nb\x01\xff"), "a-b");
}

TEST(RunFolders, GoOnUnderAnOlderIdOfTheMachine) {
    const assay::harness::made::TemporaryFolder folder;
    const std::vector<PlannedRun> wanted(1);
    const auto open = [&](const record::Machine& machine, bool resume) {
        const auto opened =
            open_run_folders(wanted, {.out = folder.path(), .resume = resume}, machine);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened->front().path;
    };
    const auto first = open({.id = "old"}, false);
    const record::Machine now{.id = "new", .identity = {.by = "product_uuid", .aliases = {"old"}}};
    EXPECT_EQ(open(now, true), first);
    EXPECT_NE(open({.id = "other"}, true), first);
    EXPECT_EQ(open(now, false).parent_path().filename(), "new");
}

TEST(RunFolders, SayWhichPartsWereExchanged) {
    const assay::harness::made::TemporaryFolder folder;
    const std::vector<PlannedRun> wanted(1);
    const auto open = [&](const record::Machine& machine) {
        auto opened = open_run_folders(wanted, {.out = folder.path()}, machine);
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(opened->front());
    };
    record::Run run{.machine = {.id = "m", .identity = {.by = "product_uuid"}}};
    run.machine.identity.parts = {{.kind = "board", .where = "", .id = "1"},
                                  {.kind = "device", .where = "0000:1b:00.0", .id = "2"}};
    const auto first = open(run.machine);
    EXPECT_EQ(first.note, "");
    run.status = "done";
    ASSERT_TRUE(record::write_run(first.path / "run.json", run));
    EXPECT_EQ(open(run.machine).note, "");
    run.machine.identity.parts[1].id = "3";
    EXPECT_THAT(open(run.machine).note, HasSubstr(": device 0000:1b:00.0"));
}

TEST(IsOpen, WhatIsFinishedOrDecidedIsClosed) {
    record::Case c;
    EXPECT_TRUE(is_open(c, 0));
    c.replicas.push_back({.index = 0, .status = record::Status::ok});
    EXPECT_FALSE(is_open(c, 0));
    EXPECT_TRUE(is_open(c, 1));
    c.replicas.push_back({.index = 1, .status = record::Status::crashed});
    EXPECT_FALSE(is_open(c, 2));
    record::Case skipped;
    skipped.status = record::Status::skipped;
    EXPECT_FALSE(is_open(skipped, 0));
}

} // namespace
