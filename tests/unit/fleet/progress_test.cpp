// SPDX-License-Identifier: Apache-2.0

#include "fleet/progress.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

/// One replica after the other, ten seconds apart.
record::JournalContent journal(int steps, int cases, int replicas) {
    record::JournalContent content;
    content.header = record::JournalHeader{.suite = "quick", .replicas = replicas, .cases = cases};
    for (int i = 0; i < steps; ++i) {
        record::JournalStep step{.case_index = static_cast<std::uint64_t>(i % cases)};
        record::Replica replica;
        replica.index = i / cases;
        replica.started = fmt::format("2026-11-20T12:{:02}:{:02}Z", i / 6, i % 6 * 10);
        replica.status = record::Status::ok;
        step.result.replicas.push_back(replica);
        content.steps.push_back(std::move(step));
    }
    return content;
}

TEST(FleetProgress, CountsCasesAndSaysHowLongTheRestTakes) {
    const auto found = progress_of(journal(18, 10, 2), {}, 1000, 970);
    EXPECT_EQ(found.done, 8U);
    EXPECT_EQ(found.cases, 10U);
    EXPECT_EQ(found.measured, 18U);
    ASSERT_TRUE(found.left);
    EXPECT_NEAR(*found.left, 20, 1e-9);
    EXPECT_FALSE(found.stalled);
    EXPECT_EQ(found.silent, 30);
}

TEST(FleetProgress, AnOlderJournalIsCompletedByAFinishedRunOfItsPlan) {
    auto old = journal(5, 10, 1);
    old.header->cases.reset();
    EXPECT_FALSE(progress_of(old, {}, 10, 0).left);
    EXPECT_EQ(progress_of(old, 10, 10, 0).cases, 10U);
    EXPECT_NEAR(progress_of(old, 10, 10, 0).left.value(), 50, 1e-9);
}

TEST(FleetProgress, ACaseThatFailedIsDone) {
    auto failed = journal(3, 3, 2);
    failed.steps[1].result.replicas[0].status = record::Status::crashed;
    const auto found = progress_of(failed, {}, 0, 0);
    EXPECT_EQ(found.done, 1U);
    EXPECT_EQ(found.measured, 4U);
}

TEST(FleetProgress, AClockThatWasSetBackShowsInTheOrderOfTheLines) {
    auto back = journal(18, 10, 2);
    EXPECT_EQ(progress_of(back, {}, 0, 0).went_back, 0);
    std::swap(back.steps[7].result.replicas, back.steps[16].result.replicas);
    EXPECT_EQ(progress_of(back, {}, 0, 0).went_back, 90);
}

TEST(FleetProgress, LongSilenceIsNoRun) {
    EXPECT_TRUE(progress_of(journal(5, 10, 1), {}, 1000, 0).stalled);
    EXPECT_TRUE(progress_of({}, {}, 1000, 0).stalled) << "nothing was ever written";
}

} // namespace
} // namespace assay::report
