// SPDX-License-Identifier: Apache-2.0

#include "launch/placement.hpp"
#include "plan/device_choice.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "plan/planner.hpp"
#include "plan/together.hpp"
#include "run/order.hpp"
#include "support/catalogue_maker.hpp"
#include "support/made_plan.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::plan;
using namespace testing;
using made::names_of;
using made::plan_of;

/// Two sockets with four devices.
record::Machine machine_of(int devices) {
    record::Machine machine;
    machine.usable_cores = 8;
    machine.usable_threads = 16;
    for (int i = 0; i < devices; ++i)
        machine.devices.push_back({.kind = "cuda",
                                   .index = i,
                                   .uuid = fmt::format("GPU-{}a2b3c4d-0000", i),
                                   .pci_address = fmt::format("0000:{}1:00.0", i + 1),
                                   .name = "NVIDIA H200"});
    return machine;
}

std::vector<int> indexes(const std::vector<record::Device>& devices) {
    std::vector<int> found;
    for (const auto& device : devices) found.push_back(device.index);
    return found;
}

const Catalogue mixed = made::mixed_catalogue();

std::vector<std::string> plan_names(const record::Machine& machine,
                                    std::vector<std::string> devices) {
    return made::names_of(
        plan_of(mixed, {.what = {"*"}, .devices = std::move(devices), .machine = machine}));
}

TEST(Devices, TheFirstIsMeasuredUnlessOthersAreAskedFor) {
    const auto machine = machine_of(4);
    EXPECT_THAT(indexes(choose_devices(machine, {})->one_each), ElementsAre(0));
    EXPECT_THAT(indexes(choose_devices(machine, {})->together), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(indexes(choose_devices(machine, {"all"})->one_each), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(indexes(choose_devices(machine, {"3", "1", "all"})->one_each),
                ElementsAre(0, 1, 2, 3))
        << "each once";
    EXPECT_THAT(indexes(choose_devices(machine, {"3", "1"})->together), ElementsAre(1, 3));
}

TEST(Devices, HaveSeveralNames) {
    const auto machine = machine_of(4);
    EXPECT_THAT(indexes(choose_devices(machine, {"GPU-2a2b3c4d-0000"})->one_each), ElementsAre(2));
    EXPECT_THAT(indexes(choose_devices(machine, {"gpu-2a2b"})->one_each), ElementsAre(2));
    EXPECT_THAT(indexes(choose_devices(machine, {"0000:21:00.0"})->one_each), ElementsAre(1));
    EXPECT_THAT(indexes(choose_devices(machine, {"21:00.0"})->one_each), ElementsAre(1));
}

TEST(Devices, WhatIsNotThereIsAnErrorThatSaysWhatIs) {
    const auto machine = machine_of(2);
    for (const char* word : {"7", "GPU-", "gpu", "", "-1", "99:00.0"}) {
        EXPECT_THAT(
            choose_devices(machine, {word}),
            Fails(Fault::usage, AllOf(HasSubstr("0 (NVIDIA H200"), HasSubstr("0000:21:00.0"))))
            << word;
    }
    auto twins = machine;
    twins.devices[1].uuid = "GPU-0a2b3c4d-1111";
    EXPECT_THAT(choose_devices(twins, {"GPU-0a2b"}).error().message, HasSubstr("several"));
    EXPECT_EQ(choose_devices(machine_of(0), {"0"}).error().fault, Fault::environment);
}

TEST(Devices, ACaseIsMeasuredOnEachAndNamedByIt) {
    EXPECT_THAT(plan_names(machine_of(2), {"all"}),
                ElementsAre("links.all[cuda]@cuda", "memory.stream[cuda]@cuda",
                            "memory.stream[cuda]@cuda:1", "memory.copy[host]"));
    EXPECT_THAT(plan_names(machine_of(2), {}), SizeIs(3));
}

TEST(Devices, WithoutOneACaseStaysWhereNothingElseWasAskedFor) {
    const auto alone = plan_of(mixed, {.what = {"memory.stream"}, .machine = machine_of(0)});
    EXPECT_THAT(alone.cases, SizeIs(1)) << "it says why it cannot be measured";
    EXPECT_THAT(plan_names(machine_of(0), {}), ElementsAre("memory.copy[host]"))
        << "beside others it is left out";
}

TEST(Devices, WithoutOneASuiteIsOfTheHostAndSaysSo) {
    made::TemporaryFolder folder;
    const auto path = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "both", "description": "for a test",
      "cases": [ { "benchmark": "memory.stream" }, { "benchmark": "memory.copy" } ] })");
    const auto bare = plan_of(mixed, {.what = {path.string()}, .machine = machine_of(0)});
    EXPECT_THAT(bare.cases, SizeIs(1));
    EXPECT_THAT(bare.notes, ElementsAre(HasSubstr(
                                "1 case cannot run on this machine: it needs a CUDA device")));
    const auto with = plan_of(mixed, {.what = {path.string()}, .machine = machine_of(1)});
    EXPECT_THAT(with.cases, SizeIs(2));
    EXPECT_THAT(with.notes, IsEmpty());
}

