// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

using record::Status;
using namespace testing;

record::Case copy_of(const std::string& library, int replicas) {
    return test::sample_case({.benchmark = "memory.stream",
                              .library = library,
                              .work = {{"bytes", 1e6}},
                              .headline = "bandwidth",
                              .replicas = replicas},
                             7);
}

/// Stopped after one case, within the second one.
record::Run stopped() {
    record::Run run{.status = "interrupted",
                    .cases = {copy_of("done", 5), copy_of("begun", 2), copy_of("never", 1),
                              copy_of("neither", 1)}};
    run.cases[2].replicas.clear();
    run.cases[3].replicas.clear();
    for (auto& c : run.cases) {
        c.spread = record::Spread{.between_replicas = 0.01,
                                  .degrees = 3,
                                  .limit = 0.1,
                                  .replicas = 5,
                                  .source = "memory",
                                  .rules = record::current_rules};
        record::conclude(c, 5);
    }
    return run;
}

TEST(Summary, OfAnInterruptedRunHasWhatWasMeasured) {
    const auto run = stopped();
    ASSERT_EQ(run.cases[1].status, Status::ok) << run.cases[1].reason;
    const auto text = cli::summary_text(run, {.width = 100});
    EXPECT_THAT(text, AllOf(HasSubstr("memory.stream[done]"), HasSubstr("memory.stream[begun]"),
                            HasSubstr("2 of 5"), Not(HasSubstr("never")), Not(HasSubstr("neither")),
                            Not(HasSubstr("were measured"))));
    EXPECT_THAT(text, StartsWith("2 cases verified: 2 known.\n\n"));
    // The answer and a blank line, the group with the names of the columns, and two cases, each with its rate.
    EXPECT_EQ(std::ranges::count(text, '\n'), 5);
    const auto rate = text.find("B/s");
    ASSERT_NE(rate, text.npos);
    EXPECT_NE(text.find("B/s", rate + 1), text.npos);
    EXPECT_EQ(cli::not_measured(run), 2U);
}

TEST(Summary, BeginsWithWhatDisturbedTheRun) {
    record::Run run{.status = "done", .cases = {copy_of("quiet", 5), copy_of("busy", 5)}};
    EXPECT_THAT(cli::summary_text(run, {.width = 120}), Not(HasSubstr("Busy:")));
    auto& replica = run.cases[1].replicas[2];
    run.cases[1].spread = record::Spread{.limit = 0.1, .replicas = 4};
    record::disturb(replica.telemetry, record::DisturbanceCode::foreign_cpu,
                    {{"share", 0.21}, {"programs", std::string{"chromium, cc1plus"}}}, "busy");
    for (auto& c : run.cases) record::conclude(c, 5);
    EXPECT_THAT(cli::summary_text(run, {.width = 120}),
                StartsWith("2 cases verified: 2 known. Busy: chromium, cc1plus used up to 21% of "
                           "the CPU.\n"));
}

TEST(Summary, HasAGroupForEachKindAndALineForEachCause) {
    record::Run run{.status = "done"};
    for (const char* library : {"a", "b", "c", "d", "e", "f"}) {
        auto c = copy_of(library, 5);
        c.spread = record::Spread{.limit = 0.1, .replicas = 5};
        record::conclude(c, 5);
        run.cases.push_back(c);
    }
    const auto make = [&](std::size_t i, Status status, record::ReasonCode code) {
        run.cases[i].status = status;
        run.cases[i].reason_code = code;
    };
    make(1, Status::unstable, record::ReasonCode::two_levels);
    make(2, Status::unstable, record::ReasonCode::replicas_disagree);
    make(3, Status::disturbed, record::ReasonCode::disturbed);
    for (const std::size_t i : {0U, 1U, 2U}) {
        run.cases[i].warnings = {"memory grew from " + std::to_string(98 + i) +
                                 ".8 MiB to 1.59 GiB: it leaks"};
        run.cases[i].warnings.push_back(run.cases[i].warnings[0]);
    }
    for (const std::size_t i : {4U, 5U}) {
        run.cases[i].status = Status::skipped;
        run.cases[i].reason = "needs something else";
        run.cases[i].metrics.clear();
    }
    const auto text = cli::summary_text(run, {.width = 100});
    EXPECT_THAT(text, StartsWith("4 cases verified: 1 known, 1 at least, 2 rough.\n\nknown "));
    EXPECT_THAT(text, AllOf(HasSubstr("\nat least: disturbed\n"),
                            HasSubstr("\nrough: 1 at two levels, 1 too noisy\n"),
                            HasSubstr("  about "), ContainsRegex("\\[d\\][^±\n]+\n"),
                            HasSubstr("\nmemory.stream[a] and 2 more: memory grew from 98.8 MiB"),
                            HasSubstr("\nmemory.stream[e] and 1 more skipped: needs something")));
    EXPECT_EQ(std::ranges::count(text, '\n'), 12) << text;
}

