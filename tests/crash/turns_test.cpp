// SPDX-License-Identifier: Apache-2.0
//
// Runs that take turns: real workers, one run for each variant, pairs that stay pairs whatever happens.

#include "decide/check.hpp"
#include "launch/launcher.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using record::Status;
using trouble_test::Folder;

class TurnsTest : public testing::Test {
protected:
    std::vector<plan::PlannedRun> turns(const std::vector<std::string>& what,
                                        const std::vector<std::string>& variants,
                                        int pairs = 2) const {
        return trouble_.turns(what, variants, pairs);
    }
    std::vector<run::Outcome> run(const std::vector<plan::PlannedRun>& turns, bool resume = false) {
        auto outcomes = run::run(
            turns, {.out = folder_.path() / "out", .resume = resume, .program = TROUBLE_PROGRAM},
            observer_);
        EXPECT_TRUE(outcomes) << outcomes.error().message;
        return outcomes ? std::move(*outcomes) : std::vector<run::Outcome>(2);
    }
    static std::vector<record::JournalStep> steps_of(const run::Outcome& outcome) {
        return record::read_journal(outcome.file.parent_path() / "journal.ndjson")->steps;
    }
    static void expect_consistent(const run::Outcome& outcome) {
        const auto back = record::read_run(outcome.file);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_THAT(decide::check_summaries(*back), testing::IsEmpty());
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = trouble_test::load_trouble(TROUBLE_MODULE);
    trouble_test::Silent observer_;
};

TEST_F(TurnsTest, EachVariantHasARunOfTheSamePairing) {
    const auto outcomes = run(turns({"fine", "slow"}, {"old:", "new: TROUBLE_X=1"}, 3));
    const auto& a = outcomes[0].run;
    const auto& b = outcomes[1].run;
    ASSERT_TRUE(a.pairing && b.pairing);
    EXPECT_EQ(a.pairing->id, b.pairing->id);
    EXPECT_EQ(a.pairing->setting, "old");
    EXPECT_EQ(b.pairing->setting, "new");
    EXPECT_EQ(b.pairing->order, "ABBA");
    EXPECT_THAT(b.pairing->changes,
                testing::ElementsAre(record::Named{"environment.TROUBLE_X", std::string{"1"}}));
    EXPECT_NE(a.id, b.id);
    EXPECT_EQ(a.digest, b.digest) << "they measure the same things";
    EXPECT_EQ(outcomes[0].file.parent_path().parent_path(),
              outcomes[1].file.parent_path().parent_path());
    for (const auto& outcome : outcomes) {
        expect_consistent(outcome);
        const auto back = record::read_run(outcome.file);
        EXPECT_EQ(back->pairing, outcome.run.pairing);
        for (const auto& c : back->cases) EXPECT_EQ(c.replicas.size(), 3U);
    }
    EXPECT_EQ(record::text(b.cases[0].settings, "environment.TROUBLE_X"), "1");
    EXPECT_EQ(record::text(a.cases[0].settings, "environment.TROUBLE_X"), "");
    EXPECT_EQ(observer_.last.estimate.steps_total, 12U);
}

TEST_F(TurnsTest, EveryStepIsAProcessOfItsOwn) {
    const auto outcomes = run(turns({"slow", "slow"}, {"a:", "b:"}, 2));
    std::set<std::string> processes;
    for (const std::size_t side : {0U, 1U})
        for (const auto& step : steps_of(outcomes[side])) {
            processes.insert(record::text(step.result.settings, "seen.process"));
            EXPECT_EQ(step.result.replicas.size(), 1U);
        }
    EXPECT_EQ(processes.size(), 8U);
}

TEST_F(TurnsTest, OneTuningForBothUnlessAVariantIsAboutIt) {
    const auto same = run(turns({"tuned"}, {"a:", "b:"}, 1));
    EXPECT_EQ(record::text(same[0].run.cases[0].settings, "tuning.MKL_TROUBLE"), "good");
    const auto* a = record::find(same[0].run.cases[0].settings, "tuning.best_seconds");
    const auto* b = record::find(same[1].run.cases[0].settings, "tuning.best_seconds");
    ASSERT_TRUE(a != nullptr && b != nullptr);
    EXPECT_EQ(*a, *b) << "tried once";
    const auto forced = run(turns({"tuned"}, {"a:", "b: MKL_TROUBLE=bad"}, 1));
    EXPECT_EQ(record::text(forced[0].run.cases[0].settings, "seen.kernel"), "good");
    EXPECT_EQ(record::text(forced[1].run.cases[0].settings, "seen.kernel"), "other");
    EXPECT_EQ(record::text(forced[1].run.cases[0].settings, "tuning.MKL_TROUBLE"), "");
    EXPECT_EQ(record::text(forced[1].run.cases[0].settings, "environment.MKL_TROUBLE"), "bad");
}

TEST_F(TurnsTest, ACrashOnOneSideCostsThatSideOfThatCase) {
    const auto outcomes = run(turns({"fine", "fickle", "fine"}, {"a:", "b: TROUBLE_CRASH=1"}, 2));
    for (const auto& outcome : outcomes) expect_consistent(outcome);
    EXPECT_EQ(outcomes[0].run.cases[1].replicas.size(), 2U);
    EXPECT_TRUE(record::is_finished(outcomes[0].run.cases[1].status));
    EXPECT_EQ(outcomes[1].run.cases[1].status, Status::crashed);
    EXPECT_EQ(outcomes[1].run.cases[1].replicas.size(), 1U);
    for (const auto& outcome : outcomes)
        for (const std::size_t good : {0U, 2U})
            EXPECT_EQ(outcome.run.cases[good].replicas.size(), 2U);
}

TEST_F(TurnsTest, ResumeGoesOnWithThePairingAndMeasuresHalfPairsAgain) {
    const auto plan = turns({"fine"}, {"a:", "b: TROUBLE_X=1"}, 2);
    const auto first = run(plan);
    // The state of a run killed in the second pair, which begins with b.
    const auto journal = first[0].file.parent_path() / "journal.ndjson";
    const auto content = record::read_journal(journal);
    ASSERT_EQ(content->steps.size(), 2U);
    std::string text;
    {
        std::ifstream file{journal};
        for (std::string line; text.size() < content->bytes && std::getline(file, line);)
            if (line.find("\"index\":1,") == std::string::npos) text += line + "\n";
    }
    std::ofstream{journal} << text;
    ASSERT_EQ(record::read_journal(journal)->steps.size(), 1U);
    fs::remove(first[0].file);

    const auto again = run(plan, true);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(again[0].run.id, first[0].run.id);
    EXPECT_EQ(again[1].run.id, first[1].run.id);
    EXPECT_EQ(again[0].run.pairing, first[0].run.pairing);
    for (const std::size_t side : {0U, 1U}) {
        const auto& before = first[side].run.cases[0].replicas;
        const auto& after = again[side].run.cases[0].replicas;
        ASSERT_EQ(after.size(), 2U);
        EXPECT_EQ(after[0].values, before[0].values) << "whole pairs stay";
        EXPECT_NE(after[1].values, before[1].values) << "both halves are new";
        expect_consistent(again[side]);
    }
    // Neither another variant nor a run by itself goes on with it, nor when nothing is left to do.
    fs::remove(first[0].file);
    EXPECT_NE(run(turns({"fine"}, {"a:", "b: TROUBLE_X=2"}, 2), true)[0].run.id, first[0].run.id);
    const auto alone = trouble_test::run(
        plan[0].plan, {.out = folder_.path() / "out", .resume = true, .program = TROUBLE_PROGRAM},
        observer_);
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->run.pairing);
    EXPECT_EQ(run(plan, true)[0].run.id, first[0].run.id);
    EXPECT_NE(run(plan, true)[0].run.id, first[0].run.id);
}

TEST_F(TurnsTest, WhatTheMachineDoesNotAllowIsSaidBeforeAnythingIsMeasured) {
    const auto outcomes =
        run::run(turns({"fine"}, {"a:", "b: via=no_such_program"}),
                 {.out = folder_.path() / "none", .program = TROUBLE_PROGRAM}, observer_);
    ASSERT_FALSE(outcomes);
    EXPECT_EQ(outcomes.error().fault, Fault::environment);
    EXPECT_EQ(observer_.last.estimate.steps_total, 0U);
}

} // namespace
} // namespace assay
