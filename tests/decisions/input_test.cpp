// SPDX-License-Identifier: Apache-2.0
//
// Rows about input that contradicts itself: it is named in the first lines, with a code, and never passes. And the exit
// code of each verdict.

#include "base/utc.hpp"
#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "record/journal.hpp"
#include "situation.hpp"
#include "store/collection.hpp"
#include "support/temporary_folder.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::Run;
using ::testing::HasSubstr;

const Run& good() {
    static const auto run = good_chip("nvidia-h100-sxm5-80gb").run;
    return run;
}

std::vector<std::string> codes_of(const Answer& answer) {
    std::vector<std::string> codes;
    for (const auto& problem : answer.json.at("problems")) codes.push_back(problem.at("code"));
    return codes;
}
/// A file that is not used, beside a good one: with this code, in the first lines, and no PASS.
void expect_refused(const Run& bad, const char* code) {
    const Folder folder;
    write_small(folder.path(), "fine", good());
    write_small(folder.path(), "odd", bad);
    const auto answer = check({folder.path()});
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    EXPECT_EQ(verdict_of(answer), "INCONCLUSIVE") << code;
    EXPECT_THAT(codes_of(answer), ::testing::ElementsAre(code));
    EXPECT_THAT(first_lines(answer), HasSubstr("odd/run.json"));
}
/// A file that is used, with a finding of this cause in the first lines.
void expect_finding(const Folder& folder, const char* cause, const char* words) {
    const auto answer = check({folder.path()});
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    EXPECT_EQ(verdict_of(answer), "INCONCLUSIVE") << cause;
    for (const auto& node : nodes_of(answer)) {
        EXPECT_NE(node.verdict, "PASS") << node.name;
        EXPECT_TRUE(
            std::ranges::any_of(node.checks, [&](const Check& one) { return one.cause == cause; }))
            << cause << "\n"
            << open_checks(node);
    }
    EXPECT_THAT(first_lines(answer), HasSubstr(words));
}

Run with_id(Run run, const std::string& id) {
    run.id = id;
    return run;
}
record::Case& case_of(Run& run, const Wanted& wanted) {
    return *std::ranges::find_if(run.cases, wanted);
}
const Wanted triad = on_devices("memory.stream kernel=triad");
const Wanted copy_of_memory = on_devices("memory.stream kernel=copy");

// --- clocks ---------------------------------------------------------------------------------------------

