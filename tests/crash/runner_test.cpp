// SPDX-License-Identifier: Apache-2.0
//
// Whatever a benchmark does costs one case: real workers, a module that does harm on purpose.

#include "process/process.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "support/fake_metadata.hpp"
#include "support/fake_nvml.hpp"
#include "support/variable.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
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
using trouble_test::Folder;
using trouble_test::load_trouble;
using trouble_test::Silent;

class RunnerTest : public testing::Test {
protected:
    Result<run::Outcome> run(const plan::Plan& plan, bool resume = false) {
        return trouble_test::run(
            plan, {.out = folder_.path(), .resume = resume, .program = TROUBLE_PROGRAM}, observer_);
    }
    record::Case only_case(const std::string& what, double limit = 20) {
        auto plan = trouble_.plan({what});
        for (auto& planned : plan.cases) planned.protocol.limit_seconds = limit;
        auto outcome = run(plan);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome ? outcome->run.cases.at(0) : record::Case{};
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    Silent observer_;
};

TEST_F(RunnerTest, MeasuresAndWritesAFileThatReadsBack) {
    const auto outcome = run(trouble_.plan({"fine", "slow"}, 2));
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->run.status, "done");
    EXPECT_THAT(outcome->run.build, testing::MatchesRegex("[0-9a-f]+")) << "which program measured";
    EXPECT_EQ(outcome->signal, 0);
    const auto back = record::read_run(outcome->file);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->cases.size(), 2U);
    for (const auto& c : back->cases) {
        EXPECT_TRUE(c.status == Status::ok || c.status == Status::unstable) << c.reason;
        EXPECT_EQ(c.replicas.size(), 2U);
        ASSERT_TRUE(c.verification);
        EXPECT_TRUE(c.verification->passed);
        ASSERT_FALSE(c.metrics.empty());
        EXPECT_EQ(c.metrics[0].name, "flop_rate");
    }
    EXPECT_EQ(observer_.finished_cases.size(), 2U);
    EXPECT_EQ(observer_.last.estimate.steps_total, 4U);
}

TEST_F(RunnerTest, AMetadataServiceThatGoesSilentIsRecorded) {
    const test::FakeMetadata real{1000};
    std::atomic<int> asked = 0;
    const test::FakeMetadata service{[&](const std::string& request) {
        return asked++ == 0 ? real.answer_to(request) : std::string{};
    }};
    const auto outcome = trouble_test::run(
        trouble_.plan({"slow"}),
        {.out = folder_.path(),
         .watch_preemption = service.url("/computeMetadata/v1/instance/preempted"),
         .watch_every = std::chrono::milliseconds{1},
         .program = TROUBLE_PROGRAM},
        observer_);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto back = record::read_run(outcome->file);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->ended_by, record::RunEnd::completed);
    EXPECT_GE(back->not_watched_since.size(), std::string{"2026-01-31T12:00:00Z"}.size());
    EXPECT_THAT(observer_.said, HasSubstr("has not answered since " + back->not_watched_since));
}

/// Two devices for all processes below, as long as it lives.
struct TwoDevices {
    explicit TwoDevices(const std::string& lines) : nvml{test::h200s(2) + lines} {}
    const test::FakeNvml nvml;
    const test::Variable path{"LD_LIBRARY_PATH", nvml.library().parent_path().string()};
};

TEST_F(RunnerTest, WhatTheLinksCountedIsHeldAgainstTheLabel) {
    auto plan = trouble_.plan({"linked"}, 1);
    auto benchmark = *plan.cases[0].benchmark;
    benchmark.place = "cuda";
    benchmark.all_devices = true;
    plan.cases[0].benchmark = &benchmark;
    plan.cases[0].devices = {{.kind = "cuda", .index = 0, .uuid = "GPU-0"},
                             {.kind = "cuda", .index = 1, .uuid = "GPU-1"}};
    const auto measured = [&](const std::string& lines) {
        const TwoDevices devices{lines};
        plan.digest += "again";
        const auto outcome = run(plan);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return record::read_run(outcome->file)->cases.at(0);
    };
    const auto moved = measured("* field.138.all 1000,1e12\n");
    EXPECT_TRUE(moved.status == Status::ok || moved.status == Status::unstable) << moved.reason;
    EXPECT_EQ(record::to_string(*record::find(moved.settings, "nvlink.proof")), "counted");
    ASSERT_TRUE(moved.telemetry.device);
    EXPECT_EQ(moved.telemetry.device->nvlink_sent_bytes, 2 * (1'000'000'000'000 - 1000) * 1024);

    const auto idle = measured(""); // 2000 KiB in all
    EXPECT_EQ(idle.status, Status::incorrect);
    EXPECT_THAT(idle.reason, HasSubstr("the NVLink counters show"));
    EXPECT_THAT(idle.reason, HasSubstr("at least 64 MiB"));
    EXPECT_TRUE(idle.metrics.empty());

    const auto silent = measured("* code.fields 3\n");
    EXPECT_TRUE(silent.status == Status::ok || silent.status == Status::unstable) << silent.reason;
    EXPECT_THAT(record::to_string(*record::find(silent.settings, "nvlink.proof")),
                HasSubstr("not counted"));
}