TEST(ExitCodes, OfTheWorstCase) {
    const auto code = [](const std::vector<Status>& statuses, const cli::FailOn& fail_on,
                         int signal = 0) {
        run::Outcome outcome{.run = {}, .file = {}, .signal = signal};
        for (const auto status : statuses) outcome.run.cases.push_back({.status = status});
        return cli::exit_code(outcome, fail_on);
    };
    EXPECT_EQ(code({Status::ok, Status::unstable, Status::disturbed, Status::skipped}, {}),
              ExitCode::done);
    EXPECT_EQ(code({Status::ok, Status::unstable}, {"unstable"}), ExitCode::failed);
    EXPECT_EQ(code({Status::ok, Status::unstable}, {"disturbed"}), ExitCode::done);
    EXPECT_EQ(code({Status::disturbed}, {"unstable", "disturbed"}), ExitCode::failed);
    EXPECT_EQ(code({Status::not_started, Status::ok}, {}), ExitCode::environment);
    EXPECT_EQ(code({Status::not_started, Status::unstable}, {"unstable"}), ExitCode::failed);
    EXPECT_EQ(code({Status::crashed, Status::not_started}, {}), ExitCode::failed);
    EXPECT_EQ(code({Status::crashed}, {}, 2), ExitCode::interrupted);
    // Nothing was measured.
    EXPECT_EQ(code({Status::skipped, Status::interrupted}, {}), ExitCode::inconclusive);
    EXPECT_EQ(code({Status::interrupted}, {}, 2), ExitCode::interrupted);
    run::Outcome late{.run = {}, .file = {}, .out_of_time = true};
    late.run.cases = {{.status = Status::interrupted}};
    EXPECT_EQ(cli::exit_code(late, {}), ExitCode::inconclusive);
    late.run.cases.push_back({.status = Status::ok});
    EXPECT_EQ(cli::exit_code(late, {}), ExitCode::interrupted);
}

TEST(ExitCodes, HaveOneOrder) {
    constexpr ExitCode order[] = {ExitCode::usage,       ExitCode::interrupted,  ExitCode::failed,
                                  ExitCode::environment, ExitCode::inconclusive, ExitCode::done};
    for (std::size_t i = 0; i < std::size(order); ++i)
        for (std::size_t j = i; j < std::size(order); ++j) {
            EXPECT_EQ(cli::worse(order[i], order[j]), order[i]);
            EXPECT_EQ(cli::worse(order[j], order[i]), order[i]);
        }
}

TEST(Progress, OutsideOfATerminalIsALineForEachReplica) {
    const auto catalogue = made::catalogue();
    auto plan = plan::make_plan(catalogue, {.what = {"memory.copy"}, .replicas = 5});
    ASSERT_TRUE(plan);
    plan::Interleaving turns;
    turns.runs.push_back({.plan = std::move(*plan)});
    testing::internal::CaptureStderr();
    {
        cli::ProgressLine line{turns, false};
        run::Progress progress{.case_index = 0,
                               .replica = 1,
                               .estimate = {.steps_done = 0, .steps_total = 10},
                               .phase = "measuring"};
        line.progress(progress);
        line.progress(progress); // of the same replica, in the same moment
        progress.replica = 2;
        progress.estimate = {.steps_done = 1, .steps_total = 10, .remaining_seconds = 65};
        line.progress(progress);
        progress.replica = 6; // measured again
        line.progress(progress);
        cli::ProgressLine quiet{turns, true};
        quiet.progress(progress);
    }
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                MatchesRegex("0/10  0 s left  replica 1 of 5  measuring  memory.copy.*\n"
                             "1/10  65 s left  replica 2 of 5  measuring  memory.copy.*\n"
                             "1/10  65 s left  replica 6  measuring  memory.copy[^\n]*\n"));
}

} // namespace
} // namespace assay::cli
