// SPDX-License-Identifier: Apache-2.0
//
// From files of a fleet whose truth is known to verdicts: what was planted is found, and nothing else.

#include "compare/comparison.hpp"
#include "support/generated_runs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

class GeneratedComparison : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / fmt::format("assay-compare-{}", getpid());
        fs::remove_all(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Comparison of(const test::GeneratorOptions& options, const CompareOptions& how) const {
        fs::remove_all(folder_);
        test::write_runs(options, folder_);
        const auto collection = collect({folder_.string()});
        EXPECT_TRUE(collection.has_value());
        auto comparison = compare(*collection, how);
        EXPECT_TRUE(comparison.has_value()) << comparison.error().message;
        return *comparison;
    }
    fs::path folder_;
};

test::GeneratorOptions one_type(std::uint64_t seed) {
    return {.seed = seed,
            .types = {test::usual_types().front()},
            .machines = 5,
            .quarters = 2,
            .runs = 2,
            .benchmarks = {"gemm.", "memory.", "peak."}};
}

TEST_F(GeneratedComparison, AQuarterLikeTheLastOneHasNoNews) {
    std::size_t called = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto comparison = of(one_type(seed), {.column = {"quarter"}});
        EXPECT_EQ(comparison.unit, Unit::machine);
        EXPECT_TRUE(comparison.paired); // the same machines in both
        EXPECT_GT(comparison.tests, 5U);
        called += comparison.tallies[1].better + comparison.tallies[1].worse;
    }
    EXPECT_EQ(called, 0U);
}

TEST_F(GeneratedComparison, AnOlderLibraryIsFoundWhereItIsUsed) {
    auto options = one_type(4);
    options.steps = {{.benchmark = "gemm.",
                      .library = "openblas",
                      .seconds = test::quarter_start(1),
                      .ratio = 0.93,
                      .recorded = {{"software.openblas.version", std::string{"0.3.99"}}}}};
    const auto comparison = of(options, {.column = {"openblas.version"}});
    std::size_t found = 0;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows) {
            const auto& contrast = *row.cells[1].contrast;
            const bool planted = row.family == "gemm" && row.library == "openblas";
            EXPECT_EQ(contrast.outcome == ContrastOutcome::worse, planted) << row.identity;
            EXPECT_NE(contrast.outcome, ContrastOutcome::better) << row.identity;
            if (!planted) continue;
            ++found;
            EXPECT_NEAR(*contrast.ratio, 0.93, 0.02);
        }
    EXPECT_GT(found, 0U);
}

TEST_F(GeneratedComparison, TypesThatDifferAreOrderedAsTheyWereMade) {
    test::GeneratorOptions options{
        .machines = 4, .quarters = 1, .runs = 2, .benchmarks = {"gemm."}};
    for (const double speed : {1.0, 1.6})
        options.types.push_back({.provider = "aws",
                                 .instance = speed > 1 ? "fast.large" : "slow.large",
                                 .cpu_model = speed > 1 ? "Fast" : "Slow",
                                 .cores = 2,
                                 .speed = speed});
    const auto comparison = of(options, {.column = {"instance"}, .baseline = "slow.large"});
    EXPECT_FALSE(comparison.paired);
    const test::Generator generator{options};
    const auto& pattern = generator.pattern();
    ASSERT_FALSE(pattern.cases.empty());
    // The family's own factor of each type is part of the truth.
    double logs = 0;
    for (std::size_t machine = 0; machine < options.machines; ++machine)
        logs += std::log(generator.level(options.types[1], machine, pattern.cases[0], 0) /
                         generator.level(options.types[0], machine, pattern.cases[0], 0));
    const double truth = std::exp(logs / static_cast<double>(options.machines));
    EXPECT_NEAR(*comparison.means[1].ratio, truth, 0.02 * truth);
    EXPECT_LT(*comparison.means[1].low, truth);
    EXPECT_GT(*comparison.means[1].high, truth);
}

} // namespace
} // namespace assay::report