TEST_F(RunnerTest, ACaseOnADeviceIsWatchedThere) {
    auto plan = trouble_.plan({"slow"});
    auto benchmark = *plan.cases[0].benchmark;
    benchmark.place = "cuda";
    plan.cases[0].benchmark = &benchmark;
    plan.cases[0].devices = {{.kind = "cuda", .index = 1, .uuid = "GPU-1"}};
    const TwoDevices devices{"1 clock 1200\n1 replays 7,9\n"};
    const auto outcome = run(plan);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto back = record::read_run(outcome->file);
    ASSERT_TRUE(back) << back.error().message;
    const auto& c = back->cases.at(0);
    EXPECT_EQ(c.place.uuid, "GPU-1");
    ASSERT_TRUE(c.telemetry.device) << c.telemetry.energy_note.value_or("") << c.reason;
    EXPECT_EQ(c.telemetry.device->clock_hz, 1.2e9);
    EXPECT_GE(c.telemetry.device->samples.value_or(0), 1);
    EXPECT_THAT(c.telemetry.disturbances, Contains(HasSubstr("2 PCIe packets")));
    EXPECT_THAT(c.telemetry.energy_note.value_or(""), HasSubstr("shorter than 2 s"));
}

TEST_F(RunnerTest, ARunFolderHasItsPlaceInTheTree) {
    const auto outcome = trouble_test::run(trouble_.plan({"unfit"}),
                                           {.out = folder_.path(),
                                            .campaign = "2026 Q1",
                                            .provider = "some/../cloud",
                                            .instance = "big.8",
                                            .program = TROUBLE_PROGRAM},
                                           observer_);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto inside = fs::relative(outcome->file, folder_.path());
    EXPECT_EQ(inside, fs::path{"2026-Q1/some-..-cloud/big.8"} / outcome->run.machine.id /
                          outcome->run.id / "run.json");
    EXPECT_TRUE(fs::exists(outcome->file.parent_path() / "journal.ndjson"));
}

TEST_F(RunnerTest, AReplicaIsAProcessAlsoWhereThereIsButOneCase) {
    const auto outcome = run(trouble_.plan({"fine"}, 3));
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto journal = record::read_journal(outcome->file.parent_path() / "journal.ndjson");
    std::set<std::string> processes;
    for (const auto& step : journal->steps)
        processes.insert(record::to_string(*record::find(step.result.settings, "seen.process")));
    EXPECT_EQ(processes.size(), 3U);
}

TEST_F(RunnerTest, RecordsWhatTheEnvironmentWas) {
    const auto outcome = run(trouble_.plan({"fine"}));
    ASSERT_TRUE(outcome);
    const auto& settings = outcome->run.cases.at(0).settings;
    EXPECT_EQ(record::text(settings, "environment.OMP_NUM_THREADS"), "1");
    EXPECT_EQ(record::text(settings, "seen.threads"), "1");
    EXPECT_EQ(record::text(settings, "seen.socket"), "fd:3") << "that nobody else can reach";
    EXPECT_EQ(record::text(outcome->run.machine.software, "trouble.version"), "1.2.3")
        << "a fact of the module";
}

struct Bad {
    const char* what;
    Status status;
    const char* said;
    record::NamedList values;
};

