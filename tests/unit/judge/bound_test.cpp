// SPDX-License-Identifier: Apache-2.0
//
// What a limit asks (amounts, shares of data sheets, of those of other benchmarks, of siblings), which limits apply to
// a node, and the verdict of each of its parts.

#include "judge/evidence.hpp"
#include "judge/words.hpp"
#include "measured_node.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace assay::judge {
namespace {

using test::check_of;
using test::MeasuredNode;
using test::of_memory;
using test::of_products;

decide::Series transform(const std::string& precision = "fp64") {
    return test::series_of("fft.transform", "fftw",
                           {{"points", std::int64_t{64}}, {"precision", precision}}, "flop_rate");
}
decide::Series arithmetic(const std::string& precision, const std::string& isa = "best") {
    return test::series_of("peak.fma", "host", {{"precision", precision}, {"isa", isa}},
                           "flop_rate");
}
Limit of_arithmetic(double share, double per_unit = 1) {
    return {.id = "fft",
            .cases = {{"benchmark", "fft.*"}},
            .at_least = share,
            .share_of = "datasheet:peak.fma",
            .per_unit = per_unit};
}

TEST(Bound, MayBeAShareOfAnotherBenchmarksDataSheet) {
    MeasuredNode node;
    node.add(transform(), 30e9);
    node.add(arithmetic("fp64"), 90e9).datasheet = 100e9;
    node.add(arithmetic("fp32"), 180e9).datasheet = 200e9; // another precision
    const auto passes = node.judged(of_arithmetic(0.2));
    EXPECT_EQ(passes.outcome, Outcome::pass);
    EXPECT_DOUBLE_EQ(*test::check_of(passes, "fft").bound, 20e9);
    EXPECT_EQ(node.judged(of_arithmetic(0.4)).outcome, Outcome::fail);
    // Three units of work for each of the other's.
    EXPECT_DOUBLE_EQ(*test::check_of(node.judged(of_arithmetic(0.1, 3)), "fft").bound, 30e9);
    auto of_one = of_arithmetic(0.2);
    of_one.per_unit.reset();
    EXPECT_DOUBLE_EQ(*test::check_of(node.judged(of_one), "fft").bound, 20e9);
}

TEST(Bound, OfSeveralInstructionSetsTheFastestCounts) {
    MeasuredNode node;
    node.add(transform(), 30e9);
    node.add(arithmetic("fp64", "avx2"), 45e9).datasheet = 50e9;
    node.add(arithmetic("fp64", "avx512"), 90e9).datasheet = 100e9;
    node.add(arithmetic("fp64", "sse2"), 20e9).datasheet = 25e9;
    EXPECT_DOUBLE_EQ(*test::check_of(node.judged(of_arithmetic(0.2)), "fft").bound, 20e9);
}

TEST(Bound, WithoutADataSheetNothingPasses) {
    MeasuredNode node;
    node.add(transform(), 30e9);
    EXPECT_EQ(test::check_of(node.judged(of_arithmetic(0.2)), "fft").cause, Cause::no_datasheet);
    node.add(arithmetic("fp64"), 90e9);                                      // has none
    node.add(test::on_device(arithmetic("fp64"), 0), 9e12).datasheet = 1e13; // elsewhere
    auto of_a_part = arithmetic("fp64");
    of_a_part.parameters.push_back({"part", std::string{"socket:0"}});
    node.add(of_a_part, 45e9).datasheet = 50e9;
    const auto all = node.judged(of_arithmetic(0.2));
    EXPECT_EQ(test::check_of(all, "fft").cause, Cause::no_datasheet);
    EXPECT_EQ(all.outcome, Outcome::inconclusive);
}

TEST(Bound, SiblingsAreTheMedianOfTheOthers) {
    MeasuredNode node;
    int index = 0;
    for (const double value : {50e9, 52e9, 53e9, 20e9})
        node.add(test::on_device(test::gemm("cublaslt", 8192), index++), value);
    const auto all = node.judged(Limit{.id = "like-others",
                                       .cases = {{"benchmark", "gemm.square"}},
                                       .at_least = 0.5,
                                       .share_of = "siblings"});
    EXPECT_EQ(all.outcome, Outcome::fail);
    for (const auto& check : all.nodes.at(0).checks) {
        const bool is_slow = *check.value < 30e9;
        EXPECT_EQ(check.cause, is_slow ? Cause::slower_than_siblings : Cause::none);
        if (is_slow) {
            EXPECT_NEAR(*check.bound, 26e9, 1e8);
        }
    }
}

TEST(Bound, NothingLostKeepsAnyLimitOfLosses) {
    const auto series = test::series_of("iperf3.udp", "external", {}, "loss");
    const auto limit = [](std::optional<double> at_least, std::optional<double> at_most) {
        return Limit{.id = "loss",
                     .cases = {{"benchmark", "iperf3.udp"}},
                     .metric = "loss",
                     .unit = "1",
                     .at_least = at_least,
                     .at_most = at_most};
    };
    MeasuredNode node;
    node.add(series, 0);
    EXPECT_EQ(check_of(node.judged(limit({}, 1e-3)), "loss").outcome, Outcome::pass);
    EXPECT_EQ(check_of(node.judged(limit({}, 1e-3)), "loss").value, 0);
    EXPECT_EQ(check_of(node.judged(limit(1e-3, {})), "loss").outcome, Outcome::fail);
    MeasuredNode lossy;
    lossy.add(series, 2e-3);
    EXPECT_EQ(check_of(lossy.judged(limit({}, 1e-3)), "loss").outcome, Outcome::fail);
}

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

TEST(Stress, IsJudgedByOneReplicaOfEachRun) {
    const decide::AcceptanceNoise calm;
    const decide::AcceptanceNoise noisy{.replica = {.variance = 1e-4, .degrees = 6}};
    const auto cause = [](std::vector<decide::Margin> margins, const decide::AcceptanceNoise& noise,
                          bool is_ratio = false, bool feels_neighbours = false) {
        return cause_under_stress(margins, noise, is_ratio, feels_neighbours, Cause::device_shared);
    };
    // A rate: by 3%, or five deviations.
    EXPECT_EQ(cause({{.log_ratio = 0.031, .run = 0}}, calm), Cause::none);
    EXPECT_EQ(cause({{.log_ratio = 0.029, .run = 0}}, calm), Cause::undecided);
    EXPECT_EQ(cause({{.log_ratio = -0.029, .run = 0}}, calm), Cause::undecided);
    EXPECT_EQ(cause({{.log_ratio = -0.031, .run = 0}}, calm), Cause::below_limit);
    EXPECT_EQ(cause({{.log_ratio = 0.049, .run = 0}}, noisy), Cause::undecided);
    EXPECT_EQ(cause({{.log_ratio = 0.051, .run = 0}}, noisy), Cause::none);
    // The course has no margin.
    EXPECT_EQ(cause({{.log_ratio = 0, .run = 0}}, noisy, true), Cause::none);
    EXPECT_EQ(cause({{.log_ratio = -0.001, .run = 0}}, noisy, true), Cause::slows_when_hot);
    // Disturbances from outside accuse nobody, and a good run later excuses nothing.
    EXPECT_EQ(cause({{.log_ratio = -0.1, .run = 0, .disturbed = true}}, calm, true),
              Cause::device_shared);
    EXPECT_EQ(cause({{.log_ratio = 0.1, .run = 0, .disturbed = true}}, calm, true), Cause::none);
    EXPECT_EQ(cause({{.log_ratio = -0.1, .run = 0}}, calm, true, true), Cause::neighbours);
    EXPECT_EQ(cause({{.log_ratio = -0.1, .run = 0}, {.log_ratio = 0.1, .run = 1}}, calm, true),
              Cause::slows_when_hot);
    EXPECT_EQ(cause({{.log_ratio = 0.1, .run = 0}, {.log_ratio = -0.1, .run = 1}}, calm, true),
              Cause::slows_when_hot);
}

} // namespace
} // namespace assay::judge