TEST(Devices, MayBeThereWithoutADriver) {
    auto machine = machine_of(0);
    EXPECT_FALSE(may_have_devices(machine, "cuda"));
    machine.pci = {{.address = "0000:65:00.0", .vendor_id = "1002", .kind = "accelerator"}};
    EXPECT_FALSE(may_have_devices(machine, "cuda")) << "AMD's are not CUDA devices";
    EXPECT_TRUE(may_run_here({.place = "host"}, machine));
    EXPECT_FALSE(may_run_here({.place = "cuda"}, machine));
    EXPECT_TRUE(may_run_here({.place = "hip"}, machine));
    machine.pci.front().vendor_id = "10de";
    EXPECT_TRUE(may_run_here({.place = "cuda"}, machine));
    EXPECT_FALSE(may_run_here({.place = "hip"}, machine));
}

TEST(Devices, AWorkerSeesItsOwnAndSitsNearIt) {
    const auto machine = machine_of(2);
    const auto plan =
        plan_of(mixed, {.what = {"memory.stream"}, .devices = {"1"}, .machine = machine});
    std::string asked;
    const auto placement = launch::place(
        plan.cases.front(), machine, {}, [&](int /*threads*/, const std::string& near) {
            asked = near;
            return std::vector{4, 5, 6}; // a socket has fewer than were asked for
        });
    ASSERT_TRUE(placement);
    EXPECT_EQ(asked, "0000:21:00.0");
    EXPECT_THAT(placement->cpus, ElementsAre(4, 5, 6));
    EXPECT_EQ(placement->threads, 3);

    const auto environment = worker_environment(
        {"CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=FASTEST_FIRST"}, *placement);
    EXPECT_THAT(environment, AllOf(Contains("CUDA_VISIBLE_DEVICES=GPU-1a2b3c4d-0000"),
                                   Contains("CUDA_DEVICE_ORDER=PCI_BUS_ID"),
                                   Not(Contains("CUDA_VISIBLE_DEVICES=0"))));
    EXPECT_EQ(empty_case(plan.cases.front()).place,
              (record::Place{.kind = "cuda", .uuid = "GPU-1a2b3c4d-0000", .index = 1}));
}

