// SPDX-License-Identifier: Apache-2.0

#include "fleet_maker.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using test::fleet_options;
using test::SweepMaker;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> faults_of(const Fleet& fleet) {
    std::vector<std::string> found;
    for (const auto& fault : fleet.faults)
        found.push_back(fmt::format("{}: {}", to_string(fault.code), fmt::join(fault.nodes, " ")));
    return found;
}
std::vector<std::string> faults_of(SweepMaker& maker) {
    const auto fleet = make_fleet(std::move(maker.collection()), fleet_options());
    EXPECT_TRUE(fleet);
    return faults_of(*fleet);
}
record::Machine& machine_of(SweepMaker& maker, std::uint32_t run) {
    return maker.collection().machines[maker.info(run).machine];
}

TEST(FleetFaults, ACleanSweepHasNone) {
    SweepMaker maker;
    maker.sweep(6);
    maker.run(3, 1, {});
    EXPECT_THAT(faults_of(maker), IsEmpty());
}

TEST(FleetFaults, OneMachineWithTwoNames) {
    SweepMaker maker;
    maker.sweep(6);
    const auto run = maker.run(6, 1, {});
    machine_of(maker, run).id = "m-2";
    EXPECT_THAT(faults_of(maker), ElementsAre("one_machine_two_names: n02 n06"));
}

TEST(FleetFaults, TwoMachinesWithOneName) {
    SweepMaker maker;
    maker.sweep(6);
    const auto run = maker.run(6, 1, {});
    maker.info(run).tags = {{"node", std::string{"n02"}}};
    EXPECT_THAT(faults_of(maker), ElementsAre("one_name_two_machines: n02"));
}

TEST(FleetFaults, TwoMachinesWithOneIdentity) {
    SweepMaker maker;
    maker.sweep(6);
    const auto run = maker.run(2, 0, {});
    machine_of(maker, 2).identity.parts = {{"board", "", "a"}};
    machine_of(maker, run).identity.parts = {{"board", "", "b"}};
    maker.info(run).id = "another";
    EXPECT_THAT(faults_of(maker), ElementsAre("one_id_two_machines: n02", "runs_overlap: n02"));
}

TEST(FleetFaults, ARepairThatIsSaidIsNone) {
    SweepMaker maker;
    maker.sweep(6);
    const auto run = maker.run(2, 1, {});
    machine_of(maker, 2).identity.parts = {{"board", "", "a"}};
    machine_of(maker, run).identity.parts = {{"board", "", "b"}};
    maker.info(run).tags.push_back({"repair", std::string{"board replaced"}});
    EXPECT_THAT(faults_of(maker), IsEmpty());
}

TEST(FleetFaults, RunsInTurnsMayOverlap) {
    SweepMaker maker;
    maker.sweep(6);
    const auto run = maker.run(2, 0, {});
    for (const auto each : {std::uint32_t{2}, run})
        maker.info(each).pairing =
            record::Pairing{.id = "pair", .setting = "old", .order = "ABBA", .changes = {}};
    EXPECT_THAT(faults_of(maker), IsEmpty());
}

TEST(FleetFaults, OtherVersionsAndPlansThanMost) {
    SweepMaker maker;
    maker.sweep(6);
    maker.info(1).version = "0.9";
    maker.info(4).digest = "another";
    EXPECT_THAT(faults_of(maker), ElementsAre("mixed_versions: n01", "mixed_plans: n04"));
}

TEST(FleetFaults, OtherBuildsThanMostOfTheirType) {
    SweepMaker maker;
    maker.sweep(6);
    for (std::uint32_t i = 0; i < 6; ++i) maker.info(i).build = i == 2 ? "bbbb" : "aaaa";
    maker.info(5).build.clear(); // an older file
    machine_of(maker, 4).instance = "another.type";
    maker.info(4).build = "cccc";
    EXPECT_THAT(faults_of(maker), ElementsAre("mixed_versions: n02"));
}

