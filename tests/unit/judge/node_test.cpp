// SPDX-License-Identifier: Apache-2.0
//
// What is found on one node: its parts, links, ports, devices without a value, counters; and what counts.

#include "judge/words.hpp"
#include "measured_node.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace assay::judge {
namespace {

using record::DisturbanceCode;
using record::Status;
using test::MeasuredNode;

using test::of_memory;
using test::of_products;

/// A node that passes, to which something is done.
MeasuredNode good() {
    MeasuredNode node;
    node.add(test::triad(), 110e9);
    return node;
}
Cause worst(const Judgement& all) { return all.nodes.at(0).checks.at(0).cause; }
std::vector<Cause> causes_of(const Judgement& all) {
    std::vector<Cause> causes;
    for (const auto& check : all.nodes.at(0).checks)
        if (check.cause != Cause::none) causes.push_back(check.cause);
    return causes;
}

TEST(Node, LinksThatAreNarrowerOrSlowerThanTheyCouldBe) {
    struct Link {
        record::PciLink link;
        const char* detail;
    };
    const Link links[] = {
        {{.width = 8, .width_max = 16}, "0000:41:00.0: x8, x16"},
        {{.generation = 3, .generation_max = 5}, "0000:41:00.0: 3.0, 5.0"},
        {{.width = 16, .width_max = 16, .generation = 4, .generation_max = 5},
         "0000:41:00.0: 4.0, 5.0"},
        {{.width = 16, .width_max = 16, .generation = 5, .generation_max = 5}, ""},
        {{.width = 0, .width_max = 16}, ""}, // not plugged in
        {{.width = 8}, ""},
        {{.width_max = 16}, ""},
        {{.generation = 0, .generation_max = 4}, ""},
    };
    for (const auto& [link, detail] : links) {
        auto node = good();
        node.machine().pci = {{.address = "0000:41:00.0", .link = link}};
        const auto all = node.judged(of_memory());
        const bool is_found = *detail != '\0';
        EXPECT_EQ(all.outcome, is_found ? Outcome::warn : Outcome::pass) << detail;
        if (!is_found) continue;
        EXPECT_EQ(worst(all), Cause::slot_narrow);
        EXPECT_EQ(all.nodes[0].checks[0].detail, detail);
        EXPECT_FALSE(all.nodes[0].checks[0].required);
        EXPECT_EQ(all.nodes[0].required, 1U);
    }
}

TEST(Node, MemoryChannelsAndDevicesAsTheyAreSetUp) {
    auto node = good();
    auto& machine = node.machine();
    machine.platform.memory_channels = 12;
    machine.platform.memory_channels_most = 12;
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);
    machine.platform.memory_channels = 10;
    auto all = node.judged(of_memory());
    EXPECT_THAT(causes_of(all), testing::ElementsAre(Cause::channels_empty));
    machine.platform.memory_channels.reset();
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);
    machine.platform.memory_channels = 11;
    machine.platform.memory_channels_most.reset();
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);

    machine.devices = {{.kind = "cuda", .index = 0, .ecc = true}, {.kind = "cuda", .index = 1}};
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);
    machine.devices[0].ecc = false;
    all = node.judged(of_memory());
    EXPECT_EQ(all.outcome, Outcome::inconclusive);
    EXPECT_THAT(causes_of(all), testing::ElementsAre(Cause::ecc_off));
    EXPECT_EQ(all.nodes[0].checks[0].detail, "cuda:0");
    machine.devices[0].ecc = true;
    machine.devices[1].mode = "mig 1g.10gb";
    all = node.judged(of_memory());
    EXPECT_THAT(causes_of(all), testing::ElementsAre(Cause::device_divided));
    EXPECT_EQ(all.nodes[0].checks[0].detail, "cuda:1 mig 1g.10gb");
    // Limits of parts of devices know what they are for; those of other machines do not help.
    auto of_parts = of_memory();
    of_parts.machine = {{"mode", "mig*"}};
    EXPECT_EQ(node.judged(of_parts).outcome, Outcome::pass);
    auto of_others = of_parts;
    of_others.id = "others";
    of_others.machine = {{"mode", "vgpu"}};
    EXPECT_EQ(node.judged(Limits{.limits = {of_memory(), of_others}}).outcome,
              Outcome::inconclusive);
}