TEST(Devices, OfTwoMakersEachHasItsCases) {
    auto all = made::mixed_catalogue();
    auto stream = made::benchmark("memory.stream", "bandwidth", {});
    stream.place = "hip";
    all.modules.push_back(made::manifest("hip", {stream}));
    auto machine = machine_of(1);
    machine.devices.push_back({.kind = "hip",
                               .index = 0,
                               .uuid = "GPU-a1b2c3d4e5f60718",
                               .pci_address = "0000:c5:00.0",
                               .name = "AMD Instinct MI300X OAM",
                               .compute_capability = "gfx942"});
    const auto plan = plan_of(all, {.what = {"memory.stream"}, .machine = machine});
    ASSERT_THAT(plan.cases, SizeIs(2));
    for (const auto& planned : plan.cases) {
        ASSERT_THAT(planned.devices, SizeIs(1));
        EXPECT_EQ(planned.devices[0].kind, planned.benchmark->place);
        const auto placement = launch::place(
            planned, machine, {}, [](int, const std::string&) { return std::vector{0}; });
        ASSERT_TRUE(placement);
        const auto environment = worker_environment(
            {"HIP_VISIBLE_DEVICES=7", "ROCR_VISIBLE_DEVICES=7", "CUDA_VISIBLE_DEVICES=7"},
            *placement);
        if (planned.benchmark->place == "hip")
            EXPECT_THAT(environment, AllOf(Contains("ROCR_VISIBLE_DEVICES=GPU-a1b2c3d4e5f60718"),
                                           Not(Contains(StartsWith("HIP_VISIBLE")))));
        else
            EXPECT_THAT(environment, AllOf(Contains("CUDA_VISIBLE_DEVICES=GPU-0a2b3c4d-0000"),
                                           Not(Contains(StartsWith("ROCR_VISIBLE")))));
    }
    plan_of(all, {.what = {"*"}, .devices = {"hip:0"}, .machine = machine});
    EXPECT_FALSE(make_plan(all, {.what = {"*"}, .devices = {"0"}, .machine = machine}))
        << "0 is an index of either";
}

TEST(Devices, AllAreShownToABenchmarkOfAll) {
    const auto machine = machine_of(3);
    const auto plan =
        plan_of(mixed, {.what = {"links.all"}, .devices = {"0", "2"}, .machine = machine});
    std::string asked = "nothing";
    const auto placement =
        launch::place(plan.cases.front(), machine, {}, [&](int threads, const std::string& near) {
            asked = near;
            return std::vector<int>(static_cast<std::size_t>(threads));
        });
    EXPECT_THAT(asked, IsEmpty()) << "near none of them";
    EXPECT_THAT(placement->devices, ElementsAre(StartsWith("GPU-0"), StartsWith("GPU-2")));
    EXPECT_THAT(empty_case(plan.cases.front()).place.uuid, IsEmpty());
}

/// collective.allreduce: a rank for each device.
Catalogue collectives() {
    auto reduce = made::benchmark("collective.allreduce", "bus_bandwidth",
                                  {made::count("ranks", 2, 4096, {std::string{"all"}}, {"all"})});
    reduce.place = "cuda";
    reduce.all_devices = reduce.team = true;
    Catalogue all;
    all.modules = {made::manifest("nccl_mpi", {reduce})};
    all.modules.front().launcher = "mpirun";
    return all;
}

Result<launch::Placement> team_on(int devices, const PlanRequest& wanted) {
    const auto all = collectives();
    auto request = wanted;
    request.what = {"collective.allreduce"};
    request.machine = machine_of(devices);
    return launch::place(
        plan_of(all, request).cases.front(), request.machine, {},
        [](int threads, const std::string& /*near*/) {
            return std::vector<int>(static_cast<std::size_t>(threads));
        },
        request.job);
}

TEST(TeamOnDevices, HasARankForEachThatIsFreeOnItsHost) {
    const auto placement = valid(team_on(4, {}));
    EXPECT_EQ(placement->ranks, 4) << "devices, not the 8 cores";
    EXPECT_EQ(placement->launcher, "mpirun");
    EXPECT_THAT(placement->cpus, IsEmpty()) << "NCCL has threads of its own to place";
    EXPECT_THAT(worker_environment({"ASSAY_CPUS=1"}, *placement),
                AllOf(Contains("ASSAY_CPUS=any"), Contains("CUDA_DEVICE_ORDER=PCI_BUS_ID"),
                      Contains("CUDA_VISIBLE_DEVICES=GPU-0a2b3c4d-0000,GPU-1a2b3c4d-0000,"
                               "GPU-2a2b3c4d-0000,GPU-3a2b3c4d-0000")));
}

TEST(TeamOnDevices, TakesThoseThatAreChosen) {
    EXPECT_EQ(team_on(4, {.devices = {"1", "3"}})->ranks, 2);
    EXPECT_THAT(team_on(4, {.devices = {"1", "3"}})->devices,
                ElementsAre(StartsWith("GPU-1"), StartsWith("GPU-3")));
    EXPECT_EQ(team_on(4, {.set = {"collective.allreduce.ranks=3"}})->ranks, 3);
}

