// SPDX-License-Identifier: Apache-2.0
//
// Campaigns: retests add up, repairs begin anew, waivers, neighbours, fleets.

#include "judge/judge.hpp"
#include "support/collection_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

namespace assay::judge {
namespace {

using test::CollectionMaker;

/// Runs of one machine, each of five replicas about `value`; the judge sees what an acceptance run records.
class Campaign {
public:
    explicit Campaign(std::string machine = "m-1", std::string virtualization = "none")
        : machine_{std::move(machine)}, virtualization_{std::move(virtualization)} {}

    Campaign& run(double value, double noise = 0.002, const std::string& repair = "") {
        values_.push_back(value);
        noises_.push_back(noise);
        repairs_.push_back(repair);
        return *this;
    }
    void into(CollectionMaker& maker) const {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const auto number = maker.run(
                {.machine = machine_, .started = fmt::format("2026-01-31T{:02}:00:00Z", i)});
            std::vector<double> replicas;
            for (int k = -2; k <= 2; ++k) replicas.push_back(values_[i] * (1 + noises_[i] * k));
            maker.observe(number, test::triad(), replicas);
            auto& all = maker.collection();
            all.runs[number].started_seconds = 7200.0 * static_cast<double>(i);
            if (!repairs_[i].empty()) all.runs[number].tags = {{"repair", repairs_[i]}};
            all.machines[all.runs[number].machine].virtualization = virtualization_;
            auto& seen = all.observations.back();
            seen.between_replicas = 0.01;
            seen.between_runs = 0.005;
            seen.degrees = 6;
            seen.events = 0;
            seen.verified = true;
        }
    }
    Judgement judged(const Limits& limits) const {
        CollectionMaker maker;
        into(maker);
        return *judge(maker.collection(), limits, {.now = 1.77e9});
    }

private:
    std::string machine_;
    std::string virtualization_;
    std::vector<double> values_;
    std::vector<double> noises_;
    std::vector<std::string> repairs_;
};

Limits limits(std::vector<Waiver> waivers = {}) {
    return {.limits = {{.id = "triad",
                        .cases = {{"benchmark", "memory.stream"}},
                        .unit = "B/s",
                        .at_least = 100e9,
                        .source = "s"}},
            .waivers = std::move(waivers)};
}
Judgement judged(CollectionMaker& maker, JudgeOptions options = {}) {
    options.now = 1.77e9;
    return judge(maker.collection(), limits(), options).value();
}
const Check& only(const Judgement& all) { return all.nodes.at(0).checks.at(0); }

TEST(Judge, DecidesByDistance) {
    EXPECT_EQ(Campaign{}.run(110e9).judged(limits()).outcome, Outcome::pass);
    const auto slow = Campaign{}.run(90e9).judged(limits());
    EXPECT_EQ(slow.outcome, Outcome::fail);
    EXPECT_EQ(only(slow).cause, Cause::below_limit);
    EXPECT_EQ(only(slow).action, Action::isolate);
    EXPECT_EQ(severity_of(only(slow).outcome, only(slow).action), CheckSeverity::critical);
    EXPECT_EQ(severity_of(Outcome::fail, Action::reset), CheckSeverity::high);
    EXPECT_EQ(only(slow).bound, 100e9);
    EXPECT_NEAR(*only(slow).value, 90e9, 1e8);
    EXPECT_EQ(slow.nodes[0].required, 1U);
    EXPECT_EQ(slow.nodes[0].ran, 1U);
    const auto near = Campaign{}.run(100.5e9).judged(limits());
    EXPECT_EQ(near.outcome, Outcome::inconclusive);
    const auto open = Campaign{}.run(101.2e9).judged(limits());
    EXPECT_EQ(only(open).cause, Cause::undecided);
    EXPECT_GT(*only(open).repeats, 5U);
    // The same distance below takes more: an accusation is held to a stricter level than a PASS.
    bool is_stricter = false;
    for (const double factor : {1.008, 1.009, 1.01, 1.011, 1.012, 1.013, 1.014}) {
        const auto above = Campaign{}.run(100e9 * factor).judged(limits());
        const auto below = Campaign{}.run(100e9 / factor).judged(limits());
        if (only(above).cause != Cause::undecided) continue;
        EXPECT_TRUE(!only(below).repeats || *only(below).repeats >= *only(above).repeats);
        is_stricter |= !only(below).repeats || *only(below).repeats > *only(above).repeats;
    }
    EXPECT_TRUE(is_stricter);
}

TEST(Judge, WarnsNearALimit) {
    auto near = limits();
    near.limits[0].warn_at_least = 120e9;
    const auto warned = Campaign{}.run(110e9).judged(near);
    EXPECT_EQ(warned.outcome, Outcome::warn);
    EXPECT_EQ(only(warned).cause, Cause::near_limit);
    EXPECT_EQ(Campaign{}.run(130e9).judged(near).outcome, Outcome::pass);
    Limits most{.limits = {{.id = "triad",
                            .cases = {{"benchmark", "memory.stream"}},
                            .unit = "B/s",
                            .at_most = 100e9,
                            .warn_at_most = 80e9,
                            .source = "s"}}};
    EXPECT_EQ(only(Campaign{}.run(90e9).judged(most)).cause, Cause::near_limit);
    EXPECT_EQ(Campaign{}.run(70e9).judged(most).outcome, Outcome::pass);
}

TEST(Judge, HoldsAMachineAgainstWhatItsRunExpected) {
    const auto expecting = [](const std::string& expected) {
        CollectionMaker maker;
        Campaign{}.run(110e9).into(maker);
        maker.collection().runs[0].gates =
            record::Gates{.expected = {expected}, .time_limit_seconds = {}, .stages = {}};
        return judged(maker);
    };
    EXPECT_EQ(expecting("gpu=0").outcome, Outcome::pass);
    const auto lacks = expecting("gpu=8");
    EXPECT_EQ(lacks.outcome, Outcome::fail);
    EXPECT_EQ(only(lacks).cause, Cause::part_missing);
    EXPECT_EQ(only(lacks).detail, "gpu=0");
    // A fact of a later version: nobody knows whether it holds.
    EXPECT_EQ(expecting("flux_capacitor=1").outcome, Outcome::inconclusive);
}

TEST(Judge, AFailureStaysUntilARepair) {
    const auto all = Campaign{}.run(90e9).run(110e9).run(110e9).judged(limits());
    EXPECT_EQ(all.outcome, Outcome::fail);
    EXPECT_EQ(only(all).runs, 3U);
    // Good runs before help neither to pass nor against failing, however many there were.
    const auto since = Campaign{}.run(110e9).run(110e9).run(99e9).judged(limits());
    EXPECT_EQ(since.outcome, Outcome::inconclusive);
    EXPECT_NEAR(*only(since).value, 99e9, 1e8);
    EXPECT_EQ(Campaign{}.run(110e9).run(99e9).run(110e9).judged(limits()).outcome, Outcome::pass);
    Campaign broken;
    for (int i = 0; i < 12; ++i) broken.run(110e9);
    EXPECT_EQ(broken.judged(limits()).outcome, Outcome::pass);
    broken.run(80e9);
    EXPECT_EQ(broken.judged(limits()).outcome, Outcome::fail);
    EXPECT_NEAR(*only(broken.judged(limits())).value, 80e9, 1e8);
    broken.run(110e9);
    const auto later = broken.judged(limits());
    EXPECT_EQ(later.outcome, Outcome::fail);
    // Only a recorded repair begins anew.
    const auto repaired =
        Campaign{}.run(90e9).run(110e9, 0.002, "DIMM B2 replaced").run(110e9).judged(limits());
    EXPECT_EQ(repaired.outcome, Outcome::pass);
    EXPECT_EQ(repaired.nodes[0].before_repair, 1U);
    EXPECT_EQ(repaired.nodes[0].repair, "DIMM B2 replaced");
    EXPECT_EQ(only(repaired).runs, 2U);
}

/// A run of these replicas of triad; those marked are disturbed from outside.
Judgement judged_run(const std::vector<double>& values, const std::vector<bool>& disturbed,
                     const std::vector<bool>& throttled = {}, record::Status status = {}) {
    CollectionMaker maker;
    Campaign{}.run(110e9).into(maker);
    auto& seen = maker.collection().observations.back();
    seen.status = status;
    seen.replicas.clear();
    for (std::size_t i = 0; i < values.size(); ++i)
        seen.replicas.push_back({.index = static_cast<int>(i),
                                 .value = values[i],
                                 .disturbed = i < disturbed.size() && disturbed[i],
                                 .throttled = i < throttled.size() && throttled[i]});
    seen.value = values.front();
    return judged(maker);
}

TEST(Judge, PassesByTwoReplicasThatClearTheLimit) {
    EXPECT_EQ(judged_run({120e9, 121e9}, {}).outcome, Outcome::pass);
    EXPECT_EQ(only(judged_run({120e9}, {})).cause, Cause::too_few_replicas);
    EXPECT_EQ(only(judged_run({120e9}, {})).repeats, 2U);
    // Also disturbed ones show what the machine can do, and those that something outside slowed say nothing.
    EXPECT_EQ(judged_run({120e9, 121e9}, {true, true}, {}, record::Status::disturbed).outcome,
              Outcome::pass);
    EXPECT_EQ(judged_run({120e9, 121e9, 60e9}, {false, false, true}).outcome, Outcome::pass);
    const auto below = judged_run({60e9, 61e9}, {true, true}, {}, record::Status::disturbed);
    EXPECT_EQ(only(below).cause, Cause::disturbed);
    EXPECT_EQ(below.outcome, Outcome::inconclusive);
    // Undisturbed and below: not by its two best.
    EXPECT_EQ(judged_run({120e9, 121e9, 60e9, 120e9, 61e9}, {}).outcome, Outcome::inconclusive);
}

TEST(Judge, WhatTheNodeDoesToItselfIsNoExcuse) {
    const auto some = judged_run({120e9, 121e9, 119e9}, {}, {true});
    EXPECT_EQ(some.outcome, Outcome::warn);
    EXPECT_EQ(only(some).cause, Cause::throttled);
    const auto all = judged_run({120e9, 121e9, 119e9}, {}, {true, true, true});
    EXPECT_EQ(all.outcome, Outcome::fail);
    EXPECT_EQ(only(all).cause, Cause::overheated);
    EXPECT_EQ(only(all).detail, "3/3");
    EXPECT_EQ(only(all).part, "host");
}

TEST(Judge, NeighboursFailNobodyInOneRun) {
    // 20% slow in one run on a shared host may be anybody's fault.
    const auto one = Campaign{"m-1", "kvm"}.run(80e9).judged(limits());
    EXPECT_EQ(one.outcome, Outcome::inconclusive);
    EXPECT_EQ(only(one).cause, Cause::neighbours);
    EXPECT_EQ(Campaign("m-1", "kvm").run(80e9).run(80e9).run(80e9).judged(limits()).outcome,
              Outcome::fail);
    // Whoever reaches the limit has shown that the machine can.
    EXPECT_EQ(Campaign("m-1", "kvm").run(110e9).judged(limits()).outcome, Outcome::pass);
}

TEST(Judge, NeighboursExcuseWhatWouldHaveFailed) {
    // 2% below the limit: enough to fail an only check, but not one of forty.
    const auto slow = Campaign("m-1", "kvm").run(98e9);
    auto one = limits();
    EXPECT_EQ(only(slow.judged(one)).cause, Cause::neighbours);
    for (int i = 0; i < 39; ++i) {
        one.limits.push_back(one.limits.front());
        one.limits.back().id += std::to_string(i);
    }
    EXPECT_NE(only(slow.judged(one)).cause, Cause::neighbours);
}

TEST(Judge, ReadsWhatTheLimitsAskFor) {
    auto of_mean = limits();
    of_mean.limits[0].metric = "time";
    const auto options = collecting_for(of_mean, {});
    EXPECT_THAT(options.metrics, testing::ElementsAre("primary", "time"));
    EXPECT_TRUE(options.metrics_may_be_missing); // by runs of other suites
}

TEST(Judge, WaiversAreSaidAndExpire) {
    const Waiver waiver{.limit = "triad",
                        .machine = "m-1",
                        .owner = "ops",
                        .reason = "known",
                        .expires = "2026-12-31"};
    const auto waived = Campaign{}.run(90e9).judged(limits({waiver}));
    EXPECT_EQ(waived.outcome, Outcome::warn);
    EXPECT_EQ(only(waived).cause, Cause::waived);
    EXPECT_EQ(only(waived).waived, Cause::below_limit);
    EXPECT_EQ(only(Campaign{}.run(110e9).judged(limits({waiver}))).cause, Cause::waiver_unused);
    auto expired = waiver;
    expired.expires = "2026-01-30";
    EXPECT_EQ(Campaign{}.run(90e9).judged(limits({expired})).outcome, Outcome::fail);
    auto without_end = waiver;
    without_end.expires = "2029-12-31";
    const auto refused =
        judge(CollectionMaker{}.collection(), limits({without_end}), {.now = 1.77e9});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("\"triad\" ends on 2029-12-31"));
    auto of_another = waiver;
    of_another.machine = "m-2";
    EXPECT_EQ(Campaign{}.run(90e9).judged(limits({of_another})).outcome, Outcome::fail);
}

