// SPDX-License-Identifier: Apache-2.0
//
// Which limits apply to a node, and the verdict of each of its parts.

#include "judge/words.hpp"
#include "measured_node.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using test::MeasuredNode;
using test::of_memory;
using test::of_products;

TEST(Node, LimitsAreOfWhatTheNodeHas) {
    // Without a device of this kind, or with one of another, nobody misses the products.
    MeasuredNode node;
    node.add(test::triad(), 110e9);
    const Limits both{.limits = {of_memory(), of_products()}};
    EXPECT_EQ(node.judged(both).outcome, Outcome::pass);
    node.machine().devices = {{.kind = "hip", .name = "made up"}};
    EXPECT_EQ(node.judged(both).outcome, Outcome::pass);
    node.machine().devices = {{.kind = "cuda", .name = "made up"}};
    EXPECT_EQ(node.judged(both).outcome, Outcome::inconclusive);
}

TEST(Node, TheClosestOfTwoLimitsApplies) {
    auto any = of_products(2e12);
    any.id = "any";
    any.machine = {{"device", "*"}};
    auto named = of_products(1e12);
    named.id = "named";
    named.machine = {{"device", "made*"}};
    const auto judged = [&](const std::string& name) {
        MeasuredNode node;
        node.machine().devices = {{.kind = "cuda", .name = name}};
        node.add(test::on_device(test::gemm("cuda", 1024), 0), 1.5e12);
        return node.judged(Limits{.limits = {any, named}});
    };
    EXPECT_EQ(judged("made up").outcome, Outcome::pass);
    EXPECT_EQ(judged("made up").nodes[0].required, 1U);
    EXPECT_EQ(judged("another").outcome, Outcome::fail);
}

TEST(Node, ALimitWithoutMetricIsOfThePrimaryOne) {
    MeasuredNode node;
    node.add(test::triad(), 110e9);
    auto rate = test::triad();
    rate.metric = "flop_rate";
    rate.unit = "FLOP/s";
    rate.is_headline = false;
    node.add(rate, 9e9);
    const auto all = node.judged(of_memory());
    EXPECT_EQ(all.outcome, Outcome::pass);
    EXPECT_EQ(all.nodes[0].checks.size(), 1U);
}

TEST(Node, HasAVerdictForEachPart) {
    const auto judged = [](PartChoice part) {
        MeasuredNode node;
        node.machine().devices = {{.kind = "cuda", .index = 0, .name = "made up"},
                                  {.kind = "cuda", .index = 1, .name = "made up"}};
        node.add(test::triad(), 110e9);
        node.add(test::on_device(test::gemm("cuda", 1024), 0), 1.5e12);
        node.add(test::on_device(test::gemm("cuda", 1024), 1), 0.5e12);
        return node.judged(Limits{.limits = {of_memory(), of_products()}}, part);
    };
    const auto all = judged(PartChoice::all);
    ASSERT_EQ(all.nodes[0].parts.size(), 3U);
    EXPECT_EQ(all.nodes[0].parts[0].part, "cuda:0");
    EXPECT_EQ(all.nodes[0].parts[0].outcome, Outcome::pass);
    EXPECT_EQ(all.nodes[0].parts[1].outcome, Outcome::fail);
    EXPECT_EQ(all.nodes[0].parts[2].part, "host");
    EXPECT_EQ(parts_in_words(all.nodes[0]), "cuda:0 PASS, cuda:1 FAIL, host PASS");
    EXPECT_EQ(judged(PartChoice::host).outcome, Outcome::pass);
    EXPECT_EQ(judged(PartChoice::host).nodes[0].required, 1U);
    EXPECT_EQ(judged(PartChoice::devices).nodes[0].required, 2U);
}

/// A run of a machine with one device, which reaches this rate.
void run_with(test::CollectionMaker& maker, const std::string& machine, const std::string& uuid,
              double hour, double value) {
    const auto run = maker.run({.machine = machine});
    auto& all = maker.collection();
    all.runs[run].started_seconds = 3600 * hour;
    auto& found = all.machines[all.runs[run].machine];
    found.virtualization = "none";
    found.devices = {{.kind = "cuda", .uuid = uuid, .name = "made up"}};
    std::vector<double> replicas;
    for (int k = -2; k <= 2; ++k) replicas.push_back(value * (1 + (0.002 * k)));
    auto& seen = maker.observe(run, test::on_device(test::gemm("cuda", 1024), 0), replicas);
    seen.between_replicas = 0.01;
    seen.degrees = 6;
    seen.events = 0;
    seen.verified = true;
}
Outcome outcome_of(test::CollectionMaker& maker, const std::string& machine) {
    const auto all =
        judge(maker.collection(), {.limits = {of_products()}}, {.now = test::day_of_judgement})
            .value();
    for (const auto& node : all.nodes)
        if (all.collection.machines[node.machine].id == machine) return node.outcome;
    return Outcome::error;
}

TEST(Node, AFailureOfADeviceFollowsIt) {
    test::CollectionMaker maker;
    run_with(maker, "m-1", "GPU-bad", 1, 0.5e12);
    run_with(maker, "m-1", "GPU-new", 2, 1.5e12);
    EXPECT_EQ(outcome_of(maker, "m-1"), Outcome::pass); // another device in its place
    run_with(maker, "m-2", "GPU-other", 1, 1.5e12);
    EXPECT_EQ(outcome_of(maker, "m-2"), Outcome::pass);
    run_with(maker, "m-2", "GPU-bad", 3, 1.5e12);
    EXPECT_EQ(outcome_of(maker, "m-2"), Outcome::fail); // it has the one that failed elsewhere
    EXPECT_EQ(outcome_of(maker, "m-1"), Outcome::pass);
}

} // namespace
} // namespace assay::report
