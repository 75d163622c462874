// SPDX-License-Identifier: Apache-2.0
//
// What is said of a fabric: names of people's hosts and switches, how sure, and what was not measured.

#include "report/pairs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

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
                ElementsAre(Field(&Finding::what,
                                  AllOf(HasSubstr("All 66 pairs of 12 nodes were measured."),
                                        HasSubstr("as fast as one at a time")))));
}

TEST(Fabrics, ASlowNodeHasItsOwnNameAndIsSlowAloneAsWell) {
    Fabric fabric;
    fabric.slow(7, 1.5);
    EXPECT_THAT(fabric.said(),
                ElementsAre(AllOf(HasSubstr("gpu7 slows all its pairs"), HasSubstr("(p < 0.0001)"),
                                  HasSubstr("nobody else plays, too"))));
}

TEST(Fabrics, ASwitchThatBlocksIsNamedInsteadOfItsNodes) {
    Fabric fabric;
    for (int node = 4; node < 8; ++node) fabric.slow(node, 1.5, 2); // at once alone
    EXPECT_THAT(fabric.said(), ElementsAre(AllOf(HasSubstr("switch leaf1 slows"),
                                                 HasSubstr("something shared blocks"))));
    const auto slow = slow_in_fabric(fabric.run.cases[0], fabric.table());
    EXPECT_THAT(slow.groups, ElementsAre("switch leaf1"));
    EXPECT_THAT(slow.nodes, IsEmpty());
}

TEST(Fabrics, WhoWasNotMeasuredIsNamed) {
    Fabric fabric{12, 2};
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&Finding::what, HasSubstr("Never measured, and so not known to be "
                                                         "good: gpu12 and gpu13"))));
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&Finding::what, HasSubstr("66 of 91 pairs of 14 nodes"))));
}

TEST(Fabrics, WithTooFewPairsNothingIsCalledAndThatIsSaid) {
    Fabric fabric{3};
    fabric.slow(1, 5);
    EXPECT_THAT(fabric.said(), IsEmpty());
    EXPECT_THAT(find_in_fabrics(fabric.run),
                Contains(Field(&Finding::what, HasSubstr("Too few pairs"))));
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