TEST_F(RunnerTest, ABadCaseSaysWhatHappened) {
    const Bad bad[] = {
        {"segv",
         Status::crashed,
         "SIGSEGV",
         {{"signal", std::int64_t{SIGSEGV}}, {"phase", std::string{"running"}}}},
        {"leaves",
         Status::crashed,
         "ended with exit code 3 while running",
         {{"exit_code", std::int64_t{3}}}},
        {"throws",
         Status::failed,
         "no set-up today",
         {{"function", std::string{"set-up"}}, {"message", std::string{"no set-up today"}}}},
    };
    for (const auto& [what, status, said, values] : bad) {
        SCOPED_TRACE(what);
        const auto c = only_case(what);
        EXPECT_EQ(c.status, status);
        EXPECT_EQ(c.reason_code, status == Status::crashed ? record::ReasonCode::process_died
                                                           : record::ReasonCode::benchmark_error);
        EXPECT_THAT(c.reason, HasSubstr(said));
        for (const auto& [name, value] : values) {
            const auto* found = record::find(c.reason_values, name);
            ASSERT_NE(found, nullptr) << name;
            EXPECT_EQ(record::to_string(*found), record::to_string(value)) << name;
        }
        EXPECT_THAT(c.metrics, IsEmpty());
    }
}

TEST_F(RunnerTest, AHangIsEndedAndSaysWhere) {
    const auto in_run = only_case("hang", 0.5);
    EXPECT_EQ(in_run.status, Status::timed_out);
    EXPECT_EQ(in_run.reason_code, record::ReasonCode::time_limit);
    EXPECT_THAT(in_run.reason, HasSubstr("0.5 s reached while running"));
    EXPECT_EQ(record::number(in_run.reason_values, "limit_seconds"), 0.5);
    EXPECT_EQ(record::text(in_run.reason_values, "phase"), "running");
    const auto in_verify = only_case("hang_verify", 0.5);
    EXPECT_EQ(in_verify.status, Status::timed_out);
    EXPECT_THAT(in_verify.reason, HasSubstr("while verifying"));
}

#if defined(__OPTIMIZE__) // elsewhere memory begins with a pattern, and all of it is touched
TEST_F(RunnerTest, EatingMemoryCostsOneCase) {
    const auto outcome = run(trouble_.plan({"hungry", "fine"}));
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->run.cases[0].status == Status::failed ||
                outcome->run.cases[0].status == Status::crashed)
        << outcome->run.cases[0].reason;
    EXPECT_TRUE(record::is_finished(outcome->run.cases[1].status)) << outcome->run.cases[1].reason;
}
#endif

TEST_F(RunnerTest, WrongResultsShowNoRate) {
    for (const auto* what : {"wrong", "stale", "blind"}) {
        const auto c = only_case(what);
        EXPECT_EQ(c.status, Status::incorrect) << what << ": " << c.reason;
        EXPECT_THAT(c.metrics, IsEmpty()) << what;
    }
}

TEST_F(RunnerTest, WhatDoesNotApplyIsSkippedOnceWithItsReason) {
    const auto outcome = run(trouble_.plan({"unfit"}, 3));
    ASSERT_TRUE(outcome);
    const auto& c = outcome->run.cases[0];
    EXPECT_EQ(c.status, Status::skipped);
    EXPECT_THAT(c.reason, HasSubstr("a machine that does not exist"));
    EXPECT_EQ(record::text(c.reason_values, "message"), c.reason);
    EXPECT_THAT(c.replicas, IsEmpty());
    EXPECT_EQ(observer_.finished_cases.size(), 1U);
}

TEST_F(RunnerTest, AModulesWarningIsTheCasesWarning) {
    EXPECT_THAT(only_case("warns").warnings, testing::Contains("the weather is bad"));
}

TEST_F(RunnerTest, WarnsOfOutputDuringMeasurement) {
    EXPECT_THAT(only_case("prints").warnings,
                testing::Contains(testing::StartsWith("trouble.maker prints while")));
    EXPECT_THAT(only_case("slow").warnings,
                testing::Not(testing::Contains(testing::HasSubstr("prints"))));
}

TEST_F(RunnerTest, OneBadCaseLeavesItsNeighboursAlone) {
    const auto outcome = run(trouble_.plan({"fine", "segv", "fine", "leaves", "raw", "fine"}, 2));
    ASSERT_TRUE(outcome);
    const auto& cases = outcome->run.cases;
    for (const std::size_t good : {0U, 2U, 5U}) {
        EXPECT_TRUE(cases[good].status == Status::ok || cases[good].status == Status::unstable)
            << cases[good].reason;
        EXPECT_EQ(cases[good].replicas.size(), 2U);
    }
    EXPECT_EQ(cases[4].status, Status::failed) << "garbage on the socket: " << cases[4].reason;
    // A case that crashed is not tried again in the same run.
    EXPECT_EQ(cases[1].replicas.size(), 1U);
    EXPECT_EQ(cases[3].replicas.size(), 1U);
}

