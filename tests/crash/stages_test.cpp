// SPDX-License-Identifier: Apache-2.0
//
// Runs with stages and time limits: what is measured, and what no longer.
#include "record/reader.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

using record::Status;
using testing::HasSubstr;
using trouble_test::Folder;
using trouble_test::load_trouble;
using trouble_test::Silent;

class StagesTest : public testing::Test {
protected:
    Result<run::Outcome> run(const plan::Plan& plan, run::RunOptions options = {}) {
        options.out = folder_.path();
        options.program = TROUBLE_PROGRAM;
        return trouble_test::run(plan, options, observer_);
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    Silent observer_;
};

TEST_F(StagesTest, StagesEndWhereGoingOnIsPointless) {
    using record::StageEnd;
    auto plan = trouble_.plan({"wrong", "fine", "slow"}, 2);
    plan.has_stages = true;
    plan.cases[2].is_stress = true;
    const auto ends = [](const record::Run& run) {
        std::vector<StageEnd> ends;
        for (const auto& stage : run.schedule->gates->stages) ends.push_back(stage.end);
        return ends;
    };
    const auto replicas = [](const record::Run& run) {
        std::vector<std::size_t> counts;
        for (const auto& c : run.cases) counts.push_back(c.replicas.size());
        return counts;
    };
    using Ends = std::vector<StageEnd>;
    const auto stopped = run(plan);
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(ends(stopped->run), (Ends{StageEnd::done, StageEnd::wrong_result, StageEnd::not_begun,
                                        StageEnd::not_begun}));
    EXPECT_EQ(replicas(stopped->run), (std::vector<std::size_t>{1, 1, 0}));
    EXPECT_EQ(stopped->run.cases[1].status, Status::interrupted);
    EXPECT_EQ(stopped->run.status, "interrupted");
    EXPECT_THAT(observer_.said, HasSubstr("wrong results of"));

    const auto whole = run(plan, {.keep_going = true});
    ASSERT_TRUE(whole);
    EXPECT_EQ(ends(whole->run), (Ends{StageEnd::done, StageEnd::wrong_result,
                                      StageEnd::wrong_result, StageEnd::done}));
    EXPECT_EQ(replicas(whole->run), (std::vector<std::size_t>{1, 2, 1})) << "one under stress";

    const auto none = run(plan, {.expected = {"gpu=64"}});
    ASSERT_TRUE(none);
    EXPECT_EQ(ends(none->run), (Ends{StageEnd::part_missing, StageEnd::not_begun,
                                     StageEnd::not_begun, StageEnd::not_begun}));
    EXPECT_EQ(replicas(none->run), (std::vector<std::size_t>{0, 0, 0}));
    EXPECT_THAT(observer_.said, HasSubstr("(expected gpu=64)"));
    const auto back = record::read_run(none->file);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->schedule, none->run.schedule);

    const auto late = run(trouble_.plan({"fine", "slow"}), {.limit_seconds = 1e-3});
    ASSERT_TRUE(late);
    EXPECT_TRUE(late->out_of_time);
    EXPECT_EQ(late->signal, 0);
    EXPECT_EQ(replicas(late->run), (std::vector<std::size_t>{0, 0}));
    EXPECT_EQ(late->run.schedule->gates->time_limit_seconds, 1e-3);
}

} // namespace
} // namespace assay