TEST(Judge, AWaiverMayNameASerial) {
    const auto judged = [](const record::Serial& serial) {
        CollectionMaker maker;
        Campaign{}.run(90e9).into(maker);
        maker.collection().machines.at(0).identity.serials = {serial};
        const Waiver waiver{.limit = "triad",
                            .machine = "S-17",
                            .owner = "ops",
                            .reason = "known",
                            .expires = "2026-12-31"};
        return judge(maker.collection(), limits({waiver}), {.now = 1.77e9})->outcome;
    };
    EXPECT_EQ(judged({.kind = "board", .text = "S-17"}), Outcome::warn);
    EXPECT_EQ(judged({.kind = "board", .keyed = "S-17"}), Outcome::warn);
    EXPECT_EQ(judged({.kind = "board", .text = "S-18", .keyed = "S-19"}), Outcome::fail);
}

TEST(Judge, ABoundMayBeAShareOfAnother) {
    auto stacked = limits();
    stacked.limits[0].share_of = "limit:base";
    stacked.limits[0].unit.clear();
    stacked.limits[0].at_least = 0.9;
    stacked.limits.push_back({.id = "base",
                              .cases = {{"benchmark", "nothing"}},
                              .unit = "B/s",
                              .at_least = 100e9,
                              .optional = true,
                              .source = "s"});
    const auto all = Campaign{}.run(95e9).judged(stacked);
    EXPECT_EQ(all.outcome, Outcome::pass);
    const auto& checks = all.nodes.at(0).checks;
    EXPECT_TRUE(std::ranges::any_of(
        checks, [](const Check& check) { return check.id == "triad" && check.bound == 90e9; }));
}