TEST_F(RunnerTest, TheFastestTuningIsUsedAndTold) {
    const auto c = only_case("tuned");
    EXPECT_EQ(record::text(c.settings, "tuning.MKL_TROUBLE"), "good");
    EXPECT_EQ(record::text(c.settings, "seen.kernel"), "good");
    EXPECT_THAT(c.warnings, testing::Contains(HasSubstr("MKL_TROUBLE=good")));
}

TEST_F(RunnerTest, AVariableOfTheShellIsLeftOutWithItsCostOrKept) {
    const test::Variable poor{"MKL_TROUBLE", "poor"};
    const auto without = only_case("tuned");
    const auto with = trouble_test::run(
        trouble_.plan({"tuned"}),
        {.out = folder_.path(), .keep_environment = {"MKL_TROUBLE"}, .program = TROUBLE_PROGRAM},
        observer_);
    EXPECT_EQ(record::text(without.settings, "tuning.MKL_TROUBLE"), "good");
    EXPECT_EQ(record::text(without.settings, "environment.MKL_TROUBLE"), "good");
    EXPECT_EQ(record::text(without.settings, "tuning.unset_value"), "poor");
    EXPECT_GT(record::number(without.settings, "tuning.unset_seconds"), 0.004);
    EXPECT_THAT(without.warnings, Contains(testing::AllOf(HasSubstr("MKL_TROUBLE=poor was set"),
                                                          HasSubstr("FLOP/s of "))));
    ASSERT_TRUE(with) << with.error().message;
    const auto& kept = with->run.cases.at(0);
    EXPECT_EQ(record::text(kept.settings, "environment.MKL_TROUBLE"), "poor");
    EXPECT_EQ(record::text(kept.settings, "seen.kernel"), "other");
    EXPECT_EQ(record::find(kept.settings, "tuning.MKL_TROUBLE"), nullptr) << "left alone";
    EXPECT_THAT(kept.warnings, testing::Not(Contains(HasSubstr("was set, but"))));
}

/// Also where it forks all the time.
TEST_F(RunnerTest, NoProcessIsLeftBehind) {
    const test::Variable marked{"ASSAY_TEST_MARK", folder_.path().string()};
    const auto mark = "ASSAY_TEST_MARK=" + folder_.path().string();
    for (const auto* what : {"breeds", "flees"}) {
        (void)only_case(what);
        for (int look = 0; look < 20; ++look)
            EXPECT_THAT(process::processes_of(-1, mark), IsEmpty()) << what;
    }
}

TEST_F(RunnerTest, ADaemonIsNamedAndEnded) {
    const auto name = folder_.path().string();
    const test::Variable daemon{"TROUBLE_DAEMON", name};
    const auto c = only_case("escapes");
    EXPECT_THAT(c.warnings, Contains(HasSubstr("left a process running: sleep (")));
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        std::string command;
        std::ifstream file{entry.path() / "cmdline"};
        std::getline(file, command, '\0');
        EXPECT_NE(command, name) << entry.path();
    }
}

TEST_F(RunnerTest, ResumeKeepsWhatIsFinishedAndTriesTheRestAgain) {
    const auto plan = trouble_.plan({"fine", "segv", "unfit"});
    const auto first = run(plan);
    ASSERT_TRUE(first);
    const auto again = run(plan, true);
    ASSERT_TRUE(again);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(again->run.id, first->run.id);
    ASSERT_EQ(again->run.cases.size(), 3U);
    EXPECT_EQ(again->run.cases[0].replicas[0].started, first->run.cases[0].replicas[0].started);
    EXPECT_EQ(again->run.cases[0].replicas[0].values, first->run.cases[0].replicas[0].values);
    EXPECT_EQ(again->run.cases[1].status, Status::crashed);
    EXPECT_EQ(again->run.cases[1].replicas.size(), 1U);
}

TEST_F(RunnerTest, ResumeMeasuresNothingWhereNothingIsLeft) {
    const auto plan = trouble_.plan({"fine"});
    const auto first = run(plan, true);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->was_complete);
    EXPECT_THAT(observer_.said, HasSubstr("no run of this plan to continue; a new run starts"));
    const auto written = fs::last_write_time(first->file);
    const auto again = run(plan, true);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->was_complete);
    EXPECT_EQ(again->run.id, first->run.id);
    EXPECT_EQ(fs::last_write_time(again->file), written);
}

