// SPDX-License-Identifier: Apache-2.0

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "fleet/document.hpp"
#include "fleet_maker.hpp"
#include "support/document.hpp"
#include "support/results.hpp"
#include "support/schema.hpp"
#include "write/formats.hpp"

#include <gmock/gmock.h>

namespace assay::fleet {
namespace {

using test::fleet_options;
using test::node_of;
using test::SweepMaker;
using namespace testing;

Fleet fleet_of(SweepMaker& maker, const FleetOptions& options = fleet_options()) {
    return must(make_fleet(std::move(maker.collection()), options));
}

/// 40 nodes: n12 is slow in the first item and was measured again, n33 is slow and was not, n05 was unlucky once.
SweepMaker usual(bool all = false) {
    SweepMaker maker;
    const test::Slower slower = [](int node, int item, int run) {
        if (item != 0) return 1.0;
        if (node == 12 || node == 33) return 1 / 0.8;
        return node == 5 && run == 0 ? 1 / 0.9 : 1.0;
    };
    for (int node = 0; node < 40; ++node)
        if (all || (node != 7 && node != 31)) maker.run(node, 0, slower);
    for (int run = 1; run <= 3; ++run)
        for (const int node : {5, 12}) maker.run(node, run, slower);
    return maker;
}

TEST(FleetTest, AnswersFirst) {
    auto maker = usual();
    auto options = fleet_options(expand_nodes("n[00-39]").value());
    const auto fleet = fleet_of(maker, options);
    const auto answer = answer_of(fleet);
    EXPECT_EQ(
        answer[0],
        "1 node is slow, confirmed by retests: n12 (Memory −20% against the fleet median). 1 of 38 "
        "nodes has a low value and must be retested; chance alone flags about 1. 38 of 40 nodes "
        "reported; missing: n07 and n31.");
    EXPECT_EQ(node_of(fleet, "n07").state, NodeState::missing);
    EXPECT_EQ(node_of(fleet, "n33").state, NodeState::again) << "one value accuses nobody";
    EXPECT_TRUE(has_slow(fleet));
    EXPECT_TRUE(is_open(fleet));
    EXPECT_EQ(fleet.nodes.front().name, "n12") << "the worst first";
}

TEST(FleetTest, RetestsDecideAndTheFirstValueDoesNotCount) {
    auto maker = usual(true);
    const auto fleet = fleet_of(maker);
    const auto& slow = node_of(fleet, "n12");
    ASSERT_THAT(slow.suspects, Not(IsEmpty()));
    EXPECT_TRUE(slow.suspects[0].slow);
    EXPECT_EQ(slow.suspects[0].replicas, 9U);
    EXPECT_EQ(slow.suspects[0].runs, 3U);
    const auto& unlucky = node_of(fleet, "n05");
    ASSERT_THAT(unlucky.suspects, Not(IsEmpty()));
    EXPECT_TRUE(unlucky.suspects[0].decided);
    EXPECT_FALSE(unlucky.suspects[0].slow);
    EXPECT_LT(unlucky.suspects[0].ratio, 0.92);
    EXPECT_GT(unlucky.suspects[0].again, 0.98);
    EXPECT_NE(unlucky.state, NodeState::slow);
}

TEST(FleetTest, EightReplicasOrTwoRunsAreNotEnough) {
    SweepMaker maker;
    const test::Slower slower = [](int node, int item, int) {
        return node == 3 && item == 0 ? 1 / 0.8 : 1.0;
    };
    maker.sweep(20, slower);
    maker.run(3, 1, slower);
    maker.run(3, 2, slower);
    const auto fleet = fleet_of(maker);
    const auto& node = node_of(fleet, "n03");
    ASSERT_THAT(node.suspects, Not(IsEmpty()));
    EXPECT_EQ(node.suspects[0].replicas, 6U);
    EXPECT_EQ(node.state, NodeState::again);
    EXPECT_THAT(next_of(fleet, node), AllOf(HasSubstr("assay run quick --only memory.stream"),
                                            HasSubstr("--tag node=n03")));
}

TEST(FleetTest, NamesWhatIsMissingAndWhoIsForeign) {
    SweepMaker maker;
    for (int node = 0; node < 8; ++node) {
        maker.run(node, 0, {});
        if (node == 2) maker.collection().observations.pop_back();
        if (node == 3) {
            auto& last = maker.collection().observations.back();
            last.value.reset();
            last.status = record::Status::crashed;
        }
        if (node == 4) maker.collection().observations.back().status = record::Status::incorrect;
    }
    const auto fleet = fleet_of(maker, fleet_options(expand_nodes("n[00-06]").value()));
    EXPECT_EQ(node_of(fleet, "n02").state, NodeState::partial);
    ASSERT_THAT(node_of(fleet, "n02").missing, SizeIs(1));
    EXPECT_TRUE(node_of(fleet, "n02").missing[0].absent);
    ASSERT_THAT(node_of(fleet, "n03").missing, SizeIs(1));
    EXPECT_EQ(node_of(fleet, "n03").missing[0].status, record::Status::crashed);
    EXPECT_EQ(node_of(fleet, "n04").state, NodeState::wrong);
    EXPECT_FALSE(node_of(fleet, "n07").expected);
    EXPECT_THAT(answer_of(fleet)[1], HasSubstr("1 node was not expected: n07"));
}

TEST(FleetTest, NamesTheCommandThatMeasuresWhatIsMissing) {
    SweepMaker maker;
    for (int node = 0; node < 8; ++node) {
        maker.run(node, 0, {});
        if (node == 2 || node == 3) maker.collection().observations.pop_back();
        if (node == 3) maker.collection().runs.back().partial = true;
    }
    const auto benchmark = maker.collection().series.back().benchmark;
    const auto fleet = fleet_of(maker, fleet_options(expand_nodes("n[00-09]").value()));
    const auto next = [&](const char* name) { return next_of(fleet, node_of(fleet, name)); };
    // A run that reached its end has nothing to resume.
    EXPECT_THAT(next("n02"), AllOf(HasSubstr("assay run"), HasSubstr("--only " + benchmark),
                                   Not(HasSubstr("--resume"))));
    EXPECT_THAT(next("n03"), AllOf(HasSubstr("assay run"), HasSubstr("--resume")));
    EXPECT_THAT(next("n09"), AllOf(HasSubstr("assay run"), HasSubstr("n09")));
    EXPECT_EQ(next("n00"), "");
}

TEST(FleetTest, FourNodesOfATypeAreNotJudged) {
    SweepMaker maker;
    maker.sweep(4);
    const auto fleet = fleet_of(maker);
    EXPECT_EQ(count_of(fleet, NodeState::not_judged), 4U);
    EXPECT_TRUE(is_open(fleet)) << "absence never passes";
    EXPECT_THAT(answer_of(fleet)[0], HasSubstr("five nodes of one type are needed"));
}

/// 30 nodes that have the same to be done are one row with one command, which asks all of them; names are ranges.
TEST(FleetTest, NodesWithTheSameCommandAreOneRow) {
    SweepMaker maker;
    maker.sweep(60, [](int node, int item, int) {
        return node >= 40 && item == 0 ? 1 / (node == 50 ? 0.8 : 0.85) : 1.0;
    });
    const auto fleet = fleet_of(maker, fleet_options(expand_nodes("n[00-79]").value()));
    const auto groups = groups_of(fleet);
    ASSERT_THAT(groups, SizeIs(2));
    EXPECT_EQ(groups[0].front()->state, NodeState::missing);
    EXPECT_EQ(groups[1].front()->name, "n50") << "the slowest first";
    const auto document = make_document(fleet);
    const auto tables = test::blocks_of<document::Table>(document);
    ASSERT_THAT(tables.at(0).rows, SizeIs(2));
    const auto& missing = tables[0].rows[0].cells;
    EXPECT_EQ(missing[0].text, "n[60-79]");
    EXPECT_THAT(missing[2].notes.at(0), HasSubstr("scripts/sweep --hosts 'n[60-79]'"));
    const auto& again = tables[0].rows[1].cells;
    EXPECT_EQ(again[0].text, "n[40-59]");
    EXPECT_EQ(again[1].detail, "20 nodes");
    EXPECT_THAT(again[2].text, HasSubstr("n50 memory.stream −21%"));
    EXPECT_THAT(
        again[2].notes.at(0),
        MatchesRegex("Retest 3 times: for i in 1 2 3; do scripts/sweep --hosts "
                     "'n\\[40-59\\]' --out .*retest-\\$i quick --only memory.stream; done"));
    // Every node is in a map, which names benchmarks as people do, and in a table that is out of the way.
    const auto charts = test::blocks_of<document::Chart>(document);
    ASSERT_THAT(charts, SizeIs(1));
    EXPECT_THAT(std::get<document::HeatMap>(charts[0].data).columns, ElementsAre("STREAM", "GEMM"));
    const auto text = write::to_terminal({{document}}, {.width = 80});
    for (const auto line : split(text, '\n')) EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_LT(std::ranges::count(text.substr(0, text.find("Low values")), '\n'), 24) << text;
    auto hostile = *groups[1].front(); // files of others, and a command that people paste
    hostile.name = "n; rm -rf ~";
    EXPECT_EQ(command_for(fleet, {&hostile}), "");
    EXPECT_THAT(text, Not(HasSubstr("n05"))) << "a good node";
}

TEST(FleetTest, FaultsOfOneKindAreSaidOnce) {
    SweepMaker maker;
    maker.sweep(6);
    auto fleet = fleet_of(maker);
    fleet.faults.clear();
    for (const char* node : {"n01", "n02", "n03"})
        fleet.faults.push_back({FaultCode::clock_ahead, {node}, {"a file"}});
    const auto findings = test::blocks_of<document::Findings>(make_document(fleet));
    ASSERT_THAT(findings, SizeIs(1));
    ASSERT_THAT(findings[0].findings, SizeIs(1));
    EXPECT_THAT(findings[0].findings[0].what, HasSubstr(": n[01-03]; a file"));
}

/// The rates that are promised: 1% for each item, next to nobody by retests, all bad nodes.
TEST(FleetTest, AccusesAsRarelyAsItSays) {
    constexpr int fleets = 12;
    constexpr int nodes = 40;
    constexpr int items = 8;
    std::size_t screened = 0;
    std::size_t accused = 0;
    std::size_t found = 0;
    for (int fleet = 0; fleet < fleets; ++fleet) {
        SweepMaker maker{items, 100 + static_cast<std::uint64_t>(fleet)};
        const test::Slower slower = [](int node, int item, int) {
            return node == 20 && item == 4 ? 1 / 0.93 : 1.0;
        };
        for (int run = 0; run <= 3; ++run)
            for (int node = 0; node < nodes; ++node) maker.run(node, run, slower);
        const auto made = fleet_of(maker);
        for (const auto& node : made.nodes)
            for (const auto& suspect : node.suspects) {
                const bool is_bad = node.name == "n20" && made.items[suspect.item].name ==
                                                              item_name(SweepMaker::series(4)).name;
                screened += is_bad ? 0 : 1;
                accused += suspect.slow && !is_bad ? 1 : 0;
                found += suspect.slow && is_bad ? 1 : 0;
            }
    }
    const double tests = fleets * nodes * items;
    EXPECT_LT(static_cast<double>(screened) / tests, 0.02);
    EXPECT_GT(static_cast<double>(screened) / tests, 0.002);
    EXPECT_EQ(accused, 0U);
    EXPECT_EQ(found, static_cast<std::size_t>(fleets));
}

TEST(FleetTest, JsonObeysItsSchemaAndCsvHasEveryNode) {
    auto maker = usual();
    const auto fleet = fleet_of(maker, fleet_options(expand_nodes("n[00-39]").value()));
    EXPECT_EQ(test::broken(to_json(fleet, 3), "fleet"), "");
    const auto value = json::parse(to_json(fleet, 3), "fleet").value();
    EXPECT_EQ(value["counts"]["missing"], 2);
    EXPECT_EQ(value["nodes"].size(), 40U);
    const auto csv = to_csv(fleet);
    EXPECT_THAT(csv, AllOf(HasSubstr("n12,slow,c7a.large,true,memory.stream,0.8"),
                           HasSubstr("n07,missing,,true,,,0,0")));
}

} // namespace
} // namespace assay::fleet