TEST(TeamOnDevices, DoesNotApplyToOneNorToMoreThanThereAre) {
    const auto one = team_on(1, {});
    EXPECT_THAT(one, Fails(Fault::environment, "not applicable: needs two devices, there is one"));
    const auto many = team_on(4, {.set = {"collective.allreduce.ranks=4096"}});
    EXPECT_THAT(many, Fails("not applicable: needs 4096 devices, there are 4"))
        << "nobody starts that many processes to learn it";
    EXPECT_EQ(team_on(0, {})->ranks, 1) << "which says what is missing";
}

TEST(TeamOnDevices, OfSeveralHostsTakesTheDevicesOfEach) {
    const Job job{
        .hosts = {{.name = "h1"}, {.name = "h2", .slots = 96}, {.name = "h3", .slots = 2}},
        .launcher = "srun"};
    const auto placement = valid(team_on(4, {.job = job}));
    EXPECT_EQ(placement->ranks, 4 + 4 + 2) << "a batch system counts cores";
    EXPECT_THAT(placement->devices, IsEmpty()) << "other hosts' devices have other UUIDs";
    EXPECT_THAT(worker_environment({}, *placement),
                AllOf(Contains("ASSAY_CPUS=any"), Contains("ASSAY_HOST_RANKS=4,4,2"),
                      Not(Contains(StartsWith("CUDA_VISIBLE")))));
    EXPECT_THAT(team_on(4, {.devices = {"1", "2"}, .job = job})->devices, ElementsAre("1", "2"));
    EXPECT_EQ(team_on(4, {.devices = {"1", "2"}, .job = job})->ranks, 6);
    EXPECT_EQ(team_on(0, {.job = job})->ranks, 1 + 96 + 2) << "this one has none and cannot know";
}

// --- at once -----------------------------------------------------------------------------------------

// Cases measured at once, their CPUs and names; and a case beside a load.

PlanRequest request(const std::string& what, const std::string& together, int devices = 2) {
    PlanRequest wanted{.what = {what}, .together = together};
    wanted.shape = machine::described_shape("pack:2 numa:1 core:4 pu:2");
    for (int i = 0; i < devices; ++i)
        wanted.machine.devices.push_back(
            {.kind = "cuda", .index = i, .uuid = fmt::format("GPU-{}", i)});
    return wanted;
}

Plan plan_of(const PlanRequest& wanted) { return made::plan_of(mixed, wanted); }
std::string error_of(const PlanRequest& wanted) { return made::refusal(mixed, wanted); }
using Cores = std::vector<std::vector<int>>;

TEST(Together, SocketsHaveTheirOwnCoresAndNames) {
    const auto plan = plan_of(request("memory.copy", "sockets"));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host] together=sockets:2 part=1/2",
                                            "memory.copy[host] together=sockets:2 part=2/2"));
    EXPECT_FALSE(plan.cases[0].with_previous);
    EXPECT_TRUE(plan.cases[1].with_previous);
    EXPECT_EQ(plan.cases[0].share->usable, (Cores{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(plan.cases[1].share->usable, (Cores{{8, 9}, {10, 11}, {12, 13}, {14, 15}}));
    EXPECT_EQ(plan.cases[1].share->sockets, 1);
    EXPECT_THAT(plan.cases[0].parameters, IsEmpty()) << "the module knows nothing of it";
}

TEST(Together, PartsOfTheCpusShareNone) {
    const auto plan = plan_of(request("memory.copy", "cpus:3"));
    ASSERT_THAT(plan.cases, SizeIs(3));
    std::vector<int> all;
    for (const auto& planned : plan.cases)
        for (const auto& core : planned.share->usable)
            all.insert(all.end(), core.begin(), core.end());
    EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    auto quota = request("memory.copy", "cpus:2");
    quota.machine.usable_cores = 2;
    EXPECT_EQ(plan_of(quota).cases[1].share->usable, (Cores{{8, 9}}));
    EXPECT_THAT(plan_of(request("memory.copy", "numa")).cases, SizeIs(2));
}

TEST(Together, EachDeviceIsAPlaceOfItsOwn) {
    const auto plan = plan_of(request("memory.stream", "devices", 3));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.stream[cuda]@cuda together=devices:3",
                                            "memory.stream[cuda]@cuda:1 together=devices:3",
                                            "memory.stream[cuda]@cuda:2 together=devices:3"));
    std::vector<std::size_t> cores;
    for (const auto& planned : plan.cases) cores.push_back(planned.share->usable.size());
    EXPECT_THAT(cores, ElementsAre(2, 3, 3)) << "their CPUs do not overlap";
    auto chosen = request("memory.stream", "devices", 3);
    chosen.devices = {"0", "2"};
    EXPECT_THAT(names_of(plan_of(chosen)),
                ElementsAre("memory.stream[cuda]@cuda together=devices:2",
                            "memory.stream[cuda]@cuda:2 together=devices:2"));
}