TEST_F(RunnerTest, AModuleThatIsNotOfItsManifestIsNotMeasured) {
    trouble_.manifest->build_id = "0123456789abcdef"; // as if it had been rebuilt since
    const auto c = only_case("fine");
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, testing::AllOf(HasSubstr("another build"), HasSubstr("01234567")));
    EXPECT_THAT(c.metrics, IsEmpty());
}

TEST_F(RunnerTest, AWorkerThatCouldNotBeStartedIsTriedAgain) {
    const auto plan = trouble_.plan({"fine"});
    const auto with = [&](const fs::path& program, bool resume) {
        const auto outcome = trouble_test::run(
            plan, {.out = folder_.path(), .resume = resume, .program = program}, observer_);
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome ? outcome->run.cases.at(0) : record::Case{};
    };
    const auto failed = with(folder_.path() / "absent", false);
    EXPECT_EQ(failed.status, Status::not_started);
    EXPECT_EQ(failed.reason_code, record::ReasonCode::no_worker);
    EXPECT_THAT(failed.reason, testing::AllOf(HasSubstr("could not be started"),
                                              HasSubstr("cannot execute <path:")));
    const auto again = with(TROUBLE_PROGRAM, true);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_TRUE(record::is_finished(again.status)) << again.reason;
}

TEST_F(RunnerTest, AWorkerThatDiesBeforeItsHelloIsTriedAgain) {
    const auto plan = trouble_.plan({"fine"}, 2);
    ::setenv("TROUBLE_EARLY", std::to_string(SIGKILL).c_str(), 1);
    const auto early = run(plan);
    ::unsetenv("TROUBLE_EARLY");
    ASSERT_TRUE(early) << early.error().message;
    const auto& c = early->run.cases.at(0);
    EXPECT_EQ(c.status, Status::not_started);
    EXPECT_EQ(c.reason_code, record::ReasonCode::no_worker);
    EXPECT_THAT(c.reason, testing::AllOf(HasSubstr("could not be started"), HasSubstr("SIGKILL"),
                                         HasSubstr("before it reported its build")));
    const auto again = run(plan, true);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(observer_.resumed);
    EXPECT_TRUE(record::is_finished(again->run.cases.at(0).status)) << again->run.cases[0].reason;
    EXPECT_EQ(again->run.cases[0].replicas.size(), 2U);
}

// The worker is there, and what it loads is the benchmark's.
TEST_F(RunnerTest, AModuleThatKillsItsProcessWhenItIsLoadedIsACrash) {
    const test::Variable at_load{"TROUBLE_AT_LOAD", "1"};
    const auto c = only_case("fine");
    EXPECT_EQ(c.status, Status::crashed);
    EXPECT_EQ(c.reason_code, record::ReasonCode::process_died);
    EXPECT_EQ(record::number(c.reason_values, "signal"), SIGKILL);
    EXPECT_EQ(record::text(c.reason_values, "phase"), "loading the module");
}

TEST_F(RunnerTest, RawSamplesGoIntoASidecar) {
    const auto outcome = trouble_test::run(
        trouble_.plan({"slow"}),
        {.out = folder_.path(), .keep_samples = true, .program = TROUBLE_PROGRAM}, observer_);
    ASSERT_TRUE(outcome);
    std::ifstream file{outcome->file.parent_path() / "samples.ndjson"};
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    EXPECT_THAT(line, HasSubstr(R"({"case":0,"replica":0,"seconds":[)"));
}

TEST_F(RunnerTest, AFolderThatCannotBeWrittenIsAnErrorOfTheEnvironment) {
    const auto blocked = folder_.path() / "file";
    std::ofstream{blocked} << "in the way";
    for (const fs::path& out : {blocked, fs::path{"/dev/full"}}) {
        const auto outcome = trouble_test::run(trouble_.plan({"fine"}),
                                               {.out = out, .program = TROUBLE_PROGRAM}, observer_);
        ASSERT_FALSE(outcome) << out;
        EXPECT_EQ(outcome.error().fault, Fault::environment);
        EXPECT_THAT(outcome.error().message, HasSubstr(out.string()));
    }
}

} // namespace
} // namespace assay
