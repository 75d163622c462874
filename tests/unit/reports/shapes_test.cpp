// SPDX-License-Identifier: Apache-2.0
//
// What is said of curves that break and of slow pairs, nodes and switches: how sure, and what was not measured.

#include "document/words.hpp"
#include "rendered.hpp"
#include "report/curves.hpp"
#include "report/pairs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

namespace assay::report {
namespace {

using namespace testing;
using record::Case;

/// 8 B to 64 MiB; the rate drops by a fifth beyond 4 MiB, and each message from 128 KiB on waits.
record::Run broken_sweep(const std::string& benchmark) {
    record::Run run;
    for (std::int64_t bytes = 8; bytes <= std::int64_t{64} << 20U; bytes *= 2) {
        const auto size = static_cast<double>(bytes);
        const double seconds =
            2e-6 + size / (bytes > 4 << 20 ? 8e9 : 10e9) + (bytes > 64 << 10 ? 20e-6 : 0);
        run.cases.push_back(
            test::case_of(benchmark, "mpi", {{"bytes", bytes}}, "bus_bandwidth", size / seconds));
    }
    return run;
}

TEST(Shapes, OfMessagesAreSaidWithTheirSizes) {
    const auto found = find_shapes(find_curves(broken_sweep("collective.allreduce")).charts);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_THAT(found[0].what, AllOf(HasSubstr("collective.allreduce"), HasSubstr("8 MiB")));
    EXPECT_EQ(found[0].severity, document::Severity::caution);
    EXPECT_THAT(found[1].what, AllOf(HasSubstr("64 KiB"), HasSubstr("128 KiB")));
    const auto report = make_report(broken_sweep("collective.allreduce"));
    EXPECT_TRUE(std::ranges::any_of(report.findings, [&](const document::Finding& finding) {
        return finding.what == found[0].what;
    }));
}

TEST(Shapes, OfWorkingSetsMayFall) {
    EXPECT_THAT(find_shapes(find_curves(broken_sweep("memory.stream")).charts), IsEmpty());
}

record::Table pairs(std::size_t nodes) {
    record::Table table{.metric = "latency", .unit = "s", .row_title = "core"};
    for (std::size_t i = 0; i < nodes; ++i) table.rows.push_back(std::to_string(i));
    table.columns = table.rows;
    for (std::size_t i = 0; i < nodes * nodes; ++i)
        table.values.emplace_back(1e-7 * (1 + 0.01 * std::sin(static_cast<double>(i * i))));
    return table;
}

TEST(SlowPairs, AreNamedBelowTheirMap) {
    auto table = pairs(8);
    table.values[2 * 8 + 5] = table.values[5 * 8 + 2] = 2e-7;
    table.values[6 * 8 + 1] = 1.4e-7;
    for (std::size_t i = 0; i < 8; ++i) table.values[i * 8 + i] = std::nullopt;
    Case c{.benchmark = "memory.core_to_core", .status = record::Status::ok};
    const auto said = slow_pairs(c, table);
    ASSERT_THAT(said, SizeIs(Ge(2)));
    EXPECT_THAT(said[0], AllOf(HasSubstr("2 to 5"), HasSubstr("is slow")));
    EXPECT_THAT(said.back(), HasSubstr("6 → 1"));
    c.tables.push_back(table);
    EXPECT_EQ(heat_maps(c).front().slow, said);
    // Replicas that differ by half say that nobody knows.
    for (const double factor : {0.7, 1.0, 1.6}) {
        auto own = table;
        for (auto& value : own.values)
            if (value) value = *value * factor;
        c.replicas.push_back({.tables = {own}});
    }
    EXPECT_THAT(slow_pairs(c, table), IsEmpty());
}

TEST(SlowPairs, OfHostsAreFindings) {
    auto table = pairs(8);
    table.metric = "bandwidth";
    table.row_title = "from";
    for (std::size_t i = 0; i < 8; ++i) {
        table.rows[i] = table.columns[i] = "node" + std::to_string(i);
        for (const std::size_t cell : {3 * 8 + i, i * 8 + 3})
            table.values[cell] = *table.values[cell] / 20;
    }
    for (std::size_t i = 0; i < 8; ++i) table.values[i * 8 + i] = std::nullopt;
    record::Run run;
    run.cases.push_back({.benchmark = "collective.pairs", .status = record::Status::ok});
    run.cases.back().tables.push_back(table);
    const auto found = find_slow_pairs(run);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, AllOf(HasSubstr("collective.pairs"),
                                     HasSubstr("node3 slows all its pairs: 20 times slower.")));
    run.cases.back().benchmark = "latency.core_to_core";
    EXPECT_THAT(find_slow_pairs(run), IsEmpty()) << "a core is not exchanged";
}

TEST(SlowPairs, OfOtherTablesAreNone) {
    auto table = pairs(8);
    table.columns.back() = "another";
    EXPECT_THAT(slow_pairs({}, table), IsEmpty());
    table = pairs(8);
    table.values.pop_back();
    EXPECT_THAT(slow_pairs({}, table), IsEmpty());
    EXPECT_THAT(slow_pairs({}, record::Table{}), IsEmpty());
}

/// Every pair of 12 hosts in three switches, at 1 GB/s with a little noise.
struct Fabric {
    record::Run run;
    explicit Fabric(int hosts = 12, int silent = 0) {
        auto& c = run.cases.emplace_back();
        c.benchmark = "collective.fabric";
        std::string names;
        std::string switches;
        for (int i = 0; i < hosts + silent; ++i) {
            names += fmt::format("{}gpu{}:1", i == 0 ? "" : " ", i);
            switches += fmt::format("{}leaf{}", i == 0 ? "" : " ", i / 4);
        }
        c.settings = {{"job.hosts", names}, {"job.groups.switch", switches}};
        auto& table = c.tables.emplace_back();
        table.metric = "bandwidth";
        table.unit = "B/s";
        table.row_title = "pair";
        table.columns = {"there", "back", "there alone", "back alone"};
        for (int a = 0; a < hosts; ++a)
            for (int b = a + 1; b < hosts; ++b) {
                table.rows.push_back(fmt::format("node{} to node{}", a, b));
                for (int way = 0; way < 4; ++way)
                    table.values.emplace_back(1e9 * (1 + 0.002 * ((7 * a + 5 * b + 3 * way) % 11)));
            }
    }
    record::Table& table() { return run.cases[0].tables[0]; }
    void slow(int node, double factor, int ways = 4) {
        for (std::size_t row = 0; row < table().rows.size(); ++row)
            if (const auto& label = table().rows[row] + " ";
                label.find(fmt::format("node{} ", node)) != label.npos)
                for (int way = 0; way < ways; ++way)
                    *table().values[row * 4 + static_cast<std::size_t>(way)] /= factor;
    }
    std::vector<std::string> said() { return slow_in_fabric(run.cases[0], table()).says; }
};

TEST(Fabrics, OfWhichNothingIsSlowSayNothing) {
    Fabric fabric;
    EXPECT_THAT(fabric.said(), IsEmpty());
    EXPECT_THAT(find_in_fabrics(fabric.run),
                ElementsAre(Field(&document::Finding::what,
                                  AllOf(HasSubstr("All 66 pairs of 12 nodes were measured."),
                                        HasSubstr("as fast as one pair at a time")))));
}

TEST(Fabrics, ASlowNodeHasItsOwnNameAndIsSlowAloneAsWell) {
    Fabric fabric;
    fabric.slow(7, 1.5);
    EXPECT_THAT(fabric.said(),
                ElementsAre(AllOf(HasSubstr("gpu7 slows all its pairs"), HasSubstr("(p < 0.0001)"),
                                  HasSubstr("also slow when no other pair"))));
}

TEST(Fabrics, ASwitchThatBlocksIsNamedInsteadOfItsNodes) {
    Fabric fabric;
    for (int node = 4; node < 8; ++node) fabric.slow(node, 1.5, 2); // at once alone
    EXPECT_THAT(fabric.said(), ElementsAre(AllOf(HasSubstr("switch leaf1 slows"),
                                                 HasSubstr("a shared link is congested"))));
    const auto slow = slow_in_fabric(fabric.run.cases[0], fabric.table());
    EXPECT_THAT(slow.groups, ElementsAre("switch leaf1"));
    EXPECT_THAT(slow.nodes, IsEmpty());
}

TEST(Fabrics, WhoWasNotMeasuredIsNamed) {
    Fabric fabric{12, 2};
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&document::Finding::what,
                               HasSubstr("not known to be good: gpu12 and gpu13"))));
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&document::Finding::what, HasSubstr("66 of 91 pairs of 14 nodes"))));
}

