// SPDX-License-Identifier: Apache-2.0
//
// The small pieces a run is made of: tuning, forecast, names of folders.

#include "record/convert.hpp"
#include "record/noise.hpp"
#include "run/active_run.hpp"
#include "run/forecast.hpp"
#include "run/redaction.hpp"
#include "run/run_folder.hpp"
#include "run/tuning.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace assay::run {
namespace {

using namespace testing;
namespace fs = std::filesystem;

// --- tuning ---------------------------------------------------------------------------------------

/// Answers from a table; "" is the library's own choice. Keeps the order it was asked in.
struct FakeProbe {
    std::map<std::string, double> seconds;
    std::vector<std::string> asked;
    std::optional<double> operator()(const plan::Tuning* tuning) {
        asked.push_back(tuning == nullptr ? "" : tuning->value);
        const auto known = seconds.find(asked.back());
        return known == seconds.end() ? std::nullopt : std::optional{known->second};
    }
};

const std::vector<plan::Tuning> three{{"CORE", "a", ""}, {"CORE", "b", ""}, {"CORE", "c", ""}};

/// Choice among three that are timed by this table.
TuningChoice chosen(std::map<std::string, double> seconds, const std::vector<Unset>& unset = {}) {
    FakeProbe probe{.seconds = std::move(seconds)};
    return choose_tuning(three, std::ref(probe), unset);
}

TEST(Tuning, TheFastestWinsAndIsTriedThereAndBack) {
    FakeProbe probe{.seconds = {{"", 2.0}, {"a", 1.5}, {"b", 1.0}}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(choice.variables, ElementsAre(record::Named{"CORE", std::string{"b"}}));
    EXPECT_THAT(probe.asked, ElementsAre("", "a", "b", "c", "b", ""));
    EXPECT_THAT(choice.settings, ElementsAre(record::Named{"tuning.CORE", std::string{"b"}},
                                             record::Named{"tuning.default_seconds", 2.0},
                                             record::Named{"tuning.best_seconds", 1.0}));
    EXPECT_THAT(choice.warnings,
                ElementsAre(AllOf(HasSubstr("100% more time"), HasSubstr("CORE=b"))));
}

TEST(Tuning, ASmallWinIsNotTakenAndOneBelowFivePercentWithoutAWord) {
    const auto same = chosen({{"", 1.01}, {"a", 1.0}});
    EXPECT_THAT(same.variables, IsEmpty());
    EXPECT_THAT(same.warnings, IsEmpty());
    EXPECT_EQ(record::to_string(same.settings.at(0).value), "default");
    const auto faster = chosen({{"", 1.04}, {"a", 1.0}});
    EXPECT_EQ(faster.variables.size(), 1U);
    EXPECT_THAT(faster.warnings, IsEmpty());
}

TEST(Tuning, WhatCannotBeMeasuredIsNotTriedFurther) {
    FakeProbe probe{.seconds = {{"a", 1.0}}};
    const auto choice = choose_tuning(three, std::ref(probe));
    EXPECT_THAT(probe.asked, ElementsAre(""));
    EXPECT_THAT(choice.settings, IsEmpty());
}

TEST(Tuning, OneDisturbedProbeDoesNotDecide) {
    int own = 0;
    const auto choice = choose_tuning({{"CORE", "a", ""}}, [&](const plan::Tuning* tuning) {
        if (tuning != nullptr) return std::optional{1.0};
        return std::optional{own++ == 0 ? 3.0 : 1.0}; // the first was disturbed
    });
    EXPECT_THAT(choice.variables, IsEmpty());
    int tuned = 0;
    const auto lucky = choose_tuning({{"CORE", "a", ""}}, [&](const plan::Tuning* tuning) {
        if (tuning == nullptr) return std::optional{1.0};
        return std::optional{tuned++ == 0 ? 0.9 : 1.1};
    });
    EXPECT_THAT(lucky.variables, IsEmpty());
}

TEST(Tuning, SaysWhatAnUnsetValueWouldHaveCost) {
    const plan::Manifest manifest{.tunings = three};
    const auto unset = unset_tunings(manifest, {"CORE=a", "OTHER=x"}, {"OTHER=x"});
    ASSERT_EQ(unset.size(), 1U);
    EXPECT_EQ(unset[0].variable + "=" + unset[0].value, "CORE=a");
    auto choice = chosen({{"", 1.5}, {"a", 4.0}, {"b", 1.0}}, unset);
    auto timed = choice;
    warn_of_unset(timed);
    ASSERT_EQ(timed.warnings.size(), 2U);
    EXPECT_THAT(timed.warnings[1], HasSubstr("taken 300% more time"));
    warn_of_unset(choice, 452e9);
    ASSERT_EQ(choice.warnings.size(), 2U);
    EXPECT_THAT(choice.warnings[1],
                AllOf(HasSubstr("CORE=a was set, but"), HasSubstr("--keep-environment"),
                      HasSubstr("reached 113 GFLOP/s of 452 GFLOP/s")));
    const auto again = valid(recorded_choice(manifest, choice.settings));
    EXPECT_EQ(again->variables, choice.variables);
    EXPECT_EQ(again->settings, choice.settings);
    EXPECT_EQ(again->warnings, choice.warnings);
    EXPECT_FALSE(recorded_choice(manifest, {}));
}

TEST(Tuning, AnUnsetValueThatCostsNothingOrWasNotTriedIsNoWarning) {
    for (const auto* value : {"b", "unheard of"}) {
        auto choice =
            chosen({{"", 1.0}, {"a", 4.0}, {"b", 1.01}}, {{.variable = "CORE", .value = value}});
        warn_of_unset(choice, 1e9);
        EXPECT_THAT(choice.warnings, IsEmpty()) << value;
    }
    EXPECT_THAT(unset_tunings({.tunings = three}, {"CORE=a"}, {"CORE=a"}), IsEmpty())
        << "kept by the user: nothing is tried";
}

TEST(Tuning, OnlyWhatTheCpuHasAndTheUserLeftOpen) {
    const plan::Manifest manifest{.tunings = {{"CORE", "plain", ""},
                                              {"CORE", "wide", "avx512f avx512bw"},
                                              {"OTHER", "x", ""}}};
    record::Machine machine;
    machine.isa = {"avx2", "avx512f"};
    EXPECT_EQ(usable_tunings(manifest, machine, {}).size(), 2U);
    machine.isa.emplace_back("avx512bw");
    EXPECT_EQ(usable_tunings(manifest, machine, {}).size(), 3U);
    EXPECT_EQ(usable_tunings(manifest, machine, {"CORE=mine"}).size(), 1U);
}

TEST(Tuning, SizesShareAChoiceAndPrecisionsDoNot) {
    const plan::Manifest manifest{.module = "openblas"};
    const plan::Benchmark benchmark{
        .id = "gemm.square",
        .parameters = {{.name = "precision", .kind = plan::ParameterKind::name},
                       {.name = "size", .kind = plan::ParameterKind::integer}}};
    const auto group = [&](const std::string& precision, std::int64_t size) {
        return tuning_group({.module = &manifest,
                             .benchmark = &benchmark,
                             .parameters = {{"precision", precision}, {"size", size}}});
    };
    EXPECT_EQ(group("fp64", 1024), group("fp64", 2048));
    EXPECT_NE(group("fp64", 1024), group("fp32", 1024));
}

// --- forecast -------------------------------------------------------------------------------------

TEST(Forecast, GoesFromThePlanToWhatWasMeasured) {
    double now = 100;
    Forecast forecast{{10, 10}, 2, [&] { return now; }};
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 40);
    forecast.begin(0);
    now += 4;
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 36);
    forecast.end(0); // 4 s, planned 10
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 4 + 20);
    EXPECT_EQ(forecast.now().steps_done, 1U);
    EXPECT_EQ(forecast.now().steps_total, 4U);
    forecast.skip(1);
    forecast.skip(1);
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 4);
    EXPECT_DOUBLE_EQ(forecast.now().elapsed_seconds, 4);
    forecast.begin(0);
    now += 1000; // longer than last time: nothing is left, but never less
    EXPECT_DOUBLE_EQ(forecast.now().remaining_seconds, 0);
}

