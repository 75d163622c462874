// SPDX-License-Identifier: Apache-2.0
//
// Cases that are measured at once: real workers, each on its part of the CPUs; what becomes of the others when one dies.

#include "base/file.hpp"
#include "decide/check.hpp"
#include "machine/topology.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using record::Status;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const record::Metric* metric(const record::Case& c, const std::string& name) {
    const auto found = std::ranges::find(c.metrics, name, &record::Metric::name);
    return found == c.metrics.end() ? nullptr : &*found;
}

bool is_measured(const record::Case& c) { return record::is_measured(c.status); }

class SiblingsTest : public testing::Test {
protected:
    void SetUp() override {
        if (machine::read_shape().usable.size() < 2) GTEST_SKIP() << "needs two cores";
    }
    record::Run run(const plan::Plan& plan, bool resume = false) {
        auto outcome = trouble_test::run(plan,
                                         {.out = folder_.path(),
                                          .resume = resume,
                                          .patience_seconds = 0,
                                          .program = TROUBLE_PROGRAM},
                                         observer_);
        EXPECT_TRUE(outcome) << outcome.error().message;
        if (!outcome) return {};
        const auto back = record::read_run(outcome->file);
        EXPECT_TRUE(back) << back.error().message;
        EXPECT_THAT(decide::check_summaries(*back), IsEmpty());
        return *back;
    }
    /// A healthy case beside one that is not.
    record::Run beside(const std::string& what, double limit) {
        auto plan = trouble_.together({"slow", what});
        for (auto& planned : plan.cases) planned.protocol.limit_seconds = limit;
        plan.digest += what;
        return run(plan);
    }
    static void expect_measured_without_its_sibling(const record::Case& c) {
        EXPECT_TRUE(is_measured(c)) << c.reason;
        EXPECT_THAT(c.replicas.front().telemetry.disturbances,
                    Contains(HasSubstr("Only 1 of 2 cases")));
        EXPECT_EQ(metric(c, "slowest_sibling"), nullptr);
    }
    std::vector<record::JournalStep> steps() const {
        return record::read_journal(observer_.folder / "journal.ndjson")->steps;
    }

    trouble_test::Folder folder_;
    trouble_test::Trouble trouble_ = trouble_test::load_trouble(TROUBLE_MODULE);
    trouble_test::Silent observer_;
};

TEST_F(SiblingsTest, EachHasItsWorkerItsJournalLineAndTheCommonMetric) {
    const auto result = run(trouble_.together({"slow", "slow"}, 3));
    ASSERT_THAT(result.cases, SizeIs(2));
    std::set<std::string> processes;
    for (const auto& c : result.cases) {
        EXPECT_TRUE(is_measured(c)) << c.reason;
        EXPECT_THAT(c.replicas, SizeIs(3));
        const auto* spread = metric(c, "slowest_sibling");
        ASSERT_NE(spread, nullptr);
        EXPECT_GT(spread->value, 0);
        EXPECT_LE(spread->value, 1);
        EXPECT_TRUE(spread->low) << "three replicas give an interval";
        processes.insert(record::text(c.settings, "seen.process"));
        EXPECT_TRUE(c.telemetry.window_seconds);
    }
    EXPECT_THAT(processes, SizeIs(2));
    EXPECT_THAT(steps(), SizeIs(6));
    EXPECT_THAT(observer_.finished_cases, SizeIs(2));
    EXPECT_EQ(observer_.last.estimate.steps_total, 6U);
    EXPECT_EQ(observer_.last.estimate.steps_done, 5U) << "siblings are one step, the last one";
    EXPECT_NE(record::identity(result.cases[0]), record::identity(result.cases[1]));
}

TEST_F(SiblingsTest, OneThatIsMeasuredWorksOnUntilTheSlowOneIs) {
    auto plan = trouble_.together({"slow", "slow"});
    plan.cases[1].protocol.min_seconds = plan.cases[1].protocol.budget_seconds = 0.5;
    const auto result = run(plan);
    for (const auto& c : result.cases) EXPECT_TRUE(is_measured(c)) << c.reason;
    EXPECT_LT(result.cases[0].telemetry.window_seconds, 0.5) << "only its own window counts";
    EXPECT_GE(result.cases[1].telemetry.window_seconds, 0.5);
}

