// SPDX-License-Identifier: Apache-2.0
//
// The fleet that others are tested with is what its header says.

#include "decide/check.hpp"
#include "record/convert.hpp"
#include "support/generated_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace assay::test {
namespace {

using testing::IsEmpty;

TEST(Generated, RunsAreConsistentAndTheSameEveryTime) {
    const GeneratorOptions options{.machines = 1, .quarters = 2, .runs = 1, .steps = usual_steps()};
    const Generator generator{options};
    const Generator again{options};
    ASSERT_EQ(generator.size(), 10U);
    std::set<std::string> ids;
    for (std::size_t i = 0; i < generator.size(); ++i) {
        const auto run = generator.run(i);
        EXPECT_THAT(record::check_summaries(run), IsEmpty());
        ids.insert(run.id + run.machine.id);
        if (i > 0) continue;
        EXPECT_EQ(record::to_text(run), record::to_text(again.run(i)));
        const auto findings = record::verify_text(record::to_text(run), "run");
        ASSERT_TRUE(findings.has_value()) << findings.error().message;
        EXPECT_THAT(findings->findings, IsEmpty());
    }
    EXPECT_EQ(ids.size(), generator.size());
}

TEST(Generated, WhatIsPlantedIsThere) {
    PlantedStep step{.instance = "c7a.large",
                     .benchmark = "gemm.",
                     .library = "openblas",
                     .seconds = quarter_start(1),
                     .ratio = 0.9,
                     .recorded = {{"software.openblas.version", std::string{"0.3.99"}}}};
    const Generator generator{{.machines = 1,
                               .quarters = 2,
                               .runs = 1,
                               .benchmarks = {"gemm."},
                               .noise = 0,
                               .mishaps = false,
                               .steps = {step}}};
    const std::size_t types = usual_types().size();
    for (std::size_t i = 0; i < types; ++i) {
        const auto before = generator.run(i);
        const auto after = generator.run(i + types);
        const bool concerned = before.machine.instance == step.instance;
        const auto* version = record::find(after.machine.software, "openblas.version");
        ASSERT_NE(version, nullptr);
        EXPECT_EQ(record::to_string(*version) == "0.3.99", concerned);
        EXPECT_EQ(before.machine.id, after.machine.id);
        for (std::size_t c = 0; c < before.cases.size(); ++c) {
            const double ratio =
                *after.cases[c].metrics[0].value / *before.cases[c].metrics[0].value;
            const bool changed = concerned && before.cases[c].library == "openblas";
            EXPECT_NEAR(ratio, changed ? 0.9 : 1.0, 0.02) << "batches alone are noisy";
        }
    }
}

} // namespace
} // namespace assay::test