TEST(FleetFaults, OtherKernelsDriversAndFirmwareThanMost) {
    SweepMaker maker;
    maker.sweep(6);
    for (std::uint32_t i = 0; i < 6; ++i) {
        auto& machine = machine_of(maker, i);
        machine.kernel = i == 1 ? "6.8" : "6.1";
        machine.software = {{"nvidia.driver", std::string{i == 3 ? "570.1" : "580.1"}}};
        machine.platform.network = {{.name = "eth0", .driver = "mlx5_core", .firmware = "28.39"},
                                    {.name = "eth1", .driver = "mlx5_core", .firmware = "28.39"}};
    }
    machine_of(maker, 4).platform.network[1].firmware = "28.36";
    const auto fleet = make_fleet(std::move(maker.collection()), fleet_options());
    EXPECT_THAT(faults_of(*fleet),
                ElementsAre("mixed_software: n01", "mixed_software: n04", "mixed_software: n03"));
    EXPECT_THAT(fleet->faults[0].evidence, ElementsAre("kernel: 6.1 (5)", "6.8 (1)"));
    EXPECT_FALSE(is_serious(fleet->faults[0].code));
}

TEST(FleetFaults, AClockThatIsAhead) {
    SweepMaker maker;
    maker.sweep(6);
    for (std::uint32_t i = 0; i < 6; ++i)
        maker.info(i).written_seconds = *seconds_of("2026-11-20T12:10:01Z"); // as it ends
    maker.info(3).written_seconds -= 7200;
    EXPECT_THAT(faults_of(maker), ElementsAre("clock_ahead: n03"));
}

/// Through files: each is named, none is fatal.
TEST(FleetFaults, FilesThatAreHalfCopiedDoubledOrOfTheFuture) {
    const harness::made::TemporaryFolder folder;
    const auto put = [&](const std::string& node, const std::string& id, const auto& change) {
        auto run = test::sample_run();
        run.id = id;
        run.machine.id = "m-" + node;
        run.started = "2024-11-20T12:00:00Z";
        run.ended = "2024-11-20T12:10:00Z";
        for (auto& c : run.cases)
            for (auto& replica : c.replicas) replica.started = run.started;
        change(run);
        auto path = folder.path() / node / id / "run.json";
        fs::create_directories(path.parent_path());
        EXPECT_TRUE(record::write_run(path, run));
        return path;
    };
    const auto as_it_is = [](record::Run&) {};
    const auto cut = put("n1", "one", as_it_is);
    fs::resize_file(cut, fs::file_size(cut) / 2);
    put("n2", "two", as_it_is);
    fs::create_directories(folder.path() / "copy");
    fs::copy(folder.path() / "n2", folder.path() / "copy/n2", fs::copy_options::recursive);
    put("n3", "three", [](record::Run& run) { run.started = run.ended = "2036-01-01T00:00:00Z"; });
    put("n4", "four", [](record::Run& run) { run.started = run.ended = "1970-01-01T00:01:00Z"; });
    put("n5", "five", [](record::Run& run) { run.ended = "2024-11-20T11:00:00Z"; });
    std::ofstream{put("n6", "six", as_it_is)} << "{\"schema\": \"another\"}";
    put("n7", "two", as_it_is); // the id of another machine's run
    put("n8", "eight", [](record::Run& run) {
        run.cases[0].replicas[0].started = "2024-11-20T11:00:00Z"; // before the run
    });
    put("n9", "nine", as_it_is);
    fs::create_directories(folder.path() / "sweep"); // as scripts/sweep writes it
    std::ofstream{folder.path() / "sweep/list.tsv"}
        << "n2\tanswered\t0\t60\t2\nn9\tanswered\t0\t60\t-3600\nn5\tsilent\t-\t9\t-\n";
    auto runs = collect({folder.path().string()}, collecting_for_fleet({}));
    ASSERT_TRUE(runs);
    const auto fleet = make_fleet(std::move(*runs), fleet_options(expand_nodes("n[1-9]").value()));
    ASSERT_TRUE(fleet);
    const auto found = faults_of(*fleet);
    for (const auto* fault : {"half_copied: n1", "reported_twice: n2", "clock_ahead: n3",
                              "clock_not_set: n4", "clock_went_back: n5", "unreadable: n6",
                              "same_run_elsewhere: n7", "clock_went_back: n8", "clock_behind: n9"})
        EXPECT_THAT(found, Contains(fault));
    EXPECT_EQ(test::node_of(*fleet, "n1").state, NodeState::unreadable);
    EXPECT_TRUE(test::node_of(*fleet, "n2").answered());
}

} // namespace
} // namespace assay::report
