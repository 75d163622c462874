// SPDX-License-Identifier: Apache-2.0
//
// The small pieces a run is made of: placement, environment, tuning, forecast, names of folders.

#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "process/program.hpp"
#include "run/forecast.hpp"
#include "run/run_folder.hpp"
#include "run/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// --- placement ------------------------------------------------------------------------------------

struct Place : testing::Test {
    Manifest manifest{.module = "host"};
    Benchmark benchmark{.id = "memory.stream"};
    PlannedCase planned{.module = &manifest, .benchmark = &benchmark};
    record::Machine machine;
    ChooseCpus first_ones = [](int threads, const std::string& /*near*/) {
        std::vector<int> cpus(static_cast<std::size_t>(threads));
        std::iota(cpus.begin(), cpus.end(), 0);
        return cpus;
    };
    Place() {
        machine.usable_cores = 4;
        machine.usable_threads = 8;
    }
};

TEST_F(Place, SymbolsAreCores) {
    planned.parameters = {{"threads", std::string{"all"}}};
    EXPECT_EQ(place(planned, machine, {}, first_ones)->threads, 4);
    planned.parameters = {{"threads", std::string{"one"}}};
    EXPECT_THAT(place(planned, machine, {}, first_ones)->cpus, ElementsAre(0));
    planned.parameters = {{"threads", std::int64_t{6}}};
    EXPECT_EQ(place(planned, machine, {}, first_ones)->cpus.size(), 6U);
    planned.parameters = {};
    EXPECT_EQ(place(planned, machine, {}, first_ones)->threads, 4);
}

TEST_F(Place, MoreThreadsThanThereAreDoNotApply) {
    planned.parameters = {{"threads", std::int64_t{9}}};
    const auto placement = place(planned, machine, {}, first_ones);
    ASSERT_FALSE(placement);
    EXPECT_EQ(placement.error().fault, Fault::environment);
    EXPECT_THAT(placement.error().message, HasSubstr("needs 9 hardware threads"));
}

TEST_F(Place, ATeamHasRanksAndMayShareCpus) {
    manifest.launcher = "mpirun";
    benchmark.team = true;
    planned.parameters = {{"ranks", std::string{"all"}}};
    const auto bound = place(planned, machine, {}, first_ones);
    EXPECT_EQ(bound->launcher, "mpirun");
    EXPECT_EQ(bound->ranks, 4);
    EXPECT_EQ(bound->threads, 1);
    EXPECT_EQ(bound->cpus.size(), 4U);
    machine.sockets = 2;
    planned.parameters = {{"ranks", std::string{"per_socket"}}};
    EXPECT_EQ(place(planned, machine, {}, first_ones)->ranks, 2);
    planned.parameters = {{"ranks", std::string{"per_node"}}};
    EXPECT_EQ(place(planned, machine, {}, first_ones)->ranks, 1);
    planned.parameters = {{"ranks", std::int64_t{9}}};
    EXPECT_THAT(place(planned, machine, {}, first_ones)->cpus, IsEmpty());
}

TEST_F(Place, ValuesThatStandForVariablesBeatATuning) {
    benchmark.parameters = {{.name = "transport",
                             .kind = ParameterKind::name,
                             .names = {"default", "tcp"},
                             .variables = {{"tcp", "BTL", "self,tcp"}, {"tcp", "PML", "ob1"}}}};
    const record::NamedList tuning{{"BTL", std::string{"vader"}}};
    planned.parameters = {{"transport", std::string{"default"}}};
    EXPECT_EQ(place(planned, machine, tuning, first_ones)->variables, tuning);
    planned.parameters = {{"transport", std::string{"tcp"}}};
    const auto variables = place(planned, machine, tuning, first_ones)->variables;
    ASSERT_EQ(variables.size(), 2U);
    EXPECT_EQ(record::to_string(*record::find(variables, "BTL")), "self,tcp");
    EXPECT_EQ(record::to_string(*record::find(variables, "PML")), "ob1");
}

TEST(DataLimit, LeavesAReserveAndSharesTheRest) {
    constexpr double gib = 1024.0 * 1024 * 1024;
    EXPECT_EQ(data_limit_for(std::numeric_limits<double>::quiet_NaN(), 1), 0);
    EXPECT_EQ(data_limit_for(0, 1), 0);
    EXPECT_EQ(data_limit_for(100 * gib, 1), static_cast<std::int64_t>(95 * gib));
    EXPECT_EQ(data_limit_for(1.25 * gib, 4), static_cast<std::int64_t>(gib / 4));
    EXPECT_GT(data_limit_for(1000, 8), 0);
}

// --- environment ----------------------------------------------------------------------------------