TEST(Fabrics, WithTooFewPairsNothingIsCalledAndThatIsSaid) {
    Fabric fabric{3};
    fabric.slow(1, 5);
    EXPECT_THAT(fabric.said(), IsEmpty());
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&document::Finding::what, HasSubstr("Too few pairs"))));
}

TEST(Fabrics, TheMapHasACellForEachPairOfNodes) {
    Fabric fabric{12, 1};
    std::size_t merged = 0;
    const auto map = map_of_pairs(fabric.run.cases[0], fabric.table(), merged);
    EXPECT_EQ(merged, 1U);
    ASSERT_EQ(map.rows.size(), 13U);
    EXPECT_EQ(map.rows[12], "gpu12");
    EXPECT_EQ(map.values[0 * 13 + 1], fabric.table().values[0]);
    EXPECT_EQ(map.values[1 * 13 + 0], fabric.table().values[1]);
    EXPECT_FALSE(map.values[12]);
    EXPECT_EQ(map_of_pairs(Fabric{100}.run.cases[0], Fabric{100}.table(), merged).rows.size(), 50U);
    EXPECT_EQ(merged, 2U);
}

TEST(Fabrics, StrangeListsAreSurvived) {
    Fabric fabric;
    fabric.table().rows[0] = "node0";
    fabric.table().rows[1] = "node99999999999999999999 to node0";
    fabric.table().rows[2] = "a to a";
    fabric.table().values[5] = -1;
    fabric.run.cases[0].settings[1].value = std::string{"-"};
    EXPECT_NO_THROW(find_in_fabrics(fabric.run));
    fabric.run.cases[0].settings.clear();
    EXPECT_NO_THROW(find_in_fabrics(fabric.run));
    fabric.table().values.pop_back();
    EXPECT_FALSE(is_list_of_pairs(fabric.table()));
}

} // namespace
} // namespace assay::report
