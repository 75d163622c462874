// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "launch/team.hpp"
#include "launch/waiting.hpp"
#include "process/start.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace assay::launch {
namespace {

using namespace testing;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using made::TemporaryFolder;

// --- placement ------------------------------------------------------------------------------------

struct Place : ::testing::Test {
    plan::Manifest manifest{.module = "host"};
    plan::Benchmark benchmark{.id = "memory.stream"};
    plan::PlannedCase planned{.module = &manifest, .benchmark = &benchmark};
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
    EXPECT_THAT(place(planned, machine, {}, first_ones),
                Fails(Fault::environment, HasSubstr("needs 9 hardware threads")));
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
    const plan::Job job{.hosts = {{"h1", 2}, {"h2", 0}}, .launcher = "mpirun"};
    EXPECT_THAT(place(planned, machine, {}, first_ones, job)->variables, IsEmpty());
    manifest.path_variable = "ASSAY_EXTERNAL_PATH";
    const auto placement = place(planned, machine, {}, first_ones, job);
    EXPECT_EQ(*record::find(placement->variables, "ASSAY_TEAM_HOSTS"),
              record::Value{std::string{"h1:2,h2"}});
    EXPECT_EQ(*record::find(placement->variables, "ASSAY_TEAM_LAUNCHER"),
              record::Value{std::string{"mpirun"}});
    EXPECT_EQ(placement->ranks, 1) << "the worker itself is not a team";
    EXPECT_THAT(placement->hosts, IsEmpty());
}

TEST_F(Place, ValuesThatStandForVariablesBeatATuning) {
    benchmark.parameters = {{.name = "transport",
                             .kind = plan::ParameterKind::name,
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
        << "and two for the threads; variables of containers are noise, not secrets";
    EXPECT_THAT(said, Contains(record::Named{"environment.NVIDIA_TF32_OVERRIDE",
                                             std::string{"unset, was 1"}}));
    // Asked for in a setting, it is a setting like any other.
    const auto forced =
        worker_environment(inherited, {}, {{"NVIDIA_TF32_OVERRIDE", std::string{"0"}}});
    EXPECT_THAT(recorded_environment(forced, inherited),
                Contains(record::Named{"environment.NVIDIA_TF32_OVERRIDE", std::string{"0"}}));
}

TEST(Launcher, AnUnknownLauncherSkipsTheCase) {
    EXPECT_THAT(launch_command({.placement = {.launcher = "warp"}}),
                Fails(Fault::environment, HasSubstr("warp")));
}

TEST(Launcher, FindsProgramsOnThePathOnly) {
    EXPECT_EQ(process::find_program("sh", "/nonexistent:/bin"), "/bin/sh");
    EXPECT_TRUE(process::find_program("sh", "").empty());
    EXPECT_TRUE(process::find_program("passwd", "/etc").empty()) << "cannot be executed";
}

// --- what stands around a worker ---------------------------------------------------------------------

// --- what they put around a worker ----------------------------------------------------------------

TEST(SettingsOfTheEnvironment, BeatWhatPlacesThreadsAndWhatWasInherited) {
    const auto entries = worker_environment(
        {"HOME=/root", "OMP_WAIT_POLICY=passive", "X=1"}, {.threads = 2, .cpus = {0, 4}},
        {{"OMP_WAIT_POLICY", std::string{"active"}}, {"OMP_PLACES", std::string{"cores"}}});
    EXPECT_THAT(entries,
                ElementsAre("HOME=/root", "X=1", "OMP_NUM_THREADS=2", "OMP_DYNAMIC=false",
                            "OMP_PROC_BIND=true", "OMP_WAIT_POLICY=active", "OMP_PLACES=cores"));
}

/// An executable file that does nothing.
void make_program(const fs::path& path) {
    std::ofstream{path} << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
}

TEST(ExecutionContext, ACommandIsFoundOnPathAndSplitWithoutAShell) {
    const TemporaryFolder folder;
    make_program(folder.path() / "numactl");
    const auto path = "/nowhere:" + folder.path().string();
    const auto around = valid(context_of({.via = " numactl  --membind=0 $X "}, path));
    EXPECT_THAT(around->prefix,
                ElementsAre((folder.path() / "numactl").string(), "--membind=0", "$X"));
    const auto command = valid(launch_command({.program = "/p", .context = *around}));
    EXPECT_THAT(command->arguments, ElementsAre((folder.path() / "numactl").string(), "--membind=0",
                                                "$X", "/p", "worker"));
    EXPECT_THAT(context_of({.label = "new", .via = "nmactl"}, path),
                Fails(Fault::environment, HasSubstr("variant new: program nmactl not found")));
}

// --- teams -------------------------------------------------------------------------------------------

std::vector<int> shares(const std::vector<plan::Host>& hosts, const record::Value& ranks) {
    record::Machine machine;
    machine.usable_cores = 4;
    machine.sockets = 2;
    std::vector<int> counts;
    const auto shared = share_out(hosts, false, ranks, machine);
    for (const auto& host : shared.value()) counts.push_back(host.ranks);
    return counts;
}

TEST(Hosts, ShareRanksOut) {
    const std::vector<plan::Host> hosts{{"h1", 2}, {"h2", 0}, {"h3", 1}};
    EXPECT_THAT(shares(hosts, std::string{"all"}), ElementsAre(2, 4, 1))
        << "h2 is like this machine";
    EXPECT_THAT(shares(hosts, std::string{"per_socket"}), ElementsAre(2, 2, 1));
    EXPECT_THAT(shares(hosts, std::string{"per_node"}), ElementsAre(1, 1, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{5}), ElementsAre(2, 2, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{6}), ElementsAre(2, 3, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{2}), ElementsAre(1, 1));
    EXPECT_THAT(share_out(hosts, false, std::int64_t{8}, {.usable_cores = 4}),
                Fails(Fault::environment, "needs 8 ranks, but the 3 hosts have slots for 7"));
}

TEST(Hosts, KnowTheRanksOnThem) {
    const std::vector<HostRanks> hosts{{"h1", "node0", 2}, {"h2", "node1", 1}};
    EXPECT_EQ(rank_words(hosts, 1), "rank 1 on node0");
    EXPECT_EQ(rank_words(hosts, 2), "rank 2 on node1");
    EXPECT_EQ(rank_words(hosts, 3), "rank 3");
    const auto place = valid(process::place_of({2, 3}, 4));
    EXPECT_EQ(place->host, 1U);
    EXPECT_EQ(place->local_rank, 2);
}

TEST(Hosts, AreCheckedBeforeAnythingRuns) {
    EXPECT_TRUE(check_hosts({{"127.0.0.1", 1}}));
    EXPECT_FALSE(check_hosts({{"127.0.0.1", 1}, {"127.0.0.01", 1}, {"localhost", 1}}));
    EXPECT_EQ(valid(settle({.hosts = {{"127.0.0.1", 1}}}))->launcher, "mpirun");
}

TEST(Slurm, CountsAreRepeated) {
    EXPECT_THAT(repeated_counts("2(x3),4"), ElementsAre(2, 2, 2, 4));
    EXPECT_THAT(repeated_counts("16"), ElementsAre(16));
    for (const char* wrong : {"", "2(x", "2(x3", "2(y3)", "0", "2,", "2(x0)", "9(x99999999)"})
        EXPECT_THAT(repeated_counts(wrong), IsEmpty()) << wrong;
}

TEST(Launchers, GoToHosts) {
    const made::TemporaryFolder folder;
    LaunchRequest request{.program = "/opt/assay",
                          .placement = {.launcher = "mpirun",
                                        .ranks = 3,
                                        .hosts = {{"h1", "node0", 2}, {"h2", "node1", 1}},
                                        .variables = {{"UCX_TLS", std::string{"ib,self"}}}},
                          .address = "tcp:10.0.0.1:99",
                          .token = "0123456789",
                          .scratch = folder.path()};
    const auto program = folder.write("mpirun", "");
    std::filesystem::copy_file(program, folder.path() / "srun");
    for (const char* name : {"mpirun", "srun"})
        std::filesystem::permissions(folder.path() / name, std::filesystem::perms::owner_all);
    request.inherited = {"PATH=" + folder.path().string(), "OMPI_MCA_btl=tcp,self"};
    auto command = valid(launch_command(request));
    EXPECT_THAT(command->arguments, AllOf(Contains("h1:2,h2:1"), Contains("UCX_TLS"),
                                          Contains("ASSAY_HOST_RANKS"), Contains("/opt/assay")));
    EXPECT_THAT(command->environment, Contains("ASSAY_HOST_RANKS=2,1"));
    EXPECT_THAT(command->arguments, Not(Contains("isolated")));

    request.placement.launcher = "srun";
    command = launch_command(request);
    ASSERT_TRUE(command) << command.error().message;
    EXPECT_THAT(command->arguments, AllOf(Contains("--ntasks=3"), Contains("--nodes=2"),
                                          Contains("--distribution=arbitrary")));
    const char* file = process::find_variable(command->environment, "SLURM_HOSTFILE");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(read_whole(file, 1000).value(), "h1\nh1\nh2\n");
}

// --- who waits at the socket -------------------------------------------------------------------------

// Peers that may wait at the socket, and for how long: the clock is a number.

struct Peer {
    int name = 0;
    int rank = -1;
    std::chrono::steady_clock::time_point since{};
    bool closed = false;
};

constexpr std::chrono::steady_clock::time_point start{1h};

TEST(Strangers, MayWaitFiveSeconds) {
    std::vector<Peer> peers{{.name = 1, .since = start},
                            {.name = 2, .rank = 0, .since = start - 1h}, // has said who it is
                            {.name = 3, .since = start + 1s},
                            {.name = 4, .since = start + 1s, .closed = true}};
    drop_strangers(peers, start + 5s);
    EXPECT_THAT(peers,
                ElementsAre(Field(&Peer::name, 1), Field(&Peer::name, 2), Field(&Peer::name, 3)));
    drop_strangers(peers, start + 5s + 1ns);
    EXPECT_THAT(peers, ElementsAre(Field(&Peer::name, 2), Field(&Peer::name, 3)));
    drop_strangers(peers, start + 1h);
    EXPECT_THAT(peers, ElementsAre(Field(&Peer::name, 2)));
}

TEST(Strangers, TheOldestMakesRoomAndNoRankDoes) {
    std::vector<Peer> peers{{.name = -1, .rank = 0}, {.name = -2, .rank = 1}};
    for (int name = 0; name < 64; ++name) add_stranger(peers, {.name = name});
    EXPECT_EQ(peers.size(), 66U);
    add_stranger(peers, {.name = 64});
    EXPECT_EQ(peers.size(), 66U);
    EXPECT_EQ(peers[0].name, -1);
    EXPECT_EQ(peers[1].name, -2);
    EXPECT_EQ(peers[2].name, 1) << "0 was the oldest";
    EXPECT_EQ(peers.back().name, 64);
}

TEST(Strangers, KeepTheirPlaceUntilTheyHadTimeToSpeak) {
    std::vector<Peer> peers{{.name = -1, .rank = 0, .since = start}};
    for (int name = 0; name < 63; ++name) add_stranger(peers, {.name = name, .since = start});
    EXPECT_FALSE(is_full(peers, start));
    add_stranger(peers, {.name = 63, .since = start + 100ms});
    EXPECT_TRUE(is_full(peers, start + 249ms));
    EXPECT_FALSE(is_full(peers, start + 250ms));
    peers[1].rank = 1; // it has spoken
    EXPECT_FALSE(is_full(peers, start));
}

TEST(Points, ComeInTheirOrderAndOnce) {
    const Watch watch;
    Waiting waiting{.id = 7, .watch = watch, .limit_seconds = 1};
    const auto see = [&](std::uint64_t id, const char* point) {
        waiting.deadline = {};
        waiting.see(process::message::Reached{.id = id, .point = point});
        return waiting.deadline > std::chrono::steady_clock::now() + 1h; // it has no limit
    };
    EXPECT_FALSE(see(7, "measured"));
    EXPECT_FALSE(see(7, "elsewhere"));
    EXPECT_FALSE(see(6, "ready"));
    EXPECT_TRUE(see(7, "ready"));
    EXPECT_FALSE(see(7, "ready"));
    EXPECT_TRUE(see(7, "measured"));
    EXPECT_FALSE(see(7, "measured"));
    EXPECT_FALSE(see(7, "ready"));
    EXPECT_EQ(waiting.reached, "measured");
    waiting.restart();
    EXPECT_LE(waiting.deadline, std::chrono::steady_clock::now() + 1s);
}

} // namespace
} // namespace assay::launch