TEST(Judge, NodesStandInTheirFleet) {
    CollectionMaker maker;
    for (int i = 0; i < 6; ++i) Campaign{fmt::format("m-{}", i)}.run((110 + i) * 1e9).into(maker);
    Campaign{"m-bad"}.run(80e9).into(maker);
    const auto all = judged(maker);
    ASSERT_EQ(all.nodes.size(), 7U);
    EXPECT_EQ(all.outcome, Outcome::fail);
    const auto& worst = all.nodes.front();
    EXPECT_EQ(all.collection.machines[worst.machine].id, "m-bad");
    EXPECT_EQ(worst.checks[0].beside.nodes, 7U);
    EXPECT_EQ(worst.checks[0].beside.slower, 0U);
    EXPECT_LT(*worst.checks[0].beside.of_fleet, 0.75);
    EXPECT_EQ(all.nodes.back().outcome, Outcome::pass);
}

TEST(Judge, SlowerNodesAreCountedInBothDirections) {
    CollectionMaker maker;
    for (int i = 0; i < 4; ++i) {
        const auto run = maker.run({.machine = fmt::format("m-{}", i)});
        std::vector<double> replicas(5, (100 + i) * 1e-9);
        auto& seen = maker.observe(run, test::latency(4096), replicas);
        seen.between_replicas = 0.01;
        seen.degrees = 6;
        seen.events = 0;
        seen.verified = true;
        maker.collection().machines.back().virtualization = "none";
    }
    const auto all = judge(maker.collection(),
                           {.limits = {{.id = "latency",
                                        .cases = {{"benchmark", "memory.latency"}},
                                        .unit = "s",
                                        .at_most = 1e-6,
                                        .source = "s"}}},
                           {.now = 1.77e9})
                         .value();
    for (const auto& node : all.nodes) {
        const auto& beside = node.checks.at(0).beside;
        const auto& id = all.collection.machines[node.machine].id;
        EXPECT_EQ(beside.nodes, 4U);
        EXPECT_EQ(beside.slower, static_cast<std::size_t>('3' - id.back())) << id;
    }
    // A node without a value does not count in the fleet, and another type of machine is another fleet.
    Campaign{"m-ok"}.run(110e9).into(maker);
    Campaign{"m-too"}.run(110e9).into(maker);
    maker.fail(maker.run({.machine = "m-none"}), test::triad(), record::Status::failed, "made up");
    Campaign{"m-other"}.run(300e9).into(maker);
    maker.collection().machines.back().cpu_model = "Another CPU";
    const auto mixed = judged(maker);
    std::map<std::string, std::optional<std::size_t>> fleet;
    for (const auto& node : mixed.nodes)
        fleet[mixed.collection.machines[node.machine].id] = node.checks.at(0).beside.nodes;
    EXPECT_EQ(fleet["m-ok"], 2U);
    EXPECT_FALSE(fleet["m-none"]);
    EXPECT_FALSE(fleet["m-other"]);
    // Alone a node has no fleet.
    EXPECT_FALSE(only(Campaign{}.run(110e9).judged(limits())).beside.nodes);
}