TEST(Together, TakesTheTimeOfOne) {
    const auto alone = plan_of(request("memory.copy", ""));
    const auto plan = plan_of(request("memory.copy", "cpus:8"));
    EXPECT_DOUBLE_EQ(plan.expected_seconds, alone.expected_seconds);
    EXPECT_NE(plan.digest, alone.digest);
    EXPECT_THAT(run::order_of(plan, 7, 1), ElementsAre(0));
    EXPECT_THAT(siblings_of(plan, 5), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    auto tight = request("memory.copy", "cpus:8");
    tight.budget_seconds = 6;
    auto one = request("memory.copy", "");
    one.budget_seconds = 6;
    const double expected = plan_of(one).cases[0].protocol.budget_seconds;
    for (const auto& planned : plan_of(tight).cases)
        EXPECT_DOUBLE_EQ(planned.protocol.budget_seconds, expected);
}

TEST(Together, SaysWhyThereIsNothing) {
    EXPECT_THAT(error_of(request("memory.stream", "devices", 1)), HasSubstr("has one device"));
    EXPECT_THAT(error_of(request("memory.copy", "devices")), HasSubstr("runs on the host"));
    EXPECT_THAT(error_of(request("memory.stream", "numa")), HasSubstr("runs on a device"));
    EXPECT_THAT(error_of(request("links.all", "devices")), HasSubstr("uses the whole machine"));
    EXPECT_THAT(error_of(request("memory.copy", "cpus:9")), HasSubstr("8 cores"));
    auto small = request("memory.copy", "sockets");
    small.shape = machine::described_shape("pack:1 core:1 pu:1");
    EXPECT_THAT(error_of(small), HasSubstr("one socket"));
    for (const char* bad : {"cpus", "cpus:", "cpus:1", "cpus:1025", "cpus:-2", "cpus:2x", "gpu"})
        EXPECT_THAT(error_of(request("memory.copy", bad)),
                    AllOf(HasSubstr("--together"), HasSubstr("cpus:N")))
            << bad;
}

TEST(Together, InASuiteACaseThatHasNoPlacesIsSkipped) {
    made::TemporaryFolder folder;
    const auto path = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "both", "description": "for a test",
      "cases": [ { "benchmark": "memory.copy" }, { "benchmark": "memory.copy", "together": 2 },
                 { "benchmark": "memory.stream", "together": "devices" } ] })");
    auto wanted = request(path.string(), "", 1);
    const auto plan = plan_of(wanted);
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.copy[host]", "memory.copy[host] together=cpus:2 part=1/2",
                            "memory.copy[host] together=cpus:2 part=2/2",
                            "memory.stream[cuda]@cuda together=devices"));
    EXPECT_THAT(plan.cases[3].skip_reason, HasSubstr("has one device"));
    EXPECT_EQ(plan.cases[3].skip_code, record::ReasonCode::not_applicable);
    EXPECT_THAT(plan.cases[0].skip_reason, IsEmpty());
}