TEST(Node, WhatIsExpectedOfItsKindAlone) {
    auto node = good();
    node.machine().platform.governor = "powersave";
    const auto judged = [&](const std::string& text, const Selector& machine = {}) {
        return node.judged(
            Limits{.limits = {of_memory()}, .expect = {{.machine = machine, .expect = {text}}}});
    };
    const auto lacks = judged("gpu=8");
    EXPECT_EQ(lacks.outcome, Outcome::fail);
    EXPECT_EQ(worst(lacks), Cause::part_missing);
    EXPECT_EQ(lacks.nodes[0].checks[0].action, Action::reseat);
    const auto differs = judged("governor=performance");
    EXPECT_EQ(differs.outcome, Outcome::inconclusive);
    EXPECT_EQ(worst(differs), Cause::setup_differs);
    EXPECT_EQ(meaning_of(worst(differs)).blame, Blame::user);
    EXPECT_EQ(judged("gpu=8", {{"provider", "gcp"}}).outcome, Outcome::pass);
    EXPECT_EQ(judged("gpu=8", {{"provider", "aws"}}).outcome, Outcome::fail);
}

TEST(Node, EveryDeviceIsAskedFor) {
    MeasuredNode node;
    for (int i = 0; i < 3; ++i)
        node.machine().devices.push_back({.kind = "cuda", .index = i, .name = "Example"});
    node.machine().devices.push_back({.kind = "hip", .index = 0});
    for (const int index : {0, 2})
        node.add(test::on_device(test::gemm("cublaslt", 8192), index), 2e12);
    const auto all = node.judged(of_products());
    EXPECT_EQ(all.outcome, Outcome::inconclusive);
    EXPECT_THAT(causes_of(all), testing::ElementsAre(Cause::not_measured));
    EXPECT_EQ(all.nodes[0].checks[0].detail, "cuda:1");
    EXPECT_EQ(all.nodes[0].required, 3U);
    EXPECT_EQ(all.nodes[0].ran, 2U);
    // A limit of two of them asks for these.
    auto of_two = of_products();
    of_two.cases["place"] = "cuda|cuda:2";
    EXPECT_EQ(node.judged(of_two).outcome, Outcome::pass);
    auto of_others = of_products();
    of_others.machine = {{"device", "Other"}};
    EXPECT_EQ(worst(node.judged(of_others)), Cause::no_limits);
    // A team on all devices is one case.
    MeasuredNode team;
    team.machine() = node.machine();
    auto series = test::on_device(test::gemm("nccl", 8192), 0);
    series.conditions = {{"ranks", std::int64_t{3}}};
    team.add(series, 2e12);
    EXPECT_EQ(team.judged(of_products()).outcome, Outcome::pass);
}

TEST(Node, ALimitIsForTheDevicesThatItNames) {
    MeasuredNode node;
    node.machine().devices = {{.kind = "cuda", .index = 0, .name = "Large"},
                              {.kind = "cuda", .index = 1, .name = "Small"}};
    node.add(test::on_device(test::gemm("cublaslt", 8192), 0), 2e12);
    node.add(test::on_device(test::gemm("cublaslt", 8192), 1), 0.5e12);
    EXPECT_EQ(node.judged(of_products()).outcome, Outcome::fail);
    auto of_large = of_products();
    of_large.machine = {{"device", "Large"}};
    const auto all = node.judged(of_large);
    EXPECT_EQ(all.outcome, Outcome::pass);
    EXPECT_EQ(all.nodes[0].checks.size(), 1U);
    EXPECT_EQ(all.nodes[0].not_judged, 1U);
}

TEST(Node, ValuesThatProveNothing) {
    struct Flaw {
        void (*make)(decide::Observation&);
        Cause cause;
    };
    const Flaw flaws[] = {
        {[](decide::Observation& seen) { seen.events.reset(); }, Cause::no_telemetry},
        {[](decide::Observation& seen) { seen.verified = false; }, Cause::not_verified},
        {[](decide::Observation& seen) { seen.status = Status::incorrect; }, Cause::wrong_result},
    };
    for (const auto& [make, cause] : flaws) {
        MeasuredNode node;
        node.add(test::triad(), 110e9);
        node.next_run();
        make(node.add(test::triad(), 110e9));
        const auto all = node.judged(of_memory());
        EXPECT_EQ(worst(all), cause);
        EXPECT_NE(all.outcome, Outcome::pass);
    }
    // A run whose case was skipped has no telemetry to miss.
    MeasuredNode node;
    node.add(test::triad(), 110e9);
    node.next_run();
    node.fail(test::triad(), Status::skipped);
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);
    auto elsewhere = of_memory();
    elsewhere.unit = "FLOP/s";
    EXPECT_EQ(worst(good().judged(elsewhere)), Cause::wrong_unit);
    auto past = of_memory();
    past.expires = "2026-02-01"; // the day before
    EXPECT_EQ(worst(good().judged(past)), Cause::limit_expired);
    past.expires = "2026-02-02";
    EXPECT_EQ(good().judged(past).outcome, Outcome::pass);
}