// --- facts ----------------------------------------------------------------------------------------

TEST(Facts, ThereAreAtMostTenThousand) {
    record::NamedList software{{"kernel", std::string{"6.1"}}};
    record::NamedList facts;
    for (std::int64_t i = 0; i < 9'998; ++i) facts.push_back({"a." + std::to_string(i), i});
    add_facts(software, facts);
    EXPECT_EQ(software.size(), 9'999U);
    add_facts(software, {{"b.first", true}, {"b.second", true}});
    EXPECT_EQ(software.size(), 10'000U);
    EXPECT_EQ(software.front().name, "kernel");
    EXPECT_EQ(software.back().name, "b.first");
    add_facts(software, facts);
    EXPECT_EQ(software.size(), 10'000U);
}

// --- folders --------------------------------------------------------------------------------------

TEST(PathWord, IsOneHarmlessLevel) {
    EXPECT_EQ(path_word("c7a.large"), "c7a.large");
    EXPECT_EQ(path_word("2026 Q1 / test"), "2026-Q1-test");
    EXPECT_EQ(path_word(".."), "unknown");
    EXPECT_EQ(path_word("../../etc"), "etc");
    EXPECT_EQ(path_word(".hidden"), "hidden");
    EXPECT_EQ(path_word(""), "unknown");
    EXPECT_EQ(path_word(std::string(1000, 'x')).size(), 64U);
    EXPECT_EQ(path_word("a\nb\x01\xff"), "a-b");
}

struct RunFolders : ::testing::Test {
    assay::made::TemporaryFolder folder;
    const std::vector<plan::PlannedRun> wanted = std::vector<plan::PlannedRun>(1);

    RunFolder open(const record::Machine& machine, bool resume = false) const {
        auto opened = open_run_folders(wanted, {.out = folder.path(), .resume = resume}, machine);
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(opened->front());
    }
};

TEST_F(RunFolders, GoOnUnderAnOlderIdOfTheMachine) {
    const auto first = open({.id = "old"}).path;
    const record::Machine now{.id = "new", .identity = {.by = "product_uuid", .aliases = {"old"}}};
    EXPECT_EQ(open(now, true).path, first);
    EXPECT_NE(open({.id = "other"}, true).path, first);
    EXPECT_EQ(open(now).path.parent_path().filename(), "new");
}

TEST_F(RunFolders, SayWhichPartsWereExchanged) {
    record::Run run{.machine = {.id = "m", .identity = {.by = "product_uuid"}}};
    run.machine.identity.parts = {{.kind = "board", .where = "", .id = "1"},
                                  {.kind = "device", .where = "0000:1b:00.0", .id = "2"}};
    const auto first = open(run.machine);
    EXPECT_EQ(first.note, "");
    run.status = "done";
    ASSERT_TRUE(record::write_run(first.path / "run.json", run));
    EXPECT_EQ(open(run.machine).note, "");
    run.machine.identity.parts[1].id = "3";
    EXPECT_THAT(open(run.machine).note, HasSubstr(": device 0000:1b:00.0"));
}

TEST(IsOpen, WhatIsFinishedOrDecidedIsClosed) {
    record::Case c;
    EXPECT_TRUE(is_open(c, 0));
    c.replicas.push_back({.index = 0, .status = record::Status::ok});
    EXPECT_FALSE(is_open(c, 0));
    EXPECT_TRUE(is_open(c, 1));
    c.replicas.push_back({.index = 1, .status = record::Status::crashed});
    EXPECT_FALSE(is_open(c, 2));
    record::Case skipped;
    skipped.status = record::Status::skipped;
    EXPECT_FALSE(is_open(skipped, 0));
}

// --- noise of earlier runs ---------------------------------------------------------------------------

class NoiseHistory : public ::testing::Test {
protected:
    NoiseHistory() {
        manifest_.module = "host";
        benchmark_.id = "test.memory";
        benchmark_.headline = "time";
        benchmark_.noise = plan::Noise::memory;
        planned_.module = &manifest_;
        planned_.benchmark = &benchmark_;
        planned_.parameters = {{"size", std::int64_t{64}}};
        planned_.spread = record::Spread{
            .between_replicas = 0.03, .degrees = 6, .replicas = 5, .source = "memory"};
    }

    /// Five replicas a run that differ by 1%.
    void add_runs(int count, std::uint32_t version = 1) {
        std::normal_distribution<double> normal;
        for (int i = 0; i < count; ++i) {
            auto c = empty_case(planned_);
            c.version = version;
            c.status = record::Status::ok;
            for (int index = 0; index < 5; ++index) {
                record::Replica replica{.index = index};
                replica.status = record::Status::ok;
                replica.seconds = std::exp(0.01 * normal(random_));
                replica.calls = 1;
                c.replicas.push_back(replica);
            }
            record::Run run{.id = fmt::format("run{:03}", runs_.size())};
            run.cases.push_back(std::move(c));
            runs_.push_back(folder_.path() / run.id);
            fs::create_directory(runs_.back());
            ASSERT_TRUE(record::write_run(runs_.back() / "run.json", run));
        }
    }
    std::optional<record::Spread> spread_after() {
        plan::Plan plan;
        plan.cases.push_back(planned_);
        expect_own_noise(plan, runs_, {.virtualization = "none"});
        return plan.cases.front().spread;
    }

    made::TemporaryFolder folder_;
    std::mt19937_64 random_{11};
    plan::Manifest manifest_;
    plan::Benchmark benchmark_;
    plan::PlannedCase planned_;
    std::vector<fs::path> runs_;
};

TEST_F(NoiseHistory, IsUsedFromFifthRunOn) {
    add_runs(4);
    EXPECT_EQ(spread_after(), planned_.spread);
    add_runs(1);
    const auto spread = spread_after().value();
    EXPECT_EQ(spread.source, "history");
    EXPECT_NEAR(spread.between_replicas, 0.01, 0.004);
    EXPECT_EQ(spread.replicas, 5);
    EXPECT_EQ(spread.degrees, 6);
    // That of the kind and that of the runs, which differ by less.
    EXPECT_LT(spread.between_runs,
              record::noise_level("memory", record::NoisePlace::bare_metal).between_runs);
    EXPECT_GT(spread.limit, 0);
}

TEST_F(NoiseHistory, AnotherVersionOfTheBenchmarkIsAnotherCase) {
    add_runs(4);
    add_runs(3, 2);
    EXPECT_EQ(spread_after()->source, "memory");
}

TEST_F(NoiseHistory, RunsThatCannotBeReadAreLeftOut) {
    add_runs(5);
    std::ofstream{runs_[3] / "run.json"} << "{";
    fs::remove_all(runs_[4]);
    EXPECT_EQ(spread_after()->source, "memory");
    add_runs(2);
    EXPECT_EQ(spread_after()->source, "history");
}

TEST_F(NoiseHistory, ACaseWithoutASpreadHasNone) {
    add_runs(12);
    planned_.spread.reset();
    EXPECT_FALSE(spread_after());
}

// --- what names nobody -------------------------------------------------------------------------------

// Parts of a record that could name a host, a user or a folder, and some that only look like it.

const Redaction redaction{{.hosts = {"gpu-17.example.org", "gpu-17"},
                           .users = {"miriam"},
                           .paths = {"/home/miriam", "/root", "/data/My Runs"},
                           .kept_variables = {"LD_PRELOAD"}}};

TEST(Redaction, LeavesWhatIsNoSecret) {
    const std::vector<std::string> words{
        "",      "Ring", "^openib",   "a / b",  "//",       "/",           "/ok",
        "1/2/3", "n/a",  "fp16/fp32", "../x/y", "mlx5_0:1", "{0},{1},{2}", "https: no"};
    const std::vector<std::string> texts{
        "rc,sm,cuda_copy",
        "505 GFLOP/s",
        "12 B/s, 3.1 1/s, 2 k/s",
        "read/write and I/O",
        "0000:65:00.0",
        "GPU-5d1f0a7e-0000",
        "signal 11 (SIGSEGV)",
        "needs /dev/infiniband/uverbs0",
        "/proc/sys/kernel/perf_event_paranoid is 3",
        "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
        "gpu-171 and xgpu-17 and miriams",
        "memory.stream[host] kernel=triad",
        "NVIDIA H100 (retrieved: https://example.com/a-b/sheet.pdf)",
        "see http://example.com:8080/a/b?c=d and I/O"};
    for (const auto& list : {words, texts})
        for (const auto& text : list) EXPECT_EQ(redaction(text), text);
}

TEST(Redaction, ReplacesPathsWholly) {
    for (const std::string path :
         {"/opt/acme/libtrick.so", "/home/miriam", "/home/miriam/x/y.so", "/root/.cache",
          "/scratch/project-7/run.json", "/srv/jürgen/daten"}) {
        EXPECT_THAT(redaction(path), ContainsRegex("^<path:......>$")) << path;
        EXPECT_EQ(redaction("a " + path + ": gone"), "a " + redaction(path) + ": gone");
        EXPECT_EQ(redaction("(" + path + ")."), "(" + redaction(path) + ").");
        EXPECT_EQ(redaction("X=" + path + ":" + path),
                  "X=" + redaction(path) + ":" + redaction(path));
        EXPECT_EQ(redaction("-I" + path), "-I" + redaction(path));
    }
    EXPECT_NE(redaction("/opt/a/x"), redaction("/opt/a/y"));
    EXPECT_THAT(redaction("file:///data/My Runs/1/run.json"), Not(HasSubstr("Runs")));
    EXPECT_THAT(redaction("https://gpu-17/home/miriam/x"), Not(HasSubstr("gpu-17")));
    EXPECT_THAT(redaction("https://gpu-17/home/miriam/x"), Not(HasSubstr("miriam")));
    EXPECT_THAT(redaction("/usr/lib/of/miriam/x.so"), Not(HasSubstr("miriam")));
}

TEST(Redaction, ReplacesNamesOfHostsAndUsers) {
    const auto host = redaction("gpu-17");
    EXPECT_THAT(host, ContainsRegex("^<host:....>$"));
    EXPECT_EQ(redaction("[gpu-17:4711] error"), "[" + host + ":4711] error");
    EXPECT_EQ(redaction("ssh miriam@gpu-17-ib0"), "ssh <user>@" + host + "-ib0");
    EXPECT_THAT(redaction("gpu-17.example.org"), ContainsRegex("^<host:....>$"));
    EXPECT_NE(redaction("gpu-17.example.org"), host);
    const Redaction two{{.hosts = {"gpu-17", "gpu-18"}}};
    EXPECT_NE(two("gpu-17"), two("gpu-18")) << "as unlike as they were";
}

TEST(Redaction, DoesItOnce) {
    const std::string text = "gpu-17: miriam: /opt/acme/x.so: error";
    EXPECT_EQ(redaction(redaction(text)), redaction(text));
}

TEST(Redaction, IsUndoneForTheTerminal) {
    const std::string text = "gpu-17: /opt/acme/x.so: error in /opt/acme/y.so";
    record::Run run;
    run.cases.emplace_back().reason = redaction(text);
    run.cases[0].warnings = {redaction(text)};
    reveal(run, redaction.hidden());
    EXPECT_EQ(run.cases[0].reason, text);
    EXPECT_EQ(run.cases[0].warnings.front(), text);
}

TEST(Redaction, KeepsWhatLimitsSelectBy) {
    auto run = test::sample_run();
    auto& machine = run.machine;
    machine.cpu_model = "AMD EPYC 9654";
    machine.instance = "miriam";
    machine.devices = {{.kind = "cuda", .name = "NVIDIA H200", .mode = "MIG 1g.10gb"}};
    auto& settings = run.cases.at(0).settings;
    settings = {{"path", std::string{"tcp"}}, {"file_system", std::string{"ext4"}}};
    auto redacted = run;
    Redaction{{.hosts = {"H200"}, .users = {"EPYC", "miriam", "tcp", "ext4", "MIG"}}}.apply(
        redacted);
    EXPECT_EQ(json::encode(redacted.machine), json::encode(machine));
    EXPECT_EQ(redacted.cases.at(0).settings, settings);
}

TEST(Redaction, ReachesEveryTextOfACaseButWhatIdentifiesIt) {
    const std::string secret = "gpu-17 of miriam in /opt/acme/x";
    auto c = test::sample_run().cases.at(0);
    c.parameters.push_back({"message", std::string{"/opt/acme/x"}});
    const auto identity = record::identity(c);
    c.reason = secret;
    c.reason_values = {{"last_line", secret}};
    c.warnings = {secret};
    c.settings = {{"environment.UCX_TLS", std::string{"rc,sm"}},
                  {"environment.UCX_LOG_FILE", secret},
                  {"environment.LD_PRELOAD", std::string{"/opt/acme/x.so"}},
                  {"threads", std::int64_t{2}}};
    c.verification->detail = secret;
    c.ceiling.source = secret;
    c.evidence.network_rate_source = secret;
    record::disturb(c.telemetry, record::DisturbanceCode::driver_silent, {{"problem", secret}},
                    secret);
    record::disturb(c.telemetry, record::DisturbanceCode::foreign_cpu,
                    {{"share", 0.2}, {"programs", std::string{"cc1plus, miriam"}}},
                    "Other programs (cc1plus, miriam) used 20%.");
    c.replicas[0].reason = secret;
    c.replicas[0].reason_values = {{"message", secret}};
    c.replicas[0].telemetry = c.telemetry;
    redaction.apply(c);
    EXPECT_EQ(record::identity(c), identity);
    c.parameters.clear();
    const auto text = json::to_line(record::to_json(c));
    EXPECT_THAT(text, Not(HasSubstr("miriam")));
    EXPECT_THAT(text, Not(HasSubstr("gpu-17")));
    EXPECT_THAT(text, HasSubstr(R"("environment.UCX_TLS":"rc,sm")"));
    EXPECT_THAT(text, HasSubstr(R"("environment.LD_PRELOAD":"/opt/acme/x.so")")); // was asked for
    c.settings.clear();
    EXPECT_THAT(json::to_line(record::to_json(c)), Not(HasSubstr("acme")));
}

} // namespace
} // namespace assay::run