TEST(Clocks, OfTheFutureAreRefused) {
    expect_refused(with_id(later(good(), 24.0 * 3650), "future"), "future");
}
TEST(Clocks, ThatNobodySetAreRefused) {
    auto run = with_id(good(), "first");
    run.started = run.ended = "1970-01-01T00:01:00Z";
    expect_refused(run, "not_set");
}
TEST(Clocks, ThatWentBackBeforeTheEndAreRefused) {
    auto run = with_id(good(), "back");
    run.ended = utc_of(*seconds_of(run.started) - 3600);
    expect_refused(run, "backwards");
}
TEST(Clocks, ThatWentBackDuringTheRunAreNamed) {
    const double begin = *seconds_of(good().started);
    // Before the run; and before the replica before it.
    for (const double seconds : {begin - 900, begin + 5}) {
        auto run = good();
        run.ended = utc_of(begin + 1000);
        auto& replicas = case_of(run, triad).replicas;
        for (std::size_t i = 0; i < replicas.size(); ++i)
            replicas[i].started = utc_of(begin + 100 + 100.0 * static_cast<double>(i));
        replicas.back().started = utc_of(seconds);
        const Folder folder;
        write_small(folder.path(), "odd", run);
        expect_finding(folder, "clock_went_back", "odd/run.json");
    }
}
record::RunClock clock_of(const Run& run) {
    return {.built = run.started.substr(0, 10),
            .boot = "0123456789abcdef",
            .up_seconds = *seconds_of(run.ended) - *seconds_of("2026-01-01")};
}
TEST(Clocks, ThatWereSetDuringTheRunAreNamed) {
    for (const double days : {-40.0, 40.0}) {
        auto run = good();
        run.clock = clock_of(run);
        run.clock->step_seconds = days * 86400;
        const Folder folder;
        write_small(folder.path(), "odd", run);
        expect_finding(folder, "clock_went_back", "odd/run.json");
    }
}
TEST(Clocks, BeforeTheBuildAreRefused) {
    auto run = with_id(good(), "early");
    run.clock = clock_of(run);
    run.clock->built = "2099-01-31";
    expect_refused(run, "not_set");
}
TEST(Clocks, ThatEndInTheFutureAreRefused) {
    auto run = with_id(good(), "late");
    run.ended = utc_of(seconds_now() + 40.0 * 86400);
    expect_refused(run, "future");
}
TEST(Clocks, SetBackDoNotMoveBadRunsBeforeTheRepair) {
    auto repaired = good();
    repaired.tags = {{"repair", std::string{"new board"}}};
    repaired.clock = clock_of(repaired);
    auto bad = later(good(), -20);
    slow_down(bad, triad, 1.6);
    const auto verdict = [&](const record::Run& run) {
        const Folder folder;
        write_small(folder.path(), "bad", run);
        write_small(folder.path(), "repaired", repaired);
        return verdict_of(check({folder.path()}));
    };
    EXPECT_EQ(verdict(bad), "PASS") << "it is from before the repair, as far as anybody knows";
    bad.clock = repaired.clock;
    bad.clock->up_seconds += 3600;
    EXPECT_EQ(verdict(bad), "FAIL") << "measured an hour after the repaired run, by the same boot";
    bad.clock.reset();
    bad.cases.front().replicas.front().started = utc_of(*seconds_of(bad.started) - 3600);
    EXPECT_EQ(verdict(bad), "INCONCLUSIVE") << "its clock was set: its order is unknown";
}
TEST(Clocks, ThatDifferBySecondsAreFine) {
    auto run = good();
    case_of(run, triad).replicas.front().started = utc_of(*seconds_of(run.started) - 3);
    const Folder folder;
    write_small(folder.path(), "one", run);
    EXPECT_EQ(verdict_of(check({folder.path()})), "PASS");
}

// --- what is left out -----------------------------------------------------------------------------------

/// A good run of a campaign, a file that was changed by hand, a run that began, and limits of which one replaces
/// another and one is for a machine that is not there.
void write_all_that_is_left_out(const Folder& folder) {
    auto run = good();
    run.campaign = "autumn";
    write_small(folder.path(), "one", run);
    const auto changed = write_small(folder.path(), "changed", later(run, 1));
    auto text = test::content_of(changed);
    const std::string_view speed = "\"seconds\":1";
    ASSERT_NE(text.find(speed), text.npos);
    text.replace(text.find(speed), speed.size(), "\"seconds\":2");
    folder.write(changed.string(), text);
    std::filesystem::create_directories(folder.path() / "begun");
    record::JournalHeader header{.run = "begun", .suite = "acceptance", .started = good().started};
    ASSERT_TRUE(record::Journal::create(folder.path() / "begun" / "journal.ndjson", header));
    folder.write("limits.json", R"({
      "schema": "assay.limits/1", "name": "mine",
      "limits": [{ "id": "device-triad", "kind": "contract", "case": { "benchmark": "memory.stream",
        "kernel": "triad", "place": "cuda*" }, "unit": "B/s", "at_least": 1e9, "source": "made up" },
      { "id": "of-another", "kind": "contract", "machine": { "device": "AMD*" }, "case": { "benchmark": "memory.stream",
        "place": "hip*" }, "unit": "B/s", "at_least": 1e9, "source": "made up" }]})");
}
TEST(LeftOut, IsInTheFirstLinesOfTextJsonAndPage) {
    const Folder folder;
    write_all_that_is_left_out(folder);
    const auto page = folder.path() / "page.html";
    const Words words{"--filter",   "benchmark=memory.*",
                      "--campaign", "autumn",
                      "--limits",   "spec",
                      "--limits",   (folder.path() / "limits.json").string()};
    auto with_page = words;
    with_page.insert(with_page.end(), {"--html", page.string()});
    const auto answer = check({folder.path()}, with_page);
    const auto lines = first_lines(answer);
    Words as_text{"check", folder.path().string()};
    as_text.insert(as_text.end(), words.begin(), words.end());
    const auto text = ask(as_text).text;
    const auto html = test::content_of(page);
    for (const auto* what : {"benchmark=memory.*", "--campaign", "changed/run.json", "begun",
                             "device-triad", "of-another"}) {
        EXPECT_THAT(lines, HasSubstr(what));
        EXPECT_THAT(text.substr(0, text.find("\n\n")), HasSubstr(what));
        EXPECT_THAT(html.substr(0, html.find("<table")), HasSubstr(what));
    }
}