TEST(Node, WhyACaseHasNoValue) {
    const auto cause_with = [](const std::vector<Status>& statuses,
                               std::optional<DisturbanceCode> code = {}) {
        MeasuredNode node;
        for (const auto status : statuses) {
            auto& seen = node.fail(test::triad(), status);
            if (status == Status::disturbed && code)
                seen.cause = record::Disturbance{.code = *code};
            node.next_run();
        }
        return worst(node.judged(of_memory()));
    };
    EXPECT_EQ(cause_with({Status::skipped}), Cause::not_applicable);
    EXPECT_EQ(cause_with({Status::crashed}), Cause::case_crashed);
    // The worst of several, in either order.
    EXPECT_EQ(cause_with({Status::skipped, Status::crashed}), Cause::case_crashed);
    EXPECT_EQ(cause_with({Status::crashed, Status::skipped}), Cause::case_crashed);
    EXPECT_EQ(cause_with({Status::timed_out, Status::crashed}), Cause::case_timed_out);
    EXPECT_EQ(cause_with({Status::disturbed}), Cause::disturbed);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::too_hot), Cause::overheated);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::device_slowed), Cause::overheated);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::neighbours), Cause::neighbours);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::device_shared),
              Cause::device_shared);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::foreign_cpu), Cause::other_load);
    EXPECT_EQ(cause_with({Status::disturbed}, DisturbanceCode::steal), Cause::disturbed);
}

TEST(Node, CasesWithoutALimitThatEndedBadly) {
    const auto with = [](Status status, std::optional<DisturbanceCode> code = {}) {
        auto node = good();
        auto& seen = node.fail(test::latency(4096), status);
        if (code) seen.cause = record::Disturbance{.code = *code};
        return node.judged(of_memory());
    };
    EXPECT_EQ(with(Status::incorrect).outcome, Outcome::fail);
    EXPECT_EQ(worst(with(Status::incorrect)), Cause::wrong_result);
    EXPECT_EQ(with(Status::crashed).outcome, Outcome::error);
    EXPECT_EQ(with(Status::skipped).outcome, Outcome::pass);
    EXPECT_EQ(with(Status::disturbed).outcome, Outcome::pass);
    EXPECT_EQ(worst(with(Status::disturbed, DisturbanceCode::too_hot)), Cause::overheated);
    const auto all = with(Status::crashed);
    EXPECT_EQ(all.nodes[0].checks[0].id, "case:memory.latency");
    EXPECT_EQ(all.nodes[0].not_judged, 0U);
    // One with a value of which a retest crashed has that value.
    auto node = good();
    node.add(test::latency(4096), 1e-7);
    node.next_run();
    node.fail(test::latency(4096), Status::crashed);
    EXPECT_EQ(node.judged(of_memory()).outcome, Outcome::pass);
    EXPECT_EQ(node.judged(of_memory()).nodes[0].not_judged, 1U);
    // One with a limit has that finding alone.
    auto limited = good();
    limited.fail(test::latency(4096), Status::crashed);
    const auto once = limited.judged(Limits{.limits = {of_memory(),
                                                       {.id = "latency",
                                                        .cases = {{"benchmark", "memory.latency"}},
                                                        .unit = "s",
                                                        .at_most = 1e-6,
                                                        .source = "made up"}}});
    EXPECT_THAT(causes_of(once), testing::ElementsAre(Cause::case_crashed));
}