TEST(Judge, AFileThatCannotBeReadTakesThePassAway) {
    const auto with = [](bool is_copy) {
        CollectionMaker maker;
        Campaign{}.run(110e9).into(maker);
        maker.collection().problems.push_back(
            {.where = "x/run.json", .reason = "cut off", .is_copy = is_copy});
        return judged(maker).outcome;
    };
    EXPECT_EQ(with(false), Outcome::inconclusive);
    EXPECT_EQ(with(true), Outcome::pass);
    EXPECT_EQ(judge(store::Collection{}, limits(), {.now = 1.77e9})->outcome,
              Outcome::inconclusive);
}

TEST(Judge, CampaignsAreJudgedApart) {
    CollectionMaker maker;
    Campaign{}.run(90e9).run(110e9).into(maker);
    maker.collection().runs[0].campaign = "spring";
    maker.collection().runs[1].campaign = "autumn";
    const auto both = judged(maker);
    ASSERT_EQ(both.nodes.size(), 2U);
    EXPECT_EQ(both.outcome, Outcome::fail);
    const auto one = judged(maker, {.campaign = "autumn"});
    ASSERT_EQ(one.nodes.size(), 1U);
    EXPECT_EQ(one.outcome, Outcome::pass);
    EXPECT_EQ(one.nodes[0].campaign, "autumn");
}