// --- copies ---------------------------------------------------------------------------------------------

TEST(Copies, OfReplicasInAnotherCaseAreNamed) {
    auto run = good();
    auto& target = case_of(run, copy_of_memory);
    target.replicas = case_of(run, triad).replicas;
    conclude(target);
    const Folder folder;
    write_small(folder.path(), "odd", run);
    expect_finding(folder, "replicas_copied", "odd/run.json");
}
TEST(Copies, OfOneReplicaInItsCaseAreNamed) {
    auto run = good();
    auto& target = case_of(run, triad);
    for (auto& replica : target.replicas) {
        const int index = replica.index;
        replica = target.replicas.front();
        replica.index = index;
    }
    conclude(target);
    const Folder folder;
    write_small(folder.path(), "odd", run);
    expect_finding(folder, "replicas_copied", "odd/run.json");
}
TEST(Copies, OfGoodReplicasInLaterRunAreNamed) {
    auto run = later(good(), 3);
    slow_down(run, triad, 1.3);
    auto original = good();
    case_of(run, triad).replicas = case_of(original, triad).replicas;
    conclude(case_of(run, triad));
    const Folder folder;
    write_small(folder.path(), "one", good());
    write_small(folder.path(), "odd", run);
    expect_finding(folder, "replicas_copied", "odd/run.json");
}
TEST(Copies, OfBadRunCountOnce) {
    // Three runs an hour apart are asked of a host with neighbours: copies are one of them.
    record::Run bad;
    for (const auto& kind : host_kinds())
        if (kind.name == "x86-16-guest") bad = good_host(kind).run;
    ASSERT_FALSE(bad.cases.empty());
    slow_down(bad, on_host("memory.stream kernel=triad threads=all"), 3);
    const Folder folder;
    for (int hour = 0; hour < 3; ++hour) {
        auto run = with_id(bad, "run-" + std::to_string(hour));
        const double shift = 3600.0 * hour * 2;
        for (auto* time : {&run.started, &run.ended}) *time = utc_of(*seconds_of(*time) + shift);
        for (auto& c : run.cases)
            for (auto& replica : c.replicas)
                if (const auto when = seconds_of(replica.started))
                    replica.started = utc_of(*when + shift);
        write_small(folder.path(), run.id, run);
    }
    expect_finding(folder, "replicas_copied", "run-");
}
TEST(Copies, OfRunUnderAnotherMachineAreNamed) {
    auto copied = with_id(good(), "copied");
    rename_machine(copied, "n2");
    for (std::size_t i = 0; i < copied.cases.size(); ++i)
        copied.cases[i].replicas = good().cases[i].replicas;
    const Folder folder;
    write_small(folder.path(), "one", good());
    write_small(folder.path(), "odd", copied);
    const auto answer = check({folder.path()});
    EXPECT_EQ(verdict_of(answer), "INCONCLUSIVE");
    ASSERT_EQ(nodes_of(answer).size(), 2U);
    for (const auto& node : nodes_of(answer))
        EXPECT_EQ(node.verdict == "PASS",
                  !std::ranges::any_of(
                      node.checks, [](const Check& one) { return one.cause == "replicas_copied"; }))
            << node.name;
    EXPECT_THAT(first_lines(answer), HasSubstr("odd/run.json"));
}
TEST(Copies, UnderAnotherIdTakeNoPartInComparisons) {
    const Folder folder;
    write_small(folder.path(), "one", good());
    write_small(folder.path(), "two", with_id(good(), "copied"));
    const auto all = store::collect({folder.path().string()});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->runs.size(), 1U);
    ASSERT_EQ(all->problems.size(), 1U);
    EXPECT_EQ(all->problems.front().code, store::ProblemCode::copied);
}
TEST(Copies, OfWholeFileCountOnce) {
    const Folder folder;
    write_small(folder.path(), "one", good());
    write_small(folder.path(), "two", good());
    const auto answer = check({folder.path()});
    EXPECT_EQ(verdict_of(answer), "PASS") << first_lines(answer);
    EXPECT_THAT(codes_of(answer), ::testing::ElementsAre("copy"));
}

