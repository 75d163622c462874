// SPDX-License-Identifier: Apache-2.0
#include "record/convert.hpp"
#include "run/noise_history.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

class NoiseHistory : public ::testing::Test {
protected:
    NoiseHistory() {
        manifest_.module = "host";
        benchmark_.id = "test.memory";
        benchmark_.headline = "time";
        benchmark_.noise = Noise::memory;
        planned_.module = &manifest_;
        planned_.benchmark = &benchmark_;
        planned_.parameters = {{"size", std::int64_t{64}}};
        planned_.spread = record::Spread{
            .between_replicas = 0.03, .degrees = 6, .replicas = 5, .source = "memory"};
    }

    /// Five replicas a run that differ by 1%.
    void add_runs(int count, std::uint32_t version = 1) {
        std::normal_distribution<double> normal;
        for (int i = 0; i < count; ++i) {
            auto c = empty_case(planned_);
            c.version = version;
            c.status = record::Status::ok;
            for (int index = 0; index < 5; ++index) {
                record::Replica replica{.index = index};
                replica.status = record::Status::ok;
                replica.seconds = std::exp(0.01 * normal(random_));
                replica.calls = 1;
                c.replicas.push_back(replica);
            }
            record::Run run{.id = fmt::format("run{:03}", runs_.size())};
            run.cases.push_back(std::move(c));
            runs_.push_back(folder_.path() / run.id);
            fs::create_directory(runs_.back());
            ASSERT_TRUE(record::write_run(runs_.back() / "run.json", run));
        }
    }
    record::Spread spread_after() {
        Plan plan;
        plan.cases.push_back(planned_);
        expect_own_noise(plan, runs_, {.virtualization = "none"});
        return *plan.cases.front().spread;
    }

    harness::made::TemporaryFolder folder_;
    std::mt19937_64 random_{11};
    Manifest manifest_;
    Benchmark benchmark_;
    PlannedCase planned_;
    std::vector<fs::path> runs_;
};

TEST_F(NoiseHistory, IsUsedFromTheTenthRunOn) {
    add_runs(9);
    EXPECT_EQ(spread_after(), *planned_.spread);
    add_runs(1);
    const auto spread = spread_after();
    EXPECT_EQ(spread.source, "history");
    EXPECT_NEAR(spread.between_replicas, 0.01, 0.004);
    EXPECT_EQ(spread.replicas, 5);
    EXPECT_EQ(spread.degrees, 6);
    EXPECT_GT(spread.limit, 0);
}

TEST_F(NoiseHistory, AnotherVersionOfTheBenchmarkIsAnotherCase) {
    add_runs(9);
    add_runs(3, 2);
    EXPECT_EQ(spread_after().source, "memory");
}

TEST_F(NoiseHistory, RunsThatCannotBeReadAreLeftOut) {
    add_runs(10);
    std::ofstream{runs_[4] / "run.json"} << "{";
    fs::remove_all(runs_[5]);
    EXPECT_EQ(spread_after().source, "memory");
    add_runs(2);
    EXPECT_EQ(spread_after().source, "history");
}

TEST_F(NoiseHistory, ACaseWithoutASpreadHasNone) {
    add_runs(12);
    planned_.spread.reset();
    Plan plan;
    plan.cases.push_back(planned_);
    expect_own_noise(plan, runs_, {.virtualization = "none"});
    EXPECT_FALSE(plan.cases.front().spread);
}

} // namespace
} // namespace assay::harness
