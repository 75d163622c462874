// SPDX-License-Identifier: Apache-2.0
//
// Runs whose windows are disturbed: a thread beside the benchmark's own keeps it waiting for its CPU.
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "support/variable.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay {
namespace {

using record::Status;
using trouble_test::Folder;
using trouble_test::load_trouble;

namespace fs = std::filesystem;

/// Lets the benchmark alone from this replica on, counted from 1.
struct Crowd : trouble_test::Silent {
    void progress(const run::Progress& now) override {
        if (now.replica >= ends_at) fs::remove(file);
        Silent::progress(now);
    }
    fs::path file;
    int ends_at = 1000;
};

class Again : public testing::Test {
protected:
    Again() {
        crowd_.file = folder_.path() / "crowd";
        std::ofstream{crowd_.file}; // NOLINT(bugprone-unused-raii): an empty file
        for (auto& planned : plan_.cases) {
            planned.protocol.min_seconds = 0.15; // long enough for the counters
            planned.protocol.budget_seconds = 0.3;
            planned.spread = record::Spread{.between_replicas = 0.05,
                                            .between_runs = 0.1,
                                            .degrees = 6,
                                            .limit = 0.1,
                                            .replicas = plan_.replicas,
                                            .source = "test"};
        }
    }
    record::Run run(double patience, bool resume = false) {
        const auto outcome =
            trouble_test::run(plan_,
                              {.out = out_.path(),
                               .resume = resume,
                               .patience_seconds = patience,
                               .program = TROUBLE_PROGRAM,
                               .root = folder_.path()}, // without /proc/stat: always quiet
                              crowd_);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome ? outcome->run : record::Run{};
    }

    Folder folder_;
    const test::Variable crowds_{"TROUBLE_CROWD", (folder_.path() / "crowd").string()};
    Folder out_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    plan::Plan plan_ = trouble_.plan({"crowded"}, 5);
    Crowd crowd_;
};

TEST_F(Again, WhatWasDisturbedIsMeasuredAgainAndKept) {
    crowd_.ends_at = 5; // one quiet replica of five has none that agrees with it
    const auto result = run(60);
    ASSERT_EQ(result.cases.size(), 1U);
    if (result.schedule->always_busy) GTEST_SKIP() << "other programs use all of this machine";
    const auto& c = result.cases[0];
    ASSERT_GE(c.replicas.size(), 6U) << c.reason;
    for (const int disturbed : {0, 1, 2, 3}) {
        const auto& replica = c.replicas[static_cast<std::size_t>(disturbed)];
        EXPECT_EQ(replica.status, Status::disturbed);
        // The clock is measured by the thread that waits.
        EXPECT_THAT(record::text(replica.reason_values, "cause"),
                    testing::AnyOf("waiting", "clock_low"));
        EXPECT_FALSE(replica.values.empty()) << "a reader may recompute with them";
    }
    for (std::size_t i = 0; i < c.replicas.size(); ++i)
        EXPECT_EQ(c.replicas[i].index, static_cast<int>(i));
    EXPECT_GE(record::undisturbed(c), 1);
    EXPECT_NE(c.status, Status::disturbed) << c.reason;
    ASSERT_TRUE(result.schedule);
    EXPECT_GT(result.schedule->spent_seconds, 0);
    EXPECT_FALSE(result.schedule->always_busy);
    EXPECT_EQ(crowd_.finished_cases.size(), 1U);
}

TEST_F(Again, WithoutPatienceItStaysDisturbedAndIsFinal) {
    crowd_.ends_at = 5;
    const auto result = run(0);
    ASSERT_EQ(result.cases.size(), 1U);
    ASSERT_EQ(result.cases[0].replicas.size(), 5U);
    if (result.cases[0].replicas[4].seconds.value_or(1) > 0.003) // alone it takes 2 ms
        GTEST_SKIP() << "other programs use all of this machine";
    EXPECT_EQ(result.cases[0].status, Status::disturbed);
    const auto again = run(0, true);
    EXPECT_EQ(again.id, result.id);
    EXPECT_EQ(again.cases[0].replicas.size(), 5U) << "nothing is left to do for --resume";
}

TEST_F(Again, ALoadWithoutPausesIsSaidAtOnceAndResumedLater) {
    const auto busy = run(60);
    ASSERT_EQ(busy.cases.size(), 1U);
    EXPECT_EQ(busy.cases[0].replicas.size(), 5U);
    EXPECT_EQ(busy.cases[0].status, Status::disturbed);
    EXPECT_EQ(busy.cases[0].reason_code, record::ReasonCode::disturbed);
    EXPECT_FALSE(busy.cases[0].metrics.empty()) << "the least disturbed ones are shown";
    ASSERT_TRUE(busy.schedule);
    EXPECT_TRUE(busy.schedule->always_busy);
    EXPECT_EQ(busy.schedule->spent_seconds, 0);
    fs::remove(crowd_.file);
    const auto later = run(60, true);
    EXPECT_EQ(later.id, busy.id);
    EXPECT_TRUE(crowd_.resumed);
    EXPECT_GT(later.cases.at(0).replicas.size(), 5U);
}

} // namespace
} // namespace assay