// --- identity -------------------------------------------------------------------------------------------

Run with_board(Run run, const std::string& board) {
    run.machine.identity.by = "product_uuid";
    run.machine.identity.parts = {{.kind = "board", .where = "", .id = board}};
    return run;
}

TEST(OneId, OfTwoBoardsIsNamed) {
    const Folder folder;
    write_small(folder.path(), "one", with_board(good(), "board-a"));
    write_small(folder.path(), "odd", with_board(later(good(), 2), "board-b"));
    const auto answer = check({folder.path()});
    EXPECT_EQ(nodes_of(answer).size(), 2U);
    expect_finding(folder, "id_of_others", "odd/run.json");
}
TEST(OneId, OfNewBoardAfterRepairPasses) {
    const Folder folder;
    write_small(folder.path(), "one", with_board(good(), "board-a"));
    auto repaired = with_board(later(good(), 2), "board-b");
    repaired.tags = {{"repair", std::string{"new board"}}};
    write_small(folder.path(), "two", repaired);
    bool passes = false;
    for (const auto& node : nodes_of(check({folder.path()})))
        passes |= node.runs.front().ends_with("two/run.json") && node.verdict == "PASS";
    EXPECT_TRUE(passes);
}

// --- files beside the results ---------------------------------------------------------------------------

TEST(Expectation, OfNothingIsRefused) {
    const Folder folder;
    write_small(folder.path(), "one", good());
    folder.write("nodes.txt", "# no node yet\n\n");
    for (const auto& expect : {(folder.path() / "nodes.txt").string(), std::string{}}) {
        const auto answer = ask({"fleet", folder.path().string(), "--expect", expect});
        EXPECT_EQ(answer.code, 2) << expect;
        EXPECT_THAT(answer.error, HasSubstr("--expect")) << expect;
    }
}

TEST(Limits, ThatReplaceOthersAreNamedFirst) {
    const Folder folder;
    write_small(folder.path(), "one", good());
    folder.write("mine.json", R"({
      "schema": "assay.limits/1", "name": "mine",
      "limits": [{ "id": "device-triad", "kind": "contract", "case": { "benchmark": "memory.stream",
        "kernel": "triad", "place": "cuda*" }, "unit": "B/s", "at_least": 1e9, "source": "made up" }]})");
    const auto answer = check(
        {folder.path()}, {"--limits", "spec", "--limits", (folder.path() / "mine.json").string()});
    EXPECT_EQ(verdict_of(answer), "PASS") << first_lines(answer);
    EXPECT_THAT(first_lines(answer), HasSubstr("device-triad"));
}

