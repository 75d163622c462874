// SPDX-License-Identifier: Apache-2.0
//
// Faults of a sweep: in its names, plans and clocks; and who slows whom, through files of a fabric beside the runs of
// its nodes.

#include "fleet_maker.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace assay::fleet {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using test::fleet_options;
using test::SweepMaker;

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

TEST(FleetFaults, AreFoundInASweepThatHasThem) {
    struct Case {
        const char* name;
        void (*plant)(SweepMaker&); ///< in a sweep over six nodes
        std::vector<std::string> found;
    };
    static const auto with_boards = [](SweepMaker& sweep, int turn) {
        const auto run = sweep.run(2, turn, {});
        machine_of(sweep, 2).identity.parts = {{"board", "", "a"}};
        machine_of(sweep, run).identity.parts = {{"board", "", "b"}};
        return &sweep.info(run);
    };
    const Case cases[] = {
        {"clean", [](SweepMaker& sweep) { sweep.run(3, 1, {}); }, {}},
        {"one machine with two names",
         [](SweepMaker& sweep) { machine_of(sweep, sweep.run(6, 1, {})).id = "m-2"; },
         {"one_machine_two_names: n02 n06"}},
        {"two machines with one name",
         [](SweepMaker& sweep) { sweep.info(sweep.run(6, 1, {})).tags = {{"node", "n02"}}; },
         {"one_name_two_machines: n02"}},
        {"two machines with one identity",
         [](SweepMaker& sweep) { with_boards(sweep, 0)->id = "another"; },
         {"one_id_two_machines: n02", "runs_overlap: n02"}},
        {"a repair that is said",
         [](SweepMaker& sweep) {
             with_boards(sweep, 1)->tags.push_back({"repair", "board replaced"});
         },
         {}},
        {"runs in turns",
         [](SweepMaker& sweep) {
             for (const auto each : {std::uint32_t{2}, sweep.run(2, 0, {})})
                 sweep.info(each).pairing =
                     record::Pairing{.id = "pair", .setting = "old", .order = "ABBA"};
         },
         {}},
        {"other versions and plans than most",
         [](SweepMaker& sweep) {
             sweep.info(1).version = "0.9";
             sweep.info(4).digest = "another";
         },
         {"mixed_versions: n01", "mixed_plans: n04"}},
        {"other builds than most of their type",
         [](SweepMaker& sweep) {
             for (std::uint32_t i = 0; i < 6; ++i) sweep.info(i).build = i == 2 ? "bbbb" : "aaaa";
             sweep.info(5).build.clear(); // an older file
             machine_of(sweep, 4).instance = "another.type";
             sweep.info(4).build = "cccc";
         },
         {"mixed_versions: n02"}},
        {"a clock that is ahead",
         [](SweepMaker& sweep) {
             for (std::uint32_t i = 0; i < 6; ++i) // as it ends
                 sweep.info(i).written_seconds = *seconds_of("2026-11-20T12:10:01Z");
             sweep.info(3).written_seconds -= 7200;
         },
         {"clock_ahead: n03"}},
    };
    for (const auto& [name, plant, found] : cases) {
        SweepMaker sweep;
        sweep.sweep(6);
        plant(sweep);
        EXPECT_EQ(faults_of(sweep), found) << name;
    }
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

/// Through files: each is named, none is fatal.
TEST(FleetFaults, FilesThatAreHalfCopiedDoubledOrOfTheFuture) {
    const made::TemporaryFolder folder;
    const auto put = [&](const std::string& node, const std::string& id, const auto& change) {
        auto run = test::sample_run();
        run.id = id;
        run.machine.id = "m-" + node;
        run.started = "2024-11-20T12:00:00Z";
        run.ended = "2024-11-20T12:10:00Z";
        for (auto& c : run.cases)
            for (auto& replica : c.replicas) replica.started = run.started;
        test::measure_again(run, node);
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
    auto runs = collect({folder.path().string()}, collecting_for_fleet({})).value();
    const auto fleet =
        make_fleet(std::move(runs), fleet_options(expand_nodes("n[1-9]").value())).value();
    const auto found = faults_of(fleet);
    for (const auto* fault : {"half_copied: n1", "reported_twice: n2", "clock_ahead: n3",
                              "clock_not_set: n4", "clock_went_back: n5", "unreadable: n6",
                              "same_run_elsewhere: n7", "clock_went_back: n8", "clock_behind: n9"})
        EXPECT_THAT(found, Contains(fault));
    EXPECT_EQ(test::node_of(fleet, "n1").state, NodeState::unreadable);
    EXPECT_TRUE(test::node_of(fleet, "n2").answered());
}

constexpr int hosts = 12; // of three switches

class FleetLinks : public testing::Test {
protected:
    FleetLinks() {
        for (int host = 0; host < hosts; ++host) {
            auto run = test::sample_run();
            run.id = fmt::format("single{}", host);
            run.machine.id = fmt::format("m-{}", host);
            run.tags = {{"node", fmt::format("gpu{:02}", host)}};
            write(run);
        }
    }

    /// A run of all hosts with one case that has this table.
    record::Run team(const std::string& benchmark, record::Table table) {
        auto run = test::sample_run();
        run.id = benchmark;
        run.started = "2026-02-01T12:00:00Z"; // the day after
        run.ended = "2026-02-01T12:10:00Z";
        run.machine.id = "m-0";
        run.tags = {{"node", std::string{"gpu00"}}};
        run.cases.resize(1);
        auto& c = run.cases[0];
        c.benchmark = benchmark;
        std::string names;
        std::string switches;
        for (int host = 0; host < hosts; ++host) {
            run.hosts.push_back({.name = fmt::format("node{}", host), .machine = {}});
            run.hosts.back().machine.id = fmt::format("m-{}", host);
            names += fmt::format("{}node{}:1", host == 0 ? "" : " ", host);
            switches += fmt::format("{}leaf{}", host == 0 ? "" : " ", host / 4);
        }
        c.settings = {{"job.hosts", names}, {"job.groups.switch", switches}};
        c.tables = {std::move(table)};
        for (auto& replica : c.replicas) {
            replica.tables = c.tables;
            replica.started = run.started;
        }
        return run;
    }
    /// Every pair at 1 GB/s with a little noise; nodes from `slow` up to `end` reach half of it.
    static record::Table list_of_pairs(int slow, int end) {
        record::Table table{.metric = "bandwidth",
                            .unit = "B/s",
                            .row_title = "pair",
                            .column_title = "",
                            .rows = {},
                            .columns = {"there", "back", "there alone", "back alone"},
                            .values = {}};
        for (int a = 0; a < hosts; ++a)
            for (int b = a + 1; b < hosts; ++b) {
                table.rows.push_back(fmt::format("node{} to node{}", a, b));
                for (int way = 0; way < 4; ++way)
                    table.values.emplace_back(value(a, b, way, slow, end));
            }
        return table;
    }
    Fleet look() {
        auto runs = collect({folder_.path().string()}, collecting_for_fleet({}));
        EXPECT_TRUE(runs);
        auto fleet = make_fleet(std::move(*runs), test::fleet_options());
        EXPECT_TRUE(fleet);
        return std::move(*fleet);
    }
    void write(record::Run run) {
        test::measure_again(run, run.id);
        const auto path = folder_.path() / run.id / "run.json";
        std::filesystem::create_directories(path.parent_path());
        EXPECT_TRUE(record::write_run(path, run));
    }

private:
    static double value(int a, int b, int way, int slow, int end) {
        const bool is_slow = (a >= slow && a < end) || (b >= slow && b < end);
        return (is_slow ? 5e8 : 1e9) * (1 + 0.002 * ((7 * a + 5 * b + 3 * way) % 11));
    }
    made::TemporaryFolder folder_;
};

TEST_F(FleetLinks, ASlowNodeOfAFabricHasTheNameItHasInTheFleet) {
    write(team("collective.fabric", list_of_pairs(7, 8)));
    const auto fleet = look();
    ASSERT_THAT(fleet.pairs, SizeIs(1));
    EXPECT_THAT(fleet.pairs[0].nodes, ElementsAre("gpu07"));
    EXPECT_THAT(fleet.pairs[0].groups, IsEmpty());
    EXPECT_THAT(fleet.pairs[0].says, Contains(HasSubstr("gpu07 slows all its pairs")));
}

TEST_F(FleetLinks, TheNewestCounts) {
    write(team("collective.fabric", list_of_pairs(7, 8)));
    auto repaired = team("collective.fabric", list_of_pairs(0, 0));
    repaired.id = "later";
    repaired.started = "2026-02-02T12:00:00Z";
    repaired.ended = "2026-02-02T12:10:00Z";
    write(repaired);
    EXPECT_THAT(look().pairs, IsEmpty());
}

TEST_F(FleetLinks, AMachineThatHandedInNothingKeepsTheNameItHasInItsRun) {
    auto run = team("collective.fabric", list_of_pairs(7, 8));
    run.hosts[7].machine.id = "m-unknown";
    write(run);
    const auto fleet = look();
    ASSERT_THAT(fleet.pairs, SizeIs(1));
    EXPECT_THAT(fleet.pairs[0].nodes, ElementsAre("node7"));
}

} // namespace
} // namespace assay::fleet