TEST(Node, ChecksThatDecidedNothingDidNotRun) {
    const auto counted = [](MeasuredNode node, bool optional = false) {
        auto products = of_products();
        products.optional = optional;
        node.machine().devices = {{.kind = "cuda", .name = "made up"}};
        const auto all = node.judged(Limits{.limits = {of_memory(), products}});
        const auto& one = all.nodes.at(0);
        return std::vector{one.ran, one.required};
    };
    EXPECT_THAT(counted(good()), testing::ElementsAre(1, 2)) << "not measured";
    EXPECT_THAT(counted(good(), true), testing::ElementsAre(1, 1)) << "optional";
    auto crashed = good();
    crashed.fail(test::on_device(test::gemm("cuda", 1024), 0), Status::crashed);
    EXPECT_THAT(counted(std::move(crashed)), testing::ElementsAre(1, 2));
    auto slow = good();
    slow.add(test::on_device(test::gemm("cuda", 1024), 0), 0.5e12);
    EXPECT_THAT(counted(std::move(slow)), testing::ElementsAre(2, 2)) << "a FAIL did run";
    MeasuredNode between;
    between.add(test::triad(), 100e9);
    const auto open = between.judged(of_memory());
    EXPECT_EQ(open.outcome, Outcome::inconclusive);
    EXPECT_EQ(open.nodes[0].ran, 1U) << "it ran, and did not settle";
    MeasuredNode few;
    few.add(test::triad(), 110e9).replicas.resize(1);
    EXPECT_EQ(few.judged(of_memory()).nodes[0].ran, 0U) << "one replica decides nothing";
    // A check that is accepted although nobody measured it did not run;
    // without any check that did, there is no verdict.
    const Waiver absent{.cause = "not_measured",
                        .machine = "m-1",
                        .owner = "o",
                        .reason = "r",
                        .expires = "2026-12-31"};
    auto node = good();
    node.machine().devices = {{.kind = "cuda", .name = "made up"}};
    const auto waived =
        node.judged(Limits{.limits = {of_memory(), of_products()}, .waivers = {absent}});
    EXPECT_EQ(waived.outcome, Outcome::warn);
    EXPECT_EQ(waived.nodes[0].ran, 1U);
    EXPECT_EQ(waived.nodes[0].required, 2U);
    const auto none = node.judged(Limits{.limits = {of_products()}, .waivers = {absent}});
    EXPECT_EQ(none.outcome, Outcome::inconclusive);
    auto optional = of_products();
    optional.optional = true;
    EXPECT_EQ(node.judged(Limits{.limits = {optional}}).outcome, Outcome::inconclusive);
}

TEST(Node, TheFirstCaseCountsAsTheOthersDo) {
    MeasuredNode node;
    node.add(test::latency(4096), 1e-7); // has no limit
    node.add(test::triad(), 110e9);
    EXPECT_EQ(node.judged(of_memory()).nodes[0].not_judged, 1U);
    MeasuredNode wrong;
    wrong.fail(test::latency(4096), Status::incorrect);
    wrong.add(test::triad(), 110e9);
    EXPECT_EQ(worst(wrong.judged(of_memory())), Cause::wrong_result);
    MeasuredNode two;
    two.add(test::latency(4096), 1e-7);
    two.add(test::latency(8192), 1e-7);
    const auto named = two.judged(Limit{
        .id = "latency", .cases = {{"benchmark", "memory.latency"}}, .unit = "s", .at_most = 1e-6});
    for (const auto& check : named.nodes.at(0).checks) {
        EXPECT_EQ(check.which.size(), 1U) << "which of the two it is";
    }
}

TEST(Node, EachCodeOfTelemetryOnce) {
    auto node = good();
    node.add(test::latency(4096), 1e-7).events =
        decide::event_bit(DisturbanceCode::link_narrow) |
        decide::event_bit(DisturbanceCode::memory_corrected) |
        decide::event_bit(DisturbanceCode::steal);
    node.add(test::latency(8192), 1e-7).events = decide::event_bit(DisturbanceCode::link_narrow);
    const auto all = node.judged(of_memory());
    EXPECT_EQ(all.outcome, Outcome::fail);
    EXPECT_THAT(causes_of(all),
                testing::UnorderedElementsAre(Cause::link_narrow, Cause::memory_corrected));
    EXPECT_EQ(all.nodes[0].checks[0].id, "telemetry:link_narrow");
    // The last code of all is looked at as well.
    auto last = good();
    last.add(test::latency(4096), 1e-7).events = decide::event_bit(DisturbanceCode::quota);
    EXPECT_EQ(worst(last.judged(of_memory())), Cause::quota);
}

TEST(Node, CountersThatRose) {
    const auto judged = [](record::ErrorCounter counter) {
        auto node = good();
        node.run().error_counters = {std::move(counter)};
        return node.judged(of_memory());
    };
    const auto fatal =
        judged({.source = "edac", .device = "mc0", .counter = "ue_count", .before = 0, .after = 2});
    EXPECT_EQ(worst(fatal), Cause::memory_uncorrected);
    EXPECT_EQ(fatal.nodes[0].checks[0].detail, "mc0 ue_count: 0 -> 2");
    EXPECT_EQ(worst(judged({.source = "edac", .counter = "ce_count", .before = 0, .after = 2})),
              Cause::counter_rose);
    EXPECT_EQ(worst(judged({.source = "other", .counter = "ue_count", .before = 0, .after = 2})),
              Cause::counter_rose);
    const auto beyond = judged({.source = "allowance",
                                .device = "eth0",
                                .counter = "pps_allowance_exceeded",
                                .before = 70,
                                .after = 90});
    EXPECT_EQ(worst(beyond), Cause::allowance_exceeded);
    EXPECT_EQ(beyond.outcome, Outcome::warn);
    EXPECT_EQ(judged({.source = "pcie", .before = 2, .after = 2}).outcome, Outcome::pass);
    EXPECT_EQ(judged({.source = "pcie", .before = 3, .after = 2}).outcome, Outcome::pass);
    EXPECT_EQ(judged({.source = "pcie", .after = 2}).outcome, Outcome::pass);
    EXPECT_EQ(judged({.source = "pcie", .before = 2}).outcome, Outcome::pass);
}

