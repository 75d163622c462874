// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.hpp"
#include "launch/placement.hpp"
#include "plan/device_choice.hpp"
#include "plan/manifest.hpp"
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

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
                                   .name = "NVIDIA H200",
                                   .compute_capability = {},
                                   .mode = {}});
    return machine;
}

std::vector<int> indexes(const std::vector<record::Device>& devices) {
    std::vector<int> found;
    for (const auto& device : devices) found.push_back(device.index);
    return found;
}

std::vector<std::string> plan_names(const record::Machine& machine,
                                    std::vector<std::string> devices) {
    const auto all = harness::made::mixed_catalogue();
    const auto plan =
        make_plan(all, {.what = {"*"}, .devices = std::move(devices), .machine = machine});
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    std::vector<std::string> names;
    if (plan)
        for (const auto& planned : plan->cases)
            names.push_back(record::identity(empty_case(planned)));
    return names;
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
        const auto chosen = choose_devices(machine, {word});
        ASSERT_FALSE(chosen) << word;
        EXPECT_EQ(chosen.error().fault, Fault::usage);
        EXPECT_THAT(chosen.error().message,
                    AllOf(HasSubstr("0 (NVIDIA H200"), HasSubstr("0000:21:00.0")));
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
    const auto all = harness::made::mixed_catalogue();
    const auto alone = make_plan(all, {.what = {"memory.stream"}, .machine = machine_of(0)});
    ASSERT_TRUE(alone);
    EXPECT_THAT(alone->cases, SizeIs(1)) << "it says why it cannot be measured";
    EXPECT_THAT(plan_names(machine_of(0), {}), ElementsAre("memory.copy[host]"))
        << "beside others it is left out";
}

TEST(Devices, WithoutOneASuiteIsOfTheHostAndSaysSo) {
    harness::made::TemporaryFolder folder;
    const auto path = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "both", "description": "for a test",
      "cases": [ { "benchmark": "memory.stream" }, { "benchmark": "memory.copy" } ] })");
    const auto all = harness::made::mixed_catalogue();
    const auto bare = make_plan(all, {.what = {path.string()}, .machine = machine_of(0)});
    ASSERT_TRUE(bare);
    EXPECT_THAT(bare->cases, SizeIs(1));
    EXPECT_THAT(bare->notes, ElementsAre(HasSubstr("1 case on CUDA devices")));
    const auto with = make_plan(all, {.what = {path.string()}, .machine = machine_of(1)});
    EXPECT_THAT(with->cases, SizeIs(2));
    EXPECT_THAT(with->notes, IsEmpty());
}

TEST(Devices, MayBeThereWithoutADriver) {
    auto machine = machine_of(0);
    EXPECT_FALSE(may_have_devices(machine, "cuda"));
    machine.pci = {{.address = "0000:65:00.0",
                    .vendor_id = "1002",
                    .device_id = {},
                    .kind = "accelerator",
                    .name = {},
                    .driver = {}}};
    EXPECT_FALSE(may_have_devices(machine, "cuda")) << "AMD's are no CUDA devices";
    EXPECT_TRUE(may_run_here({.place = "host"}, machine));
    EXPECT_FALSE(may_run_here({.place = "cuda"}, machine));
    EXPECT_TRUE(may_run_here({.place = "hip"}, machine));
    machine.pci.front().vendor_id = "10de";
    EXPECT_TRUE(may_run_here({.place = "cuda"}, machine));
    EXPECT_FALSE(may_run_here({.place = "hip"}, machine));
}

