// SPDX-License-Identifier: Apache-2.0
//
// Wrong results in a soak are found and located, in real processes; and what was found outlives an interruption.

#include "base/file.hpp"
#include "process/process.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "record/soak.hpp"
#include "support/variable.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using record::HeldAgainst;
using record::Replay;
using testing::HasSubstr;
using trouble_test::Folder;
using trouble_test::load_trouble;
using trouble_test::Silent;

class SoakTest : public testing::Test {
protected:
    plan::Plan plan(const std::string& what, std::int64_t every, double seconds,
                    std::size_t parts = 1) {
        return trouble_.soak(what, every, seconds, parts);
    }
    const record::Run& run(const plan::Plan& plan, bool keep_going = false, bool resume = false) {
        auto outcome = trouble_test::run(plan,
                                         {.out = folder_.path(),
                                          .resume = resume,
                                          .keep_going = keep_going,
                                          .program = TROUBLE_PROGRAM},
                                         observer_);
        EXPECT_TRUE(outcome) << outcome.error().message;
        run_ = record::read_run(outcome->file).value();
        return run_;
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    Silent observer_;
    record::Run run_;
};

TEST_F(SoakTest, GoesOnForItsTimeAndComparesEveryCall) {
    const auto& run = this->run(plan("none", 1, 4));
    ASSERT_TRUE(run.soak);
    EXPECT_EQ(run.ended_by, record::RunEnd::completed);
    EXPECT_GE(run.soak->seconds, 4);
    EXPECT_EQ(run.soak->wrong, 0U);
    const auto& phase = run.soak->phases.at(0);
    EXPECT_GE(phase.visits, 1);
    EXPECT_GT(phase.calls, 0U);
    EXPECT_EQ(phase.compared, phase.calls);
    EXPECT_EQ(phase.digest.size(), 16U);
    EXPECT_EQ(static_cast<std::int64_t>(phase.points.size()), phase.visits);
    EXPECT_EQ(phase.of, record::identity(run.cases.at(0)));
    EXPECT_THAT(phase.of, HasSubstr("soak=true"));
    EXPECT_TRUE(record::is_measured(run.cases.at(0).status)) << run.cases.at(0).reason;
}

TEST_F(SoakTest, OneBitIsFoundAndLocated) {
    const auto& run = this->run(plan("flips", 10'000, 600));
    ASSERT_TRUE(run.soak);
    EXPECT_EQ(run.ended_by, record::RunEnd::wrong_result);
    EXPECT_LT(run.soak->seconds, 600);
    EXPECT_THAT(observer_.said, HasSubstr("--keep-going"));
    EXPECT_GE(run.soak->wrong, run.soak->corruptions.size());
    const auto& phase = run.soak->phases.at(0);
    EXPECT_LE(run.soak->wrong,
              (phase.calls / 10'000) + static_cast<std::uint64_t>(phase.visits) + 1)
        << "of those that are right";
    const auto& found = run.soak->corruptions.at(0);
    EXPECT_EQ(found.of, record::identity(run.cases.at(0)));
    EXPECT_EQ(found.held_against, HeldAgainst::calls);
    EXPECT_EQ(found.right_again, Replay::same_state);
    EXPECT_EQ(found.output, 1);
    EXPECT_EQ(found.element, 12345);
    EXPECT_EQ(found.wrong_elements, 1);
    EXPECT_EQ(found.wrong_bits, 1);
    EXPECT_EQ(found.wrong_blocks, 1);
    EXPECT_EQ(found.bits, "0000000000020000");
    EXPECT_EQ(run.cases.at(0).status, record::Status::incorrect);
    EXPECT_THAT(run.cases.at(0).reason, HasSubstr("element 12345 of output 1"));
    EXPECT_TRUE(run.cases.at(0).metrics.empty());
}

TEST_F(SoakTest, DamageThatStaysInMemoryIsToldFromAPassingFault) {
    auto sticks = plan("sticks", 1, 600);
    sticks.cases[0].protocol.budget_seconds = 3;
    const auto& run = this->run(sticks);
    const auto& found = run.soak->corruptions.at(0);
    EXPECT_EQ(found.right_again, Replay::fresh_state);
    EXPECT_EQ(found.element, 777);
}

TEST_F(SoakTest, APartThatComputesOtherBitsIsNamed) {
    const auto file = (folder_.path() / "first").string();
    const test::Variable first{"TROUBLE_FIRST", file};
    const auto& run = this->run(plan("differs", 1, 600, 2));
    for (const auto& c : run.cases) EXPECT_NE(c.status, record::Status::failed) << c.reason;
    ASSERT_EQ(run.soak->corruptions.size(), 1U) << run.cases.at(0).reason;
    const auto& found = run.soak->corruptions.front();
    EXPECT_EQ(found.held_against, HeldAgainst::others);
    EXPECT_EQ(found.wrong_blocks, 1);
    EXPECT_EQ(found.block, 2) << "the first array has one block, and an element is in the second";
    EXPECT_THAT(found.of, HasSubstr("part="));
}

TEST_F(SoakTest, WhatWasFoundOutlivesTheRunAndIsContinued) {
    const auto first = this->run(plan("flips", 100, 1), true);
    const auto folder = observer_.folder;
    EXPECT_EQ(first.ended_by, record::RunEnd::completed) << "--keep-going";
    EXPECT_EQ(first.cases.at(0).status, record::Status::incorrect);
    ASSERT_GT(first.soak->wrong, 1U);
    fs::remove(folder / "run.json"); // as if it had been killed at its end
    const auto& run = this->run(plan("flips", 100, first.soak->seconds + 1), true, true);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(observer_.folder, folder);
    EXPECT_GE(run.soak->seconds, first.soak->seconds + 1);
    EXPECT_GT(run.soak->phases.at(0).visits, first.soak->phases.at(0).visits);
    EXPECT_GE(run.soak->wrong, first.soak->wrong);
    EXPECT_EQ(run.soak->corruptions.front(), first.soak->corruptions.front());
    EXPECT_EQ(run.soak->phases.at(0).digest, first.soak->phases.at(0).digest);
    // A soak that is over is not continued; a shorter one neither.
    const auto visits = run.soak->phases.at(0).visits;
    EXPECT_EQ(this->run(plan("flips", 100, 1), true, true).soak->phases.at(0).visits, visits);
}

TEST_F(SoakTest, AStretchInWhichItIsSlowIsPlaced) {
    class Slowing : public Silent {
    public:
        explicit Slowing(fs::path file) : file_{std::move(file)} {}
        void progress(const run::Progress& progress) override {
            Silent::progress(progress);
            if (progress.replica == 13) std::ofstream{file_} << "slow";
            if (progress.replica == 22) fs::remove(file_);
            if (progress.replica >= 34) ::raise(SIGTERM);
        }

    private:
        fs::path file_;
    };
    const auto file = folder_.path() / "slow";
    const test::Variable slow{"TROUBLE_SLOW", file.string()};
    Slowing observer{file};
    auto slowing = plan("slows", 1, 600);
    slowing.cases[0].protocol.budget_seconds = 0.1;
    auto outcome =
        trouble_test::run(slowing, {.out = folder_.path(), .program = TROUBLE_PROGRAM}, observer);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->run.ended_by, record::RunEnd::signal) << "what was found is kept";
    auto& phase = outcome->run.soak.value().phases.at(0);
    EXPECT_EQ(phase.wrong, 0U);
    EXPECT_EQ(phase.visits, 33);
    for (auto& point : phase.points) point.disturbed = 0; // load by other tests does not count
    const auto course = record::course_of(phase);
    ASSERT_TRUE(course.slowest);
    EXPECT_GT(course.slowest->slower, 0.5);
    // Other tests may slow the visits beside it, too.
    const auto expect_near = [&](double seconds, std::size_t visit) {
        EXPECT_GE(seconds, phase.points.at(visit - 3).begun_seconds) << visit;
        EXPECT_LE(seconds, phase.points.at(visit + 3).begun_seconds) << visit;
    };
    expect_near(course.slowest->from_seconds, 12);
    expect_near(course.slowest->to_seconds, 21);
    EXPECT_FALSE(course.slowest->lasts);
}

} // namespace
} // namespace assay