TEST(Judge, RunsAreTakenByTheirTime) {
    CollectionMaker maker;
    Campaign{}.run(90e9).run(110e9, 0.002, "board replaced").into(maker);
    auto& runs = maker.collection().runs;
    std::swap(runs[0].started_seconds, runs[1].started_seconds);
    // The run after the repair is the earlier one, whatever the order of the files.
    EXPECT_EQ(judged(maker).nodes[0].before_repair, 0U);
}

TEST(Judge, ManyNodesAreJudgedAlike) {
    CollectionMaker maker;
    constexpr std::size_t count = 450; // several threads
    for (std::size_t i = 0; i < count; ++i)
        Campaign{fmt::format("m-{}", i)}.run(i % 3 == 0 ? 90e9 : 110e9).into(maker);
    const auto all = judged(maker);
    ASSERT_EQ(all.nodes.size(), count);
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(all.nodes[i].outcome, i < count / 3 ? Outcome::fail : Outcome::pass) << i;
}

TEST(Judge, FiltersTakeCasesAway) {
    CollectionMaker maker;
    Campaign{}.run(90e9).into(maker);
    const auto run = maker.run({});
    maker.observe(run, test::latency(4096), {1e-7});
    EXPECT_EQ(only(judged(maker, {.filter = {"benchmark=memory.latency"}})).cause,
              Cause::not_measured);
}

TEST(Judge, RefusesWhatNamesNothing) {
    CollectionMaker maker;
    Campaign{}.run(110e9).into(maker);
    EXPECT_FALSE(judge(maker.collection(), limits(), {.campaign = "no such"}));
    EXPECT_FALSE(judge(maker.collection(), limits(), {.filter = {"no=such"}}));
    auto with_typo = limits();
    with_typo.expect = {{.expect = {"gpus=8"}}};
    const auto refused = judge(maker.collection(), with_typo);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("gpus"));
}

} // namespace
} // namespace assay::judge