TEST(ExampleLimits, PassLintAndTheirOwnResults) {
    std::vector<record::Run> runs{good(), read(real("h200-acceptance"))};
    for (const auto& kind : host_kinds())
        if (kind.name == "x86-16-bare" || kind.name == "x86-16-guest")
            runs.push_back(good_host(kind).run);
    for (const auto& run : runs) {
        const Folder folder;
        const auto file = write_small(folder.path(), "one", run).string();
        const auto mine = (folder.path() / "mine.json").string();
        const auto written = ask({"limits", "init", file, "--out", mine});
        ASSERT_EQ(written.code, 0) << written.error;
        EXPECT_EQ(ask({"limits", "lint", mine}).code, 0) << ask({"limits", "lint", mine}).text;
        const auto answer = check({file}, {"--limits", mine});
        EXPECT_EQ(verdict_of(answer), "PASS") << first_lines(answer);
        const auto nodes = nodes_of(answer);
        ASSERT_EQ(nodes.size(), 1U);
        EXPECT_GT(nodes.front().checks.size(), 5U);
        // 20% below what it was made from.
        auto slow = run;
        const bool has_device = !run.machine.devices.empty();
        slow_down(slow,
                  has_device ? on_devices("gemm.square precision=bf16")
                             : on_host("peak.fma precision=fp64 threads=all"),
                  1.8);
        const auto worse = check({write_small(folder.path(), "two", slow)}, {"--limits", mine});
        EXPECT_NE(verdict_of(worse), "PASS") << first_lines(worse);
        const auto again = ask({"limits", "init", file, "--out", mine});
        EXPECT_EQ(again.code, 2);
        EXPECT_THAT(again.error, HasSubstr("exists"));
    }
}
TEST(ExampleLimits, NeedTwoReplicas) {
    auto run = good();
    interrupt(run, 1);
    std::erase_if(run.cases, [](const record::Case& c) { // under stress one is enough
        return record::find(c.parameters, "stress") != nullptr;
    });
    const Folder folder;
    const auto file = write_small(folder.path(), "one", run).string();
    const auto answer = ask({"limits", "init", file});
    EXPECT_EQ(answer.code, 2);
    EXPECT_THAT(answer.error, HasSubstr("assay run acceptance"));
}

// --- exit codes -----------------------------------------------------------------------------------------

TEST(ExitCodes, OfProcessAndJsonAgree) {
    const auto slow = [] {
        auto run = good();
        slow_down(run, triad, 1.6);
        return run;
    };
    const auto with = [](record::DisturbanceCode code) {
        auto run = good();
        mark(run, triad, code);
        return run;
    };
    const auto crashed = [] {
        auto run = good();
        auto& c = case_of(run, triad);
        c.replicas.front().status = record::Status::crashed;
        c.replicas.front().reason = "made up";
        conclude(c);
        return run;
    };
    const std::vector<std::tuple<const char*, int, record::Run>> situations{
        {"PASS", 0, good()},
        {"WARN", 0, with(record::DisturbanceCode::memory_corrected)},
        {"FAIL", 1, slow()},
        {"INCONCLUSIVE", 3, with(record::DisturbanceCode::device_capped)},
        {"ERROR", 4, crashed()}};
    for (const auto& [verdict, code, run] : situations) {
        const Folder folder;
        write_small(folder.path(), "one", run);
        const auto answer = check({folder.path()});
        EXPECT_EQ(verdict_of(answer), verdict) << first_lines(answer);
        EXPECT_EQ(answer.code, code) << verdict;
        EXPECT_EQ(answer.json.at("exit_code"), code) << verdict;
        const auto advisory = check({folder.path()}, {"--advisory"});
        EXPECT_EQ(advisory.code, 0) << verdict;
        EXPECT_EQ(advisory.json.at("exit_code"), 0) << verdict;
    }
}

} // namespace
} // namespace assay::decisions
