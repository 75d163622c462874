// SPDX-License-Identifier: Apache-2.0
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using harness::made::catalogue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The sizes of the products that are left, of 16 to 4096.
std::vector<std::string> sizes(const std::string& only, const std::string& exclude = "") {
    const auto all = catalogue();
    PlanRequest request{
        .what = {"gemm.square"},
        .set = {"gemm.square.size=16..4096", "gemm.square.threads=one", "*.precision=fp32"}};
    request.only = {only};
    if (!exclude.empty()) request.exclude = {exclude};
    const auto plan = make_plan(all, request);
    if (!plan) return {plan.error().message};
    std::vector<std::string> left;
    for (const auto& planned : plan->cases)
        if (planned.module->module == "openblas")
            left.push_back(record::to_string(*record::find(planned.parameters, "size")));
    return left;
}

TEST(Filter, RangesHaveOneEndOrTwo) {
    EXPECT_THAT(sizes("gemm.square size=1Ki.."), ElementsAre("1024", "2048", "4096"));
    EXPECT_THAT(sizes("gemm.square size=..63"), ElementsAre("16", "32"));
    EXPECT_THAT(sizes("gemm.square size=33..200"), ElementsAre("64", "128"));
    EXPECT_THAT(sizes("gemm size=16|4Ki..|64"), ElementsAre("16", "64", "4096"));
    EXPECT_THAT(sizes("openblas size=2048.. precision=fp32|fp64"), ElementsAre("2048", "4096"));
    EXPECT_THAT(sizes("*", "gemm.square size=32.."), ElementsAre("16"));
    EXPECT_THAT(sizes("gemm.square size=..1e9", "g* size=64.."), ElementsAre("16", "32"));
}

TEST(Filter, ASymbolCountsAsWhatItStandsFor) {
    const auto all = catalogue();
    const auto cases = [&](const std::string& only, int cores) {
        PlanRequest request{.what = {"memory.copy"}, .only = {only}};
        request.machine.usable_cores = cores;
        const auto plan = make_plan(all, request);
        return plan ? plan->cases.size() : 0;
    };
    EXPECT_EQ(cases("memory.copy threads=1..", 8), 2U) << "one and all";
    EXPECT_EQ(cases("memory.copy threads=5..", 8), 1U) << "all are 8";
    EXPECT_EQ(cases("memory.copy threads=5..", 4), 0U);
    EXPECT_EQ(cases("memory.copy threads=one", 4), 1U);
}

TEST(Filter, AMistakeIsNamedWithWhatWouldBeRight) {
    const auto message = [](const std::string& text) { return sizes(text).at(0); };
    EXPECT_THAT(message("gemm.sqare size=1.."),
                AllOf(HasSubstr("--only"), HasSubstr("gemm.square")));
    EXPECT_THAT(message("gemm.square sze=1.."), AllOf(HasSubstr("sze"), HasSubstr("\"size\"")));
    EXPECT_THAT(message("gemm.square size"), HasSubstr("PARAMETER=VALUES"));
    EXPECT_THAT(message("gemm.square size="), HasSubstr("PARAMETER=VALUES"));
    EXPECT_THAT(message("gemm.square =3"), HasSubstr("no parameter"));
    EXPECT_THAT(message("gemm.square size=9..3"), HasSubstr("9..3"));
    EXPECT_THAT(message("gemm.square size=1Kx.."), AllOf(HasSubstr("1Kx"), HasSubstr("Ki")));
    EXPECT_THAT(message("gemm.square size=1||2"), HasSubstr("size cannot be"));
    EXPECT_THAT(message("gemm.square precision=fp63"), HasSubstr("did you mean fp64"));
    EXPECT_THAT(message("gemm.square precision=a..b"), HasSubstr("precision cannot be"));
    EXPECT_THAT(message(" "), HasSubstr("names no benchmark"));
}

TEST(Filter, WhatIsLeftOutEntirelyIsNotForSet) {
    const auto all = catalogue();
    PlanRequest request{.what = {"*"}, .set = {"gemm.square.size=64"}, .exclude = {"gemm"}};
    const auto refused = make_plan(all, request);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("does not measure gemm.square"));
    request.exclude = {"gemm size=64.."};
    const auto plan = make_plan(all, request);
    ASSERT_TRUE(plan);
    for (const auto& planned : plan->cases) EXPECT_NE(planned.benchmark->id, "gemm.square");
}

} // namespace
