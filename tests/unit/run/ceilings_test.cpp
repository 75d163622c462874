// SPDX-License-Identifier: Apache-2.0
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace {

using namespace assay;
using namespace assay::run;
using made::catalogue;
using namespace testing;

record::Case measured(std::string benchmark, std::string library, record::NamedList parameters,
                      double value, std::string unit = "FLOP/s") {
    record::Case c;
    c.benchmark = std::move(benchmark);
    c.library = std::move(library);
    c.place.kind = "host";
    c.parameters = std::move(parameters);
    c.headline = "flop_rate";
    c.status = record::Status::ok;
    c.metrics.push_back({.name = "flop_rate", .unit = std::move(unit), .value = value});
    return c;
}

record::NamedList values(std::string precision, std::string threads) {
    return {{"precision", std::move(precision)}, {"threads", std::move(threads)}};
}

/// The cases judged by the ceilings of this catalogue.
std::vector<record::Case> judged(std::vector<record::Case> cases,
                                 const plan::Catalogue& all = catalogue()) {
    record::Run run;
    run.cases = std::move(cases);
    assign_ceilings(run, all);
    return run.cases;
}

/// A catalogue in which these are the ceilings of gemm.square.
plan::Catalogue held_against(const char* ceilings) {
    auto all = catalogue();
    for (auto& module : all.modules)
        for (auto& benchmark : module.benchmarks)
            if (benchmark.id == "gemm.square") benchmark.ceiling = ceilings;
    return all;
}

record::Case copy() {
    auto c = measured("memory.copy", "host", {}, 10, "B/s");
    c.headline = c.metrics.front().name = "bandwidth";
    return c;
}

TEST(Ceilings, TheBestOfTheSameParametersCounts) {
    const auto cases = judged({measured("peak.fma", "host", values("fp64", "one"), 50),
                               measured("peak.fma", "host", values("fp64", "all"), 90),
                               measured("peak.fma", "host", values("fp64", "all"), 100),
                               measured("peak.fma", "host", values("fp32", "all"), 200),
                               measured("gemm.square", "openblas", values("fp64", "all"), 80)});
    const auto& product = cases.back();
    EXPECT_EQ(product.ceiling.kind, record::CeilingKind::measured);
    EXPECT_EQ(product.ceiling.value, 100);
    EXPECT_THAT(product.ceiling.source, HasSubstr("peak.fma[host] precision=fp64 threads=all"));
    EXPECT_THAT(product.warnings, IsEmpty());
}

TEST(Ceilings, WithoutOneTheReasonIsSaid) {
    auto cases = judged({measured("peak.fma", "host", values("fp64", "all"), 90),
                         measured("gemm.square", "onednn", values("bf16", "all"), 80),
                         measured("memory.copy", "host", {}, 10, "B/s")});
    EXPECT_EQ(cases[1].ceiling.kind, record::CeilingKind::none);
    EXPECT_FALSE(cases[1].ceiling.value);
    EXPECT_THAT(cases[1].ceiling.source, HasSubstr("precision=bf16 threads=all"));
    EXPECT_EQ(cases[2].ceiling.source, "none is known");

    cases = judged({measured("gemm.square", "openblas", values("fp64", "all"), 80)});
    EXPECT_EQ(cases[0].ceiling.source, "peak.fma was not measured in this run");
}

TEST(Ceilings, AnIncorrectCeilingOrAnotherUnitIsNone) {
    auto wrong = measured("peak.fma", "host", values("fp32", "all"), 500);
    wrong.status = record::Status::incorrect;
    const auto cases =
        judged({wrong, measured("peak.fma", "host", values("fp32", "all"), 300, "OP/s"),
                measured("gemm.square", "onednn", values("fp32", "all"), 80)});
    EXPECT_EQ(cases[2].ceiling.kind, record::CeilingKind::none);
    EXPECT_FALSE(cases[2].ceiling.value);
}

TEST(Ceilings, ABandwidthBoundsARateByTheWorkPerByte) {
    const auto all = held_against("memory.copy");
    auto product = measured("gemm.square", "openblas", values("fp64", "all"), 6);
    auto cases = judged({copy(), product}, all);
    EXPECT_FALSE(cases[1].ceiling.value) << "it does not say how many bytes it moves";
    product.work = {{"flops", 6.0}, {"bytes", 3.0}};
    product.metrics.push_back({.name = "bandwidth", .unit = "B/s", .value = 3});
    cases = judged({copy(), product}, all);
    EXPECT_EQ(cases[1].ceiling.value, 20);
    EXPECT_EQ(cases[1].ceiling.kind, record::CeilingKind::measured);
    EXPECT_THAT(cases[1].ceiling.source, HasSubstr("memory.copy[host], times the work per byte"));
}

TEST(Ceilings, OfArithmeticAndMemoryTheLowerBoundCounts) {
    const auto all = held_against("peak.fma memory.copy");
    auto product = measured("gemm.square", "openblas", values("fp64", "all"), 6);
    product.work = {{"flops", 6.0}, {"bytes", 3.0}}; // memory allows 20
    product.metrics.push_back({.name = "bandwidth", .unit = "B/s", .value = 3});
    for (const double peak : {15.0, 40.0}) {
        auto cases = judged({measured("peak.fma", "host", values("fp64", "all"), peak), copy(),
                             measured("peak.fma", "host", values("fp64", "all"), 9), product},
                            all);
        EXPECT_EQ(cases.back().ceiling.value, peak < 20 ? peak : 20);
        EXPECT_THAT(cases.back().ceiling.source, HasSubstr(peak < 20 ? "peak.fma" : "memory.copy"));
    }
}

TEST(Ceilings, ARateBoundsABandwidthByTheBytesPerFlopAndMayNameItsPrecision) {
    const auto all = held_against("memory.copy peak.fma:precision=fp32");
    auto product = measured("gemm.square", "openblas", values("bf16", "all"), 6, "B/s");
    product.headline = product.metrics.front().name = "bandwidth";
    product.work = {{"flops", 16.0}, {"bytes", 2.0}};
    product.metrics.push_back({.name = "flop_rate", .unit = "FLOP/s", .value = 48});
    for (const double peak : {64.0, 120.0}) { // of which 8 FLOP for each byte allow 8 and 15
        auto cases = judged({measured("peak.fma", "host", values("fp32", "all"), peak),
                             measured("peak.fma", "host", values("fp64", "all"), 1), copy(),
                             measured("peak.fma", "host", values("bf16", "all"), 2), product},
                            all);
        EXPECT_EQ(cases.back().ceiling.value, peak < 80 ? 8 : 10);
        EXPECT_THAT(cases.back().ceiling.source,
                    HasSubstr(peak < 80 ? "times the bytes per FLOP" : "memory.copy[host]"));
    }
}

TEST(Ceilings, OfTwoRoofsInOtherUnitsTheLowerBoundsARateOfItems) {
    const auto all = held_against("memory.copy peak.fma");
    auto step = measured("gemm.square", "openblas", values("bf16", "all"), 2, "1/s");
    step.headline = step.metrics.front().name = "item_rate";
    step.work = {{"items", 4.0}, {"flops", 64.0}, {"bytes", 8.0}}; // copy allows 10 / 2 = 5
    step.metrics.push_back({.name = "bandwidth", .unit = "B/s", .value = 4});
    step.metrics.push_back({.name = "flop_rate", .unit = "FLOP/s", .value = 32});
    for (const double peak : {48.0, 160.0}) { // of which 16 FLOP for each item allow 3 and 10
        auto cases = judged({measured("peak.fma", "host", values("bf16", "all"), peak), copy(),
                             measured("peak.fma", "host", values("bf16", "all"), 8), step},
                            all);
        EXPECT_EQ(cases.back().ceiling.value, peak < 80 ? 3 : 5);
        EXPECT_THAT(cases.back().ceiling.source,
                    HasSubstr(peak < 80 ? "times the work per FLOP of this case"
                                        : "memory.copy[host], times the work per byte"));
        std::swap(cases[0], cases[1]); // in any order
        EXPECT_EQ(judged(cases, all).back().ceiling.value, peak < 80 ? 3 : 5);
    }
}

TEST(Ceilings, AnIntegerRateBoundsARateOfItems) {
    const auto all = held_against("peak.fma");
    auto step = measured("gemm.square", "openblas", values("int8", "all"), 2, "1/s");
    step.headline = step.metrics.front().name = "item_rate";
    step.work = {{"items", 4.0}, {"operations", 64.0}};
    step.metrics.push_back({.name = "operation_rate", .unit = "OP/s", .value = 32});
    auto peak = measured("peak.fma", "host", values("int8", "all"), 64, "OP/s");
    peak.metrics.front().name = "operation_rate";
    const auto cases = judged({peak, step}, all);
    EXPECT_EQ(cases.back().ceiling.value, 4);
    EXPECT_THAT(cases.back().ceiling.source, HasSubstr("times the work per operation"));
}

TEST(Ceilings, SparsePeaksBoundSparseWorkAlone) {
    const auto peak = [](const char* sparsity, double value) {
        return measured("peak.fma", "host", {{"precision", "bf16"}, {"sparsity", sparsity}}, value);
    };
    const auto dense = measured("gemm.square", "openblas", {{"precision", "bf16"}}, 80);
    auto sparse = dense;
    sparse.parameters.push_back({"sparsity", "2:4"});
    auto cases = judged({peak("2:4", 180), peak("none", 100), dense, sparse});
    EXPECT_EQ(cases[2].ceiling.value, 100);
    EXPECT_EQ(cases[3].ceiling.value, 180);
    cases = judged({peak("2:4", 180), dense});
    EXPECT_FALSE(cases[1].ceiling.value) << "a sparse peak alone";
}

TEST(Ceilings, PeaksOfNarrowSumsDoNotBoundWideOnes) {
    const auto cases = judged({measured("peak.fma", "host", values("fp16_accumulate", "all"), 180),
                               measured("peak.fma", "host", values("fp16", "all"), 100),
                               measured("gemm.square", "openblas", values("fp16", "all"), 80)});
    EXPECT_EQ(cases[2].ceiling.value, 100);
}

TEST(Ceilings, ADisturbedOneIsNone) {
    auto peak = measured("peak.fma", "host", values("fp64", "all"), 60);
    peak.status = record::Status::disturbed;
    const auto cases =
        judged({peak, measured("gemm.square", "openblas", values("fp64", "all"), 90)});
    EXPECT_FALSE(cases[1].ceiling.value);
    EXPECT_EQ(cases[1].ceiling.source, "peak.fma was disturbed in this run");
}

TEST(Ceilings, WithASpreadOnlyMoreThan103PercentIsAWarning) {
    const auto warnings = [](double low, double value) {
        auto product = measured("gemm.square", "openblas", values("fp64", "all"), value);
        product.spread = record::Spread{.replicas = 5};
        product.metrics.front().low = low;
        const auto cases =
            judged({measured("peak.fma", "host", values("fp64", "all"), 100), product});
        return cases[1].warnings;
    };
    EXPECT_THAT(warnings(101, 102), IsEmpty());
    EXPECT_THAT(warnings(102, 106), IsEmpty()) << "its interval reaches down to 102%";
    EXPECT_THAT(warnings(104, 106), ElementsAre(HasSubstr("106.0% of its ceiling")));
}

TEST(Ceilings, OfSeveralTheOneWithTheSameUnitAndPrecisionCounts) {
    const auto all = held_against("peak.fma peak.dot");
    const auto cases =
        judged({measured("peak.fma", "host", values("fp32", "all"), 200),
                measured("peak.dot", "host", values("bf16", "all"), 400),
                measured("peak.dot", "host", values("int8", "all"), 800, "OP/s"),
                measured("gemm.square", "onednn", values("fp32", "all"), 150),
                measured("gemm.square", "onednn", values("bf16", "all"), 300),
                measured("gemm.square", "onednn", values("int8", "all"), 600, "OP/s"),
                measured("gemm.square", "onednn", values("int8", "one"), 600, "OP/s")},
               all);
    EXPECT_EQ(cases[3].ceiling.value, 200);
    EXPECT_EQ(cases[4].ceiling.value, 400);
    EXPECT_EQ(cases[5].ceiling.value, 800);
    EXPECT_FALSE(cases[6].ceiling.value);
    EXPECT_THAT(cases[6].ceiling.source, HasSubstr("peak.fma or peak.dot was not measured"));
}

TEST(Ceilings, ABenchmarkThatIsItsOwnCeilingIsHeldAgainstItsBestChoice) {
    auto all = catalogue();
    auto stream = made::benchmark(
        "memory.stream", "bandwidth",
        {made::choice("kernel", {"copy", "triad"}, {std::string{"copy"}}), made::threads()});
    stream.ceiling = stream.id;
    stream.is_ceiling = true;
    all.modules.front().benchmarks.push_back(stream);
    const auto at = [](const char* kernel, const char* threads, double value) {
        return measured("memory.stream", "host",
                        {{"kernel", std::string{kernel}}, {"threads", std::string{threads}}}, value,
                        "B/s");
    };
    auto cases =
        judged({at("copy", "one", 10), at("triad", "one", 8), at("triad", "all", 20)}, all);
    EXPECT_EQ(cases[1].ceiling.value, 10);
    EXPECT_FALSE(cases[2].ceiling.value) << "not 100% of itself";
}

} // namespace
