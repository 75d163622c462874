// SPDX-License-Identifier: Apache-2.0
//
// Several processes under mpirun: one bad rank costs one case, and no rank outlives it.

#include "launch/launcher.hpp"
#include "process/process.hpp"
#include "process/start.hpp"
#include "support/variable.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace assay {
namespace {

using record::Status;
using testing::HasSubstr;
using testing::IsEmpty;
using trouble_test::Folder;

class TeamTest : public testing::Test {
protected:
    void SetUp() override {
        const char* path = std::getenv("PATH");
        if (process::find_program("mpirun", path == nullptr ? "" : path).empty() ||
            !std::filesystem::exists(TROUBLE_TEAM_MODULE))
            GTEST_SKIP() << "no mpirun here";
        trouble_ = trouble_test::load_trouble(TROUBLE_TEAM_MODULE);
    }
    void TearDown() override {
        EXPECT_THAT(process::processes_of(-1, "ASSAY_TEST_MARK=" + folder_.path().string()),
                    IsEmpty());
    }
    record::Run run(const std::vector<std::string>& what, double limit = 30, int replicas = 1) {
        auto plan = trouble_.plan(what, replicas);
        for (auto& planned : plan.cases) planned.protocol.limit_seconds = limit;
        const auto outcome =
            trouble_test::run(plan, {.out = folder_.path(), .program = TROUBLE_PROGRAM}, observer_);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome ? outcome->run : record::Run{};
    }

    Folder folder_;
    const test::Variable marked_{"ASSAY_TEST_MARK", folder_.path().string()};
    trouble_test::Trouble trouble_;
    trouble_test::Silent observer_;
};

TEST_F(TeamTest, TwoRanksMeasureTogether) {
    const auto result = run({"fine", "fine"}, 30, 2);
    for (const auto& c : result.cases) {
        EXPECT_TRUE(c.status == Status::ok || c.status == Status::unstable) << c.reason;
        EXPECT_EQ(record::number(c.settings, "ranks"), 2);
        EXPECT_EQ(c.replicas.size(), 2U);
    }
}

// Each rank brings a hundred connections that say nothing, before its own.
TEST_F(TeamTest, StrangersTakeNobodysPlace) {
    const test::Variable strangers{"TROUBLE_STRANGERS", "100"};
    const auto result = run({"fine"}, 20);
    const auto& c = result.cases.at(0);
    EXPECT_TRUE(c.status == Status::ok || c.status == Status::unstable) << c.reason;
}

TEST_F(TeamTest, MoreRanksThanCoresWork) {
    auto plan = trouble_.plan({"fine"});
    plan.cases[0].parameters[2].value = std::int64_t{5};
    const auto outcome =
        trouble_test::run(plan, {.out = folder_.path(), .program = TROUBLE_PROGRAM}, observer_);
    ASSERT_TRUE(outcome);
    const auto& c = outcome->run.cases[0];
    EXPECT_TRUE(c.status == Status::ok || c.status == Status::unstable) << c.reason;
}

// Its first rank, which is bound to one CPU, for all of them.
TEST_F(TeamTest, AHostDescribesItsMachineOnce) {
    auto plan = trouble_.plan({"fine", "fine"});
    plan.job = {.hosts = {{.name = "127.0.0.1", .slots = 2}}, .launcher = "mpirun"};
    const auto outcome =
        trouble_test::run(plan, {.out = folder_.path(), .program = TROUBLE_PROGRAM}, observer_);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto& run = outcome->run;
    ASSERT_EQ(run.hosts.size(), 1U) << run.cases[0].reason;
    EXPECT_EQ(run.hosts[0].name, "node0");
    EXPECT_EQ(run.hosts[0].machine.id, run.machine.id);
    EXPECT_EQ(run.hosts[0].machine.usable_cores, run.machine.usable_cores);
    auto platform = run.machine.platform;
    EXPECT_GT(platform.results_free_bytes, 0);
    platform.results_free_bytes.reset(); // the other hosts write no results
    platform.swap_used_bytes = run.hosts[0].machine.platform.swap_used_bytes;
    EXPECT_EQ(run.hosts[0].machine.platform, platform);
    EXPECT_EQ(run.hosts[0].machine.hostname, "");
}

TEST_F(TeamTest, ACrashOfOneRankCostsTheCase) {
    const auto result = run({"segv", "fine"});
    EXPECT_EQ(result.cases.at(0).status, Status::crashed);
    EXPECT_THAT(result.cases[0].reason, HasSubstr("SIGSEGV"));
    EXPECT_TRUE(record::is_finished(result.cases.at(1).status)) << result.cases[1].reason;
}

TEST_F(TeamTest, AHangOfOneRankIsEnded) {
    const auto result = run({"hang"}, 3);
    EXPECT_EQ(result.cases.at(0).status, Status::timed_out) << result.cases[0].reason;
    EXPECT_EQ(result.cases[0].reason_code, record::ReasonCode::time_limit);
}

TEST_F(TeamTest, ARankThatCannotTakePartTellsWhy) {
    const auto result = run({"throws", "unfit", "fine"});
    EXPECT_EQ(result.cases.at(0).status, Status::failed);
    EXPECT_THAT(result.cases[0].reason, HasSubstr("rank 1"));
    EXPECT_THAT(result.cases[0].reason, HasSubstr("no set-up today"));
    EXPECT_EQ(result.cases[0].reason_code, record::ReasonCode::benchmark_error);
    EXPECT_EQ(record::number(result.cases[0].reason_values, "rank"), 1);
    EXPECT_EQ(record::text(result.cases[0].reason_values, "function"), "set-up");
    EXPECT_EQ(result.cases.at(1).status, Status::skipped);
    EXPECT_EQ(result.cases[1].reason_code, record::ReasonCode::not_applicable);
    EXPECT_TRUE(record::is_finished(result.cases.at(2).status)) << result.cases[2].reason;
}

// Rank 0 only knows that rank 1 failed; rank 1 knows why.
TEST_F(TeamTest, ARankThatFailsWhileItIsMeasuredTellsWhy) {
    const auto result = run({"unjudged", "fine"});
    EXPECT_EQ(result.cases.at(0).status, Status::failed);
    EXPECT_THAT(result.cases[0].reason, HasSubstr("rank 1"));
    EXPECT_THAT(result.cases[0].reason, HasSubstr("no verdict today"));
    EXPECT_EQ(result.cases[0].reason_code, record::ReasonCode::benchmark_error);
    EXPECT_EQ(record::text(result.cases[0].reason_values, "function"), "verify");
    EXPECT_TRUE(record::is_finished(result.cases.at(1).status)) << result.cases[1].reason;
}

TEST_F(TeamTest, WithoutALauncherTheCaseIsSkipped) {
    const test::Variable path{"PATH", "/nonexistent"};
    const auto result = run({"fine"});
    EXPECT_EQ(result.cases.at(0).status, Status::skipped);
    EXPECT_EQ(result.cases[0].reason, "needs mpirun (Debian package openmpi-bin)");
    EXPECT_EQ(result.cases[0].reason_code, record::ReasonCode::missing_here);
}

} // namespace
} // namespace assay