TEST(Together, ASoakLoadsAnOnlyDeviceByItself) {
    made::TemporaryFolder folder;
    const auto path = folder.write("soak.json", R"({
      "schema": "assay.suite/1", "name": "soak", "description": "for a test", "soak_seconds": 60,
      "cases": [ { "benchmark": "memory.stream", "together": "devices" } ] })");
    EXPECT_THAT(names_of(plan_of(request(path.string(), "", 2))), SizeIs(2));
    const auto plan = plan_of(request(path.string(), "", 1));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.stream[cuda]@cuda soak=true"));
    EXPECT_THAT(plan.cases[0].skip_reason, IsEmpty());
    // Once, where it does so anyway.
    const auto both = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "soak", "description": "for a test", "soak_seconds": 60,
      "cases": [ { "benchmark": "memory.stream", "together": "devices" },
                 { "benchmark": "memory.stream" } ] })");
    EXPECT_THAT(names_of(plan_of(request(both.string(), "", 1))),
                ElementsAre("memory.stream[cuda]@cuda soak=true"));
}

// --- beside a load --------------------------------------------------------------------------------

TEST(Beside, TakesTurnsWithAndWithoutTheLoadOnTheSameCpus) {
    const auto turns =
        valid(beside(mixed, request("memory.copy", ""), "memory.copy on other cores"));
    ASSERT_THAT(turns->runs, SizeIs(2));
    const auto& alone = turns->runs[0].plan.cases.at(0);
    const auto& loaded = turns->runs[1].plan.cases.at(0);
    EXPECT_EQ(record::identity(empty_case(alone)), "memory.copy[host] part=1/2");
    EXPECT_EQ(record::identity(empty_case(loaded)), record::identity(empty_case(alone)));
    EXPECT_EQ(alone.share->usable, loaded.share->usable);
    EXPECT_THAT(alone.loads, IsEmpty());
    ASSERT_THAT(loaded.loads, SizeIs(1));
    EXPECT_EQ(loaded.loads[0].share->usable.front(), (std::vector{8, 9}));
    EXPECT_NE(turns->runs[0].plan.digest, turns->runs[1].plan.digest);
    EXPECT_THAT(turns->runs[0].pairing->changes, IsEmpty());
    EXPECT_EQ(record::text(turns->runs[1].pairing->changes, "beside"),
              "memory.copy on other cores");
    EXPECT_EQ(turns->runs[0].pairing->order, "ABBA");
}

TEST(Beside, LoadsAllOtherDevices) {
    const auto turns =
        valid(beside(mixed, request("memory.stream", "", 3), "memory.stream on other devices"));
    const auto& loaded = turns->runs[1].plan.cases.at(0);
    EXPECT_EQ(loaded.devices[0].index, 0);
    ASSERT_THAT(loaded.loads, SizeIs(2));
    EXPECT_EQ(loaded.loads[0].devices[0].index, 1);
    EXPECT_EQ(loaded.loads[1].devices[0].index, 2);
}

TEST(Beside, SaysWhatIsWrong) {
    const auto error_with = [](const std::string& load, int devices = 2) {
        const auto turns = beside(mixed, request("memory.stream", "", devices), load);
        EXPECT_FALSE(turns) << load;
        return turns ? "" : turns.error().message;
    };
    EXPECT_THAT(error_with("memory.copy"), HasSubstr("on other cores"));
    EXPECT_THAT(error_with(""), HasSubstr("on other cores"));
    EXPECT_THAT(error_with(" on other cores"), HasSubstr("--while"));
    EXPECT_THAT(error_with("memory.copi on other cores"), HasSubstr("memory.copy"));
    EXPECT_THAT(error_with("memory.copy threads on other cores"), HasSubstr("PARAM=VALUE"));
    EXPECT_THAT(error_with("memory.copy x=1 on other cores"), HasSubstr("no parameter"));
    EXPECT_THAT(error_with("memory.copy on other devices"), HasSubstr("runs on the host"));
    EXPECT_THAT(error_with("memory.stream on other cores"), HasSubstr("runs on a device"));
    EXPECT_THAT(error_with("memory.stream on other devices", 1), HasSubstr("has one device"));
    EXPECT_THAT(error_with("* on other cores"), HasSubstr("expected one"));
}

} // namespace
