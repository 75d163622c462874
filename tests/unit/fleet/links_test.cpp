// SPDX-License-Identifier: Apache-2.0
//
// Who slows whom, through files: a fabric or a matrix of pairs beside the runs of its nodes.

#include "fleet_maker.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

    /// Of all hosts, with one case that has this table.
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
    static record::Table matrix(int slow) {
        record::Table table{.metric = "bandwidth",
                            .unit = "B/s",
                            .row_title = "from",
                            .column_title = "to",
                            .rows = {},
                            .columns = {},
                            .values = {}};
        for (int a = 0; a < hosts; ++a) {
            table.rows.push_back(fmt::format("node{}", a));
            for (int b = 0; b < hosts; ++b)
                table.values.push_back(a == b ? std::nullopt
                                              : std::optional{value(a, b, 0, slow, slow + 1)});
        }
        table.columns = table.rows;
        return table;
    }
    Fleet look() {
        auto runs = collect({folder_.path().string()}, collecting_for_fleet({}));
        EXPECT_TRUE(runs);
        auto fleet = make_fleet(std::move(*runs), test::fleet_options());
        EXPECT_TRUE(fleet);
        return std::move(*fleet);
    }
    void write(const record::Run& run) {
        const auto path = folder_.path() / run.id / "run.json";
        std::filesystem::create_directories(path.parent_path());
        EXPECT_TRUE(record::write_run(path, run));
    }

private:
    static double value(int a, int b, int way, int slow, int end) {
        const bool is_slow = (a >= slow && a < end) || (b >= slow && b < end);
        return (is_slow ? 5e8 : 1e9) * (1 + 0.002 * ((7 * a + 5 * b + 3 * way) % 11));
    }
    harness::made::TemporaryFolder folder_;
};

TEST_F(FleetLinks, ASlowNodeOfAFabricHasTheNameItHasInTheFleet) {
    write(team("collective.fabric", list_of_pairs(7, 8)));
    const auto fleet = look();
    ASSERT_THAT(fleet.pairs, SizeIs(1));
    EXPECT_THAT(fleet.pairs[0].nodes, ElementsAre("gpu07"));
    EXPECT_THAT(fleet.pairs[0].groups, IsEmpty());
    EXPECT_THAT(fleet.pairs[0].says, Contains(HasSubstr("gpu07 slows all its pairs")));
}

TEST_F(FleetLinks, ASwitchIsNamedInsteadOfItsNodes) {
    write(team("collective.fabric", list_of_pairs(4, 8)));
    const auto fleet = look();
    ASSERT_THAT(fleet.pairs, SizeIs(1));
    EXPECT_THAT(fleet.pairs[0].groups, ElementsAre("switch leaf1"));
    EXPECT_THAT(fleet.pairs[0].nodes, IsEmpty());
}

TEST_F(FleetLinks, OfAMatrixAsWell) {
    write(team("collective.pairs", matrix(3)));
    const auto fleet = look();
    ASSERT_THAT(fleet.pairs, SizeIs(1));
    EXPECT_THAT(fleet.pairs[0].nodes, ElementsAre("gpu03"));
    EXPECT_THAT(fleet.pairs[0].says, Contains(HasSubstr("gpu03 slows all its pairs")));
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
} // namespace assay::report