/// Before it is ready, or while it works.
TEST_F(SiblingsTest, OneThatDiesOrHangsIsNotWaitedForBeyondItsLimit) {
    for (const auto& [what, status] :
         {std::pair{"segv", Status::crashed}, std::pair{"segv_later", Status::crashed},
          std::pair{"hang", Status::timed_out}, std::pair{"hang_later", Status::timed_out}}) {
        SCOPED_TRACE(what);
        const auto result = beside(what, status == Status::crashed ? 20 : 1);
        expect_measured_without_its_sibling(result.cases.at(0));
        EXPECT_EQ(result.cases.at(1).status, status);
    }
}

TEST_F(SiblingsTest, OneThatIsRefusedIsNoSibling) {
    for (const char* what : {"unfit", "throws", "wrong"}) {
        auto plan = trouble_.together({"slow", what});
        plan.digest += what;
        const auto result = run(plan);
        EXPECT_TRUE(is_measured(result.cases.at(0))) << what;
        EXPECT_FALSE(is_measured(result.cases.at(1))) << what;
    }
}

TEST_F(SiblingsTest, AreMeasuredAgainAsAWhole) {
    const auto plan = trouble_.together({"slow", "slow"}, 2);
    run(plan);
    const auto journal = observer_.folder / "journal.ndjson";
    auto text = read_whole(journal, 1'000'000).value();
    text.erase(text.rfind('\n', text.size() - 2) + 1); // the second one's last replica
    std::ofstream{journal, std::ios::trunc} << text;
    fs::remove(observer_.folder / "run.json");
    const auto result = run(plan, true);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_THAT(steps(), SizeIs(5)) << "three before, and both again";
    for (const auto& c : result.cases) {
        EXPECT_THAT(c.replicas, SizeIs(2));
        EXPECT_NE(metric(c, "slowest_sibling"), nullptr);
    }
}

class LoadTest : public SiblingsTest {
protected:
    /// `what` beside the second case alone.
    std::vector<record::Case> paired(const std::string& what) {
        auto turns = trouble_.turns({"slow"}, {"alone:", "beside:"}, 2);
        const auto both = trouble_.together({"slow", what});
        turns[0].plan.cases[0].share = turns[1].plan.cases[0].share = both.cases[0].share;
        turns[1].plan.cases[0].loads = {both.cases[1]};
        const auto outcomes = run::run(
            turns, {.out = folder_.path(), .patience_seconds = 0, .program = TROUBLE_PROGRAM},
            observer_);
        EXPECT_TRUE(outcomes) << outcomes.error().message;
        return outcomes
                   ? std::vector{outcomes->at(0).run.cases.at(0), outcomes->at(1).run.cases.at(0)}
                   : std::vector<record::Case>(2);
    }
};

TEST_F(LoadTest, WorksBesideACaseAndIsNotPublished) {
    const auto cases = paired("slow");
    for (const auto& c : cases) {
        EXPECT_TRUE(is_measured(c)) << c.reason;
        EXPECT_THAT(c.replicas, SizeIs(2));
        EXPECT_EQ(metric(c, "slowest_sibling"), nullptr);
    }
    EXPECT_EQ(record::identity(cases[0]), record::identity(cases[1]));
}

TEST_F(LoadTest, WithoutItThereIsNoValue) {
    for (const char* what : {"wrong", "segv_later"}) {
        const auto cases = paired(what);
        EXPECT_TRUE(is_measured(cases[0])) << what;
        EXPECT_EQ(cases[1].status, Status::failed) << what;
        EXPECT_THAT(cases[1].reason, HasSubstr("the load, "));
        EXPECT_THAT(cases[1].metrics, IsEmpty());
    }
}

} // namespace
} // namespace assay
