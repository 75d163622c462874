// SPDX-License-Identifier: Apache-2.0
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
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
using ::testing::Contains;
using ::testing::HasSubstr;

Result<Interleaving> made(const Catalogue& all, const PlanRequest& request,
                          const std::vector<std::string>& variants) {
    return interleave(all, request, *parse_variants(variants));
}

TEST(Interleaving, VariantsShareThePlanAndItsDigest) {
    const auto all = catalogue();
    const auto turns = made(all, {.what = {"gemm"}}, {"a:", "b: X=1", "c: Y=2"});
    ASSERT_TRUE(turns) << turns.error().message;
    ASSERT_EQ(turns->runs.size(), 3U);
    for (const auto& [plan, variant, pairing] : turns->runs) {
        EXPECT_EQ(plan.cases.size(), 8U);
        EXPECT_EQ(plan.replicas, usual_pairs);
        EXPECT_TRUE(plan.fresh_workers);
        EXPECT_EQ(plan.digest, turns->runs[0].plan.digest);
        ASSERT_TRUE(pairing);
        EXPECT_EQ(pairing->setting, variant.label);
        EXPECT_EQ(pairing->changes, changes_of(variant));
        EXPECT_EQ(pairing->order, "ABCCBA");
    }
    EXPECT_DOUBLE_EQ(turns->expected_seconds, 3 * turns->runs[0].plan.expected_seconds);
    const auto alone = make_plan(all, {.what = {"gemm"}, .replicas = usual_pairs});
    EXPECT_EQ(alone->digest, turns->runs[0].plan.digest) << "they measure the same things";
    EXPECT_GT(turns->runs[0].plan.expected_seconds, alone->expected_seconds)
        << "more workers start";
}

TEST(Interleaving, ABudgetIsForAllVariantsTogether) {
    const auto all = catalogue();
    const auto turns =
        made(all, {.what = {"gemm"}, .budget_seconds = 120, .replicas = 4}, {"a:", "b: X=1"});
    ASSERT_TRUE(turns);
    EXPECT_LE(turns->expected_seconds, 120);
    EXPECT_GT(turns->expected_seconds, 30);
}

TEST(Interleaving, EqualVariantsAreAllowedAndSaid) {
    const auto all = catalogue();
    const auto turns = made(all, {.what = {"gemm"}}, {"a: X=1", "b: X=1"});
    ASSERT_TRUE(turns);
    EXPECT_THAT(turns->notes, Contains(HasSubstr("a and b are the same")));
}

TEST(Interleaving, LibrariesArePairedByQuestion) {
    const auto all = catalogue();
    const auto turns = made(all, {.what = {"*"}}, {"a: library=openblas", "b: library=onednn"});
    ASSERT_TRUE(turns) << turns.error().message;
    const auto& a = turns->runs[0].plan.cases;
    const auto& b = turns->runs[1].plan.cases;
    // fp64 and fp32 of one, fp32 and bf16 of the other, with one and all threads.
    ASSERT_EQ(a.size(), 6U);
    ASSERT_EQ(b.size(), 6U);
    std::size_t measured = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].module->module, "openblas");
        EXPECT_EQ(b[i].module->module, "onednn");
        EXPECT_EQ(a[i].parameters, b[i].parameters);
        EXPECT_EQ(a[i].skip_reason, b[i].skip_reason);
        measured += a[i].skip_reason.empty() ? 1 : 0;
        const auto* precision = record::find(a[i].parameters, "precision");
        if (record::to_string(*precision) == "fp64") {
            EXPECT_THAT(a[i].skip_reason, HasSubstr("onednn does not measure this"));
        }
    }
    EXPECT_EQ(measured, 2U);
    EXPECT_THAT(turns->notes, Contains(HasSubstr("6 questions left out")));
}

TEST(Interleaving, ALibraryThatIsNotThereIsAUsageError) {
    const auto all = catalogue();
    const auto unknown = made(all, {.what = {"*"}}, {"a: library=openbls", "b: library=onednn"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().fault, Fault::usage);
    EXPECT_THAT(unknown.error().message, HasSubstr("\"openblas\""));
    const auto none = made(all, {.what = {"memory"}}, {"a: library=openblas", "b: library=onednn"});
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, HasSubstr("none of these cases"));
}

} // namespace