TEST(Environment, ReplacesWhatPlacesThreadsAndWhatALauncherSet) {
    const auto entries = worker_environment(
        {"HOME=/root", "OMP_NUM_THREADS=64", "GOMP_CPU_AFFINITY=0", "OMPI_COMM_WORLD_RANK=3",
         "PMIX_RANK=3", "ASSAY_TOKEN=old", "OPENBLAS_CORETYPE=Haswell", "OMP_SCHEDULE=static"},
        {.threads = 2, .cpus = {0, 4}, .variables = {{"OPENBLAS_CORETYPE", std::string{"Zen"}}}});
    EXPECT_THAT(entries, ElementsAre("HOME=/root", "OMP_SCHEDULE=static", "OPENBLAS_CORETYPE=Zen",
                                     "OMP_NUM_THREADS=2", "OMP_DYNAMIC=false", "OMP_PROC_BIND=true",
                                     "OMP_PLACES={0},{4}"));
}

TEST(Environment, RanksBindThemselves) {
    const auto entries = worker_environment({}, {.launcher = "mpirun", .ranks = 2, .cpus = {0, 4}});
    EXPECT_THAT(entries, Contains("ASSAY_CPUS=0,4"));
    EXPECT_THAT(entries, Not(Contains(StartsWith("OMP_PLACES"))));
}

TEST(Environment, RecordsWhatLibrariesReadAndNoSecrets) {
    const auto settings = recorded_environment(
        {"UCX_TLS=tcp", "AWS_SECRET_ACCESS_KEY=x", "HOME=/home/me", "OMP_NUM_THREADS=2", "OMP_X"});
    EXPECT_THAT(settings,
                ElementsAre(record::Named{"environment.OMP_NUM_THREADS", std::string{"2"}},
                            record::Named{"environment.UCX_TLS", std::string{"tcp"}}));
}

TEST(Environment, WhatSilentlyChangesArithmeticIsRecordedAndUnset) {
    const std::vector<std::string> inherited{"CUBLASLT_LOG_LEVEL=5",
                                             "CUBLAS_EMULATE_DOUBLE_PRECISION=1",
                                             "CUBLAS_EMULATION_STRATEGY=eager",
                                             "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT=40",
                                             "CUBLAS_WORKSPACE_CONFIG=:16:8",
                                             "NVIDIA_TF32_OVERRIDE=1",
                                             "NVIDIA_VISIBLE_DEVICES=all"};
    const auto given = worker_environment(inherited, {.threads = 2});
    EXPECT_THAT(
        given, ElementsAre("NVIDIA_VISIBLE_DEVICES=all", "OMP_NUM_THREADS=2", "OMP_DYNAMIC=false"));
    const auto said = recorded_environment(given, inherited);
    EXPECT_EQ(said.size(), inherited.size() + 1)
        << "and two for the threads; what containers set is no secret, but noise";
    EXPECT_THAT(said, Contains(record::Named{"environment.NVIDIA_TF32_OVERRIDE",
                                             std::string{"unset, was 1"}}));
    // Asked for in a setting, it is a setting like any other.
    const auto forced =
        worker_environment(inherited, {}, {{"NVIDIA_TF32_OVERRIDE", std::string{"0"}}});
    EXPECT_THAT(recorded_environment(forced, inherited),
                Contains(record::Named{"environment.NVIDIA_TF32_OVERRIDE", std::string{"0"}}));
}

TEST(Launcher, AnUnknownLauncherSkipsTheCase) {
    const auto command = launch_command({.placement = {.launcher = "warp"}});
    ASSERT_FALSE(command);
    EXPECT_EQ(command.error().fault, Fault::environment);
    EXPECT_THAT(command.error().message, HasSubstr("warp"));
}

TEST(Launcher, FindsProgramsOnThePathOnly) {
    EXPECT_EQ(find_program("sh", "/nonexistent:/bin"), "/bin/sh");
    EXPECT_TRUE(find_program("sh", "").empty());
    EXPECT_TRUE(find_program("passwd", "/etc").empty()) << "cannot be executed";
}

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
    EXPECT_THAT(choice.warning, HasSubstr("100% more time"));
    EXPECT_THAT(choice.warning, HasSubstr("CORE=b"));
}

TEST(Tuning, ASmallWinChangesNothing) {
    FakeProbe probe{.seconds = {{"", 1.01}, {"a", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(choice.variables, IsEmpty());
    EXPECT_TRUE(choice.warning.empty());
    EXPECT_EQ(record::to_string(choice.settings.at(0).value), "default");
}

TEST(Tuning, AWinBelowFivePercentIsTakenWithoutAWord) {
    FakeProbe probe{.seconds = {{"", 1.04}, {"a", 1.0}}, .asked = {}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_EQ(choice.variables.size(), 1U);
    EXPECT_TRUE(choice.warning.empty());
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
    EXPECT_EQ(again->warning, choice.warning);
    EXPECT_FALSE(recorded_choice(manifest, {}));
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