TEST(Devices, AWorkerSeesItsOwnAndSitsNearIt) {
    const auto all = harness::made::mixed_catalogue();
    const auto machine = machine_of(2);
    const auto plan =
        make_plan(all, {.what = {"memory.stream"}, .devices = {"1"}, .machine = machine});
    ASSERT_TRUE(plan);
    std::string asked;
    const auto placement =
        place(plan->cases.front(), machine, {}, [&](int /*threads*/, const std::string& near) {
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
    EXPECT_EQ(empty_case(plan->cases.front()).place,
              (record::Place{.kind = "cuda", .uuid = "GPU-1a2b3c4d-0000", .index = 1}));
}

TEST(Devices, OfTwoMakersEachHasItsCases) {
    auto all = harness::made::mixed_catalogue();
    auto stream = harness::made::benchmark("memory.stream", "bandwidth", {});
    stream.place = "hip";
    all.modules.push_back(harness::made::manifest("hip", {stream}));
    auto machine = machine_of(1);
    machine.devices.push_back({.kind = "hip",
                               .index = 0,
                               .uuid = "GPU-a1b2c3d4e5f60718",
                               .pci_address = "0000:c5:00.0",
                               .name = "AMD Instinct MI300X OAM",
                               .compute_capability = "gfx942",
                               .mode = {}});
    const auto plan = make_plan(all, {.what = {"memory.stream"}, .machine = machine});
    ASSERT_TRUE(plan);
    ASSERT_THAT(plan->cases, SizeIs(2));
    for (const auto& planned : plan->cases) {
        ASSERT_THAT(planned.devices, SizeIs(1));
        EXPECT_EQ(planned.devices[0].kind, planned.benchmark->place);
        const auto placement =
            place(planned, machine, {}, [](int, const std::string&) { return std::vector{0}; });
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
    const auto one = make_plan(all, {.what = {"*"}, .devices = {"hip:0"}, .machine = machine});
    ASSERT_TRUE(one);
    const auto both = make_plan(all, {.what = {"*"}, .devices = {"0"}, .machine = machine});
    EXPECT_FALSE(both) << "0 is an index of either";
}

TEST(Devices, AllAreShownToABenchmarkOfAll) {
    const auto all = harness::made::mixed_catalogue();
    const auto machine = machine_of(3);
    const auto plan =
        make_plan(all, {.what = {"links.all"}, .devices = {"0", "2"}, .machine = machine});
    ASSERT_TRUE(plan);
    std::string asked = "nothing";
    const auto placement =
        place(plan->cases.front(), machine, {}, [&](int threads, const std::string& near) {
            asked = near;
            return std::vector<int>(static_cast<std::size_t>(threads));
        });
    EXPECT_THAT(asked, IsEmpty()) << "near none of them";
    EXPECT_THAT(placement->devices, ElementsAre(StartsWith("GPU-0"), StartsWith("GPU-2")));
    EXPECT_THAT(empty_case(plan->cases.front()).place.uuid, IsEmpty());
}

/// collective.allreduce: a rank for each device.
Catalogue collectives() {
    auto reduce = harness::made::benchmark(
        "collective.allreduce", "bus_bandwidth",
        {harness::made::count("ranks", 2, 4096, {std::string{"all"}}, {"all"})});
    reduce.place = "cuda";
    reduce.all_devices = reduce.team = true;
    Catalogue all;
    all.modules = {harness::made::manifest("nccl_mpi", {reduce})};
    all.modules.front().launcher = "mpirun";
    return all;
}

Result<Placement> team_on(int devices, const PlanRequest& wanted) {
    const auto all = collectives();
    auto request = wanted;
    request.what = {"collective.allreduce"};
    request.machine = machine_of(devices);
    const auto plan = make_plan(all, request);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    if (!plan) return tl::unexpected{plan.error()};
    return place(
        plan->cases.front(), request.machine, {},
        [](int threads, const std::string& /*near*/) {
            return std::vector<int>(static_cast<std::size_t>(threads));
        },
        request.job);
}

TEST(TeamOnDevices, HasARankForEachThatIsFreeOnItsHost) {
    const auto placement = team_on(4, {});
    ASSERT_TRUE(placement) << placement.error().message;
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
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().fault, Fault::environment);
    EXPECT_EQ(one.error().message, "not applicable: needs two devices, there is one");
    const auto many = team_on(4, {.set = {"collective.allreduce.ranks=4096"}});
    ASSERT_FALSE(many) << "nobody starts that many processes to learn it";
    EXPECT_EQ(many.error().message, "not applicable: needs 4096 devices, there are 4");
    EXPECT_EQ(team_on(0, {})->ranks, 1) << "which says what is missing";
}

TEST(TeamOnDevices, OfSeveralHostsTakesTheDevicesOfEach) {
    const Job job{
        .hosts = {{.name = "h1"}, {.name = "h2", .slots = 96}, {.name = "h3", .slots = 2}},
        .launcher = "srun"};
    const auto placement = team_on(4, {.job = job});
    ASSERT_TRUE(placement) << placement.error().message;
    EXPECT_EQ(placement->ranks, 4 + 4 + 2) << "a batch system counts cores";
    EXPECT_THAT(placement->devices, IsEmpty()) << "other hosts' devices have other UUIDs";
    EXPECT_THAT(worker_environment({}, *placement),
                AllOf(Contains("ASSAY_CPUS=any"), Contains("ASSAY_HOST_RANKS=4,4,2"),
                      Not(Contains(StartsWith("CUDA_VISIBLE")))));
    EXPECT_THAT(team_on(4, {.devices = {"1", "2"}, .job = job})->devices, ElementsAre("1", "2"));
    EXPECT_EQ(team_on(4, {.devices = {"1", "2"}, .job = job})->ranks, 6);
    EXPECT_EQ(team_on(0, {.job = job})->ranks, 1 + 96 + 2) << "this one has none and cannot know";
}

} // namespace
