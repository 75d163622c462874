// SPDX-License-Identifier: Apache-2.0
//
// What a limit asks: amounts, shares of data sheets, of those of other benchmarks, of siblings.

#include "judge/bound.hpp"
#include "measured_node.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace assay::report {
namespace {

using test::check_of;
using test::MeasuredNode;

Series transform(const std::string& precision = "fp64") {
    return test::series_of("fft.transform", "fftw",
                           {{"points", std::int64_t{64}}, {"precision", precision}}, "flop_rate");
}
Series arithmetic(const std::string& precision, const std::string& isa = "best") {
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

} // namespace
} // namespace assay::report
