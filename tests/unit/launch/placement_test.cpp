// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "process/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// --- placement ------------------------------------------------------------------------------------

struct Place : ::testing::Test {
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

TEST_F(Place, ProgramsOfOthersAreToldTheHosts) {
    const Job job{.hosts = {{"h1", 2}, {"h2", 0}}, .launcher = "mpirun"};
    EXPECT_THAT(place(planned, machine, {}, first_ones, job)->variables, IsEmpty());
    manifest.path_variable = "ASSAY_EXTERNAL_PATH";
    const auto placement = place(planned, machine, {}, first_ones, job);
    EXPECT_EQ(*record::find(placement->variables, "ASSAY_TEAM_HOSTS"),
              record::Value{std::string{"h1:2,h2"}});
    EXPECT_EQ(*record::find(placement->variables, "ASSAY_TEAM_LAUNCHER"),
              record::Value{std::string{"mpirun"}});
    EXPECT_EQ(placement->ranks, 1) << "the worker itself is no team";
    EXPECT_THAT(placement->hosts, IsEmpty());
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
                                             "CUDNN_LOGLEVEL_DBG=3",
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

} // namespace
} // namespace assay::harness
