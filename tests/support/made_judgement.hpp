// SPDX-License-Identifier: Apache-2.0
//
// Judgements made by hand: a node with two devices and something of everything, and fleets.

#pragma once

#include "judge/judge.hpp"
#include "support/collection_maker.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace assay::test {

/// One node: a device below its limit, a link that is too narrow, an undecided and an unsettled check, one that was not
/// measured, one that is waived and one whose waiver is no longer needed.
inline judge::Judgement made_judgement() {
    using namespace judge;
    CollectionMaker maker;
    maker.run({.machine = "m-7f3a", .started = "2026-11-20T08:00:00Z"});
    maker.run({.machine = "m-7f3a", .started = "2026-11-21T08:00:00Z"});
    Judgement all{.collection = maker.collection(),
                  .limits = {.limits = {{.id = "stream-triad",
                                         .cases = {{"benchmark", "memory.stream"}},
                                         .at_least = 3.9e12,
                                         .source = "maker's data sheet"},
                                        {.id = "gemm-fp64",
                                         .kind = LimitKind::fleet,
                                         .cases = {{"benchmark", "gemm.square"}},
                                         .at_least = 5e13,
                                         .source = "median of 40 nodes",
                                         .samples = 40},
                                        {.id = "latency",
                                         .title = "Memory latency",
                                         .kind = LimitKind::contract,
                                         .cases = {{"benchmark", "memory.latency"}},
                                         .at_most = 120e-9,
                                         .source = "contract, part 3"}},
                             .waivers = {{.limit = "latency",
                                          .machine = "m-7f3a",
                                          .owner = "ops",
                                          .reason = "known <board> & \"fix\" ordered",
                                          .expires = "2026-12-31"}},
                             .names = {"spec"}}};
    auto& series = all.collection.series;
    for (const auto* place : {"cuda:0", "cuda:1"}) {
        series.push_back(triad());
        series.back().place = place;
    }
    series.push_back(gemm("cublas", 8192));
    series.back().place = "cuda:1";
    series.push_back(latency(1 << 26));
    Node node{.runs = {0, 1}, .outcome = Outcome::fail, .required = 7, .ran = 6, .not_judged = 2};
    const auto add = [&](Check check, Cause cause) {
        const auto meaning = meaning_of(cause);
        check.cause = cause;
        check.outcome = meaning.outcome;
        check.action = meaning.action;
        node.checks.push_back(std::move(check));
    };
    const auto measured = [](std::uint32_t limit, std::uint32_t which, std::string id, double value,
                             double bound) {
        return Check{.id = std::move(id),
                     .limit = limit,
                     .series = which,
                     .unit = "B/s",
                     .value = value,
                     .low = value * 0.99,
                     .high = value * 1.01,
                     .bound = bound,
                     .replicas = 10,
                     .runs = 2,
                     .p_pass = 0.5,
                     .p_fail = 0.5};
    };
    auto below = measured(0, 1, "stream-triad", 3.1e12, 3.9e12);
    below.beside = {.of_datasheet = 0.65, .of_fleet = 0.78, .slower = 0, .nodes = 40};
    add(below, Cause::below_limit);
    add({.id = "telemetry:link_narrow", .series = 1, .required = false, .detail = "x8 of x16"},
        Cause::link_narrow);
    auto open = measured(1, 2, "gemm-fp64", 5.02e13, 5e13);
    open.unit = "FLOP/s";
    open.repeats = 20;
    add(open, Cause::undecided);
    open.repeats = {};
    add(open, Cause::unsettled);
    add({.id = "gemm-fp64", .limit = 1, .detail = "cuda:0"}, Cause::not_measured);
    add({.id = "telemetry:device_shared", .required = false}, Cause::device_shared);
    auto late = measured(2, 3, "latency", 131e-9, 120e-9);
    late.unit = "s";
    late.at_least = false;
    late.waiver = 0;
    late.waived = Cause::above_limit;
    late.beside.of_contract = 131.0 / 120;
    add(late, Cause::waived);
    late.value = 90e-9;
    late.waived = Cause::none;
    add(late, Cause::waiver_unused);
    auto good = measured(0, 0, "stream-triad", 4.1e12, 3.9e12);
    good.beside = {.of_datasheet = 0.86, .of_fleet = 1.02, .slower = 31, .nodes = 40};
    add(good, Cause::none);
    add({.id = "expect:gpu=2"}, Cause::none);
    all.nodes.push_back(std::move(node));
    all.outcome = Outcome::fail;
    return all;
}

/// `count` nodes; the first `bad` of them as above, the others pass.
inline judge::Judgement made_fleet(std::size_t count, std::size_t bad) {
    auto all = made_judgement();
    auto good = all.nodes.front();
    good.outcome = judge::Outcome::pass;
    good.ran = good.required;
    for (auto& check : good.checks) {
        check.outcome = judge::Outcome::pass;
        check.cause = judge::Cause::none;
        check.waiver.reset();
    }
    const auto wrong = all.nodes.front();
    all.nodes.clear();
    for (std::size_t i = 0; i < count; ++i) {
        auto node = i < bad ? wrong : good;
        auto machine = all.collection.machines.front();
        machine.id = "m-" + std::to_string(i);
        node.machine = static_cast<std::uint32_t>(all.collection.machines.size());
        all.collection.machines.push_back(std::move(machine));
        all.nodes.push_back(std::move(node));
    }
    all.outcome = bad > 0 ? judge::Outcome::fail : judge::Outcome::pass;
    return all;
}

} // namespace assay::test