TEST(Node, UnstableValuesAreJudgedByTheirReplicas) {
    const auto judged = [](double value) {
        MeasuredNode node;
        node.add(test::triad(), value).status = Status::unstable;
        return node.judged(of_memory());
    };
    EXPECT_EQ(worst(judged(130e9)), Cause::none);
    EXPECT_EQ(worst(judged(80e9)), Cause::below_limit);
}

TEST(Node, ActionsAreTheLimitsWhereItHasOne) {
    auto limit = of_memory();
    limit.action = Action::return_it;
    MeasuredNode slow;
    slow.add(test::triad(), 80e9);
    EXPECT_EQ(slow.judged(limit).nodes[0].checks[0].action, Action::return_it);
    EXPECT_EQ(slow.judged(of_memory()).nodes[0].checks[0].action, Action::isolate);
    // It is about values below the limit: an undecided check asks for a retest.
    MeasuredNode open;
    open.add(test::triad(), 101.2e9);
    const auto undecided = open.judged(limit);
    EXPECT_EQ(worst(undecided), Cause::undecided);
    EXPECT_EQ(undecided.nodes[0].checks[0].action, Action::retest);
    EXPECT_EQ(good().judged(limit).nodes[0].checks[0].action, Action::none);
}

TEST(Node, IntervalsAndReferencesOfBothDirections) {
    MeasuredNode node;
    node.add(test::latency(4096), 1e-7).datasheet = 0.5e-7;
    Limit limit{.id = "latency",
                .kind = LimitKind::contract,
                .cases = {{"benchmark", "memory.latency"}},
                .unit = "s",
                .at_most = 2e-7};
    auto check = node.judged(limit).nodes[0].checks[0];
    EXPECT_EQ(check.outcome, Outcome::pass);
    EXPECT_FALSE(check.at_least);
    EXPECT_LT(*check.low, 1e-7);
    EXPECT_GT(*check.high, 1e-7);
    EXPECT_NEAR(*check.beside.of_contract, 2, 0.01);
    EXPECT_NEAR(*check.beside.of_datasheet, 2, 0.01);
    EXPECT_FALSE(check.beside.of_fleet);
    limit.kind = LimitKind::fleet;
    limit.center = 0.8e-7;
    check = node.judged(limit).nodes[0].checks[0];
    EXPECT_NEAR(*check.beside.of_fleet, 1.25, 0.01);
    EXPECT_FALSE(check.beside.of_contract);
    limit.kind = LimitKind::spec; // the centre is of another fleet
    EXPECT_FALSE(node.judged(limit).nodes[0].checks[0].beside.of_fleet);
    limit.kind = LimitKind::fleet;
    limit.center.reset();
    EXPECT_FALSE(node.judged(limit).nodes[0].checks[0].beside.of_fleet);
    auto of_rate = of_memory();
    of_rate.kind = LimitKind::contract;
    check = good().judged(of_rate).nodes[0].checks[0];
    EXPECT_NEAR(*check.beside.of_contract, 1.1, 0.01);
    EXPECT_LT(*check.low, 110e9);
    EXPECT_GT(*check.high, 110e9);
    // The contract stands beside other limits of the case too: the strictest.
    auto own = of_memory();
    own.id = "own";
    own.kind = LimitKind::spec;
    auto stricter = of_rate;
    stricter.id = "stricter";
    stricter.at_least = 105e9;
    auto with_device = good();
    with_device.machine().devices = {{.kind = "cuda", .name = "made up"}};
    const auto beside =
        with_device.judged(Limits{.limits = {own, of_rate, stricter, of_products()}});
    EXPECT_NEAR(*test::check_of(beside, "own").beside.of_contract, 110.0 / 105, 0.01);
    EXPECT_NEAR(*test::check_of(beside, of_rate.id).beside.of_contract, 1.1, 0.01);
    EXPECT_FALSE(test::check_of(beside, "gemm").beside.of_contract); // another case
    // Both bounds are checks of their own.
    limit.at_least = 0.5e-7;
    EXPECT_EQ(node.judged(limit).nodes[0].checks.size(), 2U);
}

} // namespace
} // namespace assay::judge
