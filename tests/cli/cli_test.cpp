// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"
#include "program.hpp"
#include "support/fake_nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::expect_refusal;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Cli, UnknownNamesGetTheNearestKnown) {
    expect_refusal(run({"lst"}), 2, {"lst", "list"});
    expect_refusal(run({"reprot"}), 2, {"report"});
    expect_refusal(run({"list", "--jsn"}), 2, {"--jsn", "--json"});
    expect_refusal(run({"run", "quick", "--resum"}), 2, {"--resume"});
    expect_refusal(run({"run", "quik"}), 2, {"quik", "quick"});
    expect_refusal(run({"describe", "memory.strem"}), 2, {"memory.stream"});
    expect_refusal(run({"plan", "memory.stream", "--set", "memory.stream.kernl=copy"}), 2,
                   {"kernl", "kernel"});
    expect_refusal(run({"plan", "memory.stream", "--set", "memory.stream.kernel=copi"}), 2,
                   {"copi", "copy", "triad"});
    expect_refusal(run({"plan", "memory.stream", "--set", "memory.stream.threads=0"}), 2,
                   {"threads", "1 to 4096"});
    expect_refusal(run({"plan", "quick", "--only", "memry"}), 2, {"memry"});
}

TEST(Cli, AKeyOfIdsThatProtectsNothingIsRefused) {
    const Folder folder;
    const auto file = (folder.path() / "key").string();
    const auto refused = [&](const std::string& content, const std::vector<std::string>& parts) {
        std::ofstream{file} << content;
        ::chmod(file.c_str(), 0600);
        expect_refusal(run({"run", "quick", "--dry-run", "--id-key", file}), 2, parts);
    };
    expect_refusal(run({"run", "quick", "--id-key", "/no/such/key"}), 2,
                   {"--id-key", "/no/such/key", "openssl rand"});
    refused("", {"--id-key", file, "0 bytes"});
    refused("secret\n", {"6 bytes", "16"});
    refused(std::string(5000, 'k'), {file, "4096"});
    std::ofstream{file} << std::string(32, 'k') << '\n';
    ::chmod(file.c_str(), 0644);
    expect_refusal(run({"run", "quick", "--id-key", file}), 2, {"chmod 600"});
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(run({"run", "quick", "--dry-run", "--id-key", file}).code, 0);
    expect_refusal(run({"run", "quick", "--id-key", file, "--serials"}), 2, {"--serials"});
}

TEST(Cli, VerbsOfReportsAreHandedOver) {
    const auto outcome = run({"predict", "alreduce", "results"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, StartsWith("assay-report: "));
    EXPECT_THAT(outcome.error, HasSubstr("allreduce"));
}

TEST(Cli, OptionsAreChecked) {
    expect_refusal(run({"run"}), 2, {"assay run --help"});
    expect_refusal(run({"run", "quick", "--budget", "5y"}), 2, {"5y", "15m"});
    expect_refusal(run({"run", "quick", "--replicas", "0"}), 2, {"--replicas"});
    expect_refusal(run({"run", "quick", "--patience", "soon"}), 2, {"--patience", "soon", "15m"});
    expect_refusal(run({"run", "quick", "--wait-for-quiet", "-1s"}), 2, {"--wait-for-quiet"});
    expect_refusal(run({"run", "quick", "--order", "random"}), 2,
                   {"--order", "random", "plan, shuffled"});
    expect_refusal(run({"run", "quick", "--order", "4294967296"}), 2, {"--order", "2^32"});
    expect_refusal(run({"run", "quick", "--retry"}), 2, {"--retry", "--resume"});
    expect_refusal(run({"run", "quick", "--lang", "de"}), 2, {"--lang", "zh"});
    expect_refusal(run({"run", "quick", "--out"}), 2, {"--out"});
    expect_refusal(run({"describe"}), 2, {"--all"});
    expect_refusal(run({"run", "quick", "--expect", "gpus=1"}), 2, {"gpus", "gpu"});
}

TEST(Cli, TagsAndNotesAreChecked) {
    const auto refused = [](const std::string& tag, const std::string& why) {
        expect_refusal(run({"run", "quick", "--dry-run", "--tag", tag}), 2, {"--tag", why});
    };
    refused("rack", "rack=b7");
    refused("=b7", "a-z");
    refused("Rack=b7", "a-z");
    refused(std::string(41, 'a') + "=b7", "1 to 40");
    refused("rack=", "1 to 200");
    refused("rack=" + std::string(201, 'b'), "1 to 200");
    for (const char* value : {"b\n7", "b\x1b[31m7", "b\x7f",
                              "b\xc2\x9b"
                              "31m"})
        refused(std::string{"rack="} + value, "control characters");
    for (const char* option : {"--note", "--campaign", "--provider", "--instance", "--zone"})
        expect_refusal(run({"run", "quick", "--dry-run", option, "a\x1b]0;owned\a"}), 2,
                       {option, "control characters"});
    expect_refusal(run({"run", "quick", "--dry-run", "--tag", "a=1", "--tag", "a=2"}), 2,
                   {"twice"});
    expect_refusal(run({"run", "quick", "--dry-run", "--note", ""}), 2, {"--note"});
    expect_refusal(run({"run", "quick", "--dry-run", "--note", std::string(1001, 'n')}), 2,
                   {"--note", "1000"});
    std::vector<std::string> many{"run", "peak.fma", "--dry-run", "--note", "a b"};
    for (int i = 0; i < 32; ++i) {
        many.emplace_back("--tag");
        many.push_back("a.b_c-" + std::to_string(i) + "=x=y z");
    }
    EXPECT_EQ(run(many).code, 0);
    many.insert(many.end(), {"--tag", "more=1"});
    expect_refusal(run(many), 2, {"at most 32"});
}

TEST(Cli, WithoutArgumentsTheHelpIsShown) {
    const auto outcome = run({});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("Examples:"));
}

TEST(Cli, EveryHelpHasAnExampleAndTheExitCodes) {
    for (const char* verb : {"doctor", "list", "describe", "plan", "run", "manifest"}) {
        const auto outcome = run({verb, "--help"});
        EXPECT_EQ(outcome.code, 0) << verb;
        EXPECT_THAT(outcome.output, AllOf(HasSubstr("Example:\n  assay " + std::string{verb}),
                                          HasSubstr("Exit codes:"), HasSubstr("--json")));
        EXPECT_THAT(outcome.error, IsEmpty());
    }
    const auto top = run({"--help"});
    EXPECT_EQ(top.code, 0);
    EXPECT_THAT(top.output, AllOf(HasSubstr("Examples:"), HasSubstr("doctor"),
                                  HasSubstr("assay report"), Not(HasSubstr("manifest"))));
}

TEST(Cli, VersionIsOneLine) {
    const auto outcome = run({"--version"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output, ::testing::MatchesRegex("assay [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Cli, JsonIsOneDocument) {
    const auto list = parsed(run({"list", "--json"}));
    ASSERT_FALSE(list["benchmarks"].empty());
    EXPECT_TRUE(list["benchmarks"][0]["available"].is_boolean());
    const auto all = parsed(run({"describe", "--all", "--json"}));
    EXPECT_EQ(all["benchmarks"].size(), list["benchmarks"].size());
    const auto plan = parsed(run({"plan", "quick", "--json"}));
    EXPECT_LE(plan["cases"].size(), 25U);
    EXPECT_GT(plan["expected_seconds"], 0);
    const auto dry = parsed(run({"run", "quick", "--dry-run", "--json"}));
    EXPECT_EQ(dry["digest"], plan["digest"]);
}

TEST(Cli, DoctorNamesMachineModulesAndAdvice) {
    const auto outcome = run({"doctor", "--json"});
    const auto document = parsed(outcome);
    EXPECT_GT(document["machine"]["cores"], 0);
    EXPECT_TRUE(document["advice"].is_array());
    EXPECT_GE(document["findings"].size(), document["advice"].size());
    bool ready = false;
    for (const auto& module : document["modules"]) ready = ready || module["available"] == true;
    EXPECT_EQ(outcome.code, ready ? 0 : 4);
    EXPECT_THAT(run({"doctor"}).output,
                AllOf(HasSubstr("Machine"), HasSubstr("Backends"), HasSubstr("Advice")));
}

TEST(Cli, DoctorShowsDevicesAndWhatIsWrongWithThem) {
    const test::FakeNvml nvml{test::h200s(2) +
                              "1 remapping_pending 1\n* processes 4711\n1 nvlinks 18 17\n"};
    const cli_test::Options with{
        .environment = {"LD_LIBRARY_PATH=" + nvml.library().parent_path().string()}};
    EXPECT_THAT(run({"doctor"}, with).output,
                AllOf(HasSubstr("Devices"), HasSubstr("NVIDIA H200, 132 multiprocessors"),
                      HasSubstr("1755 of 1980 MHz, 640 of 700 W"),
                      HasSubstr("! a memory row remap"), HasSubstr("ECC, 18 NVLinks"),
                      HasSubstr("ECC, 17 of 18")));
    const auto document = parsed(run({"doctor", "--json"}, with));
    EXPECT_EQ(document["machine"]["devices"].size(), 2U);
    EXPECT_EQ(document["devices"]["found"][1]["complaints"].size(), 2U);
    expect_refusal(run({"run", "memory.stream", "--expect", "gpu=8"}, with), 4,
                   {"expected gpu=8, found gpu=2"});
    EXPECT_THAT(run({"doctor"}).output, Not(HasSubstr("H200")));
}

TEST(Cli, DescribeExplains) {
    const auto outcome = run({"describe", "memory.stream"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr("Question"), HasSubstr("Caveats"), HasSubstr("B/s"),
                      HasSubstr("1 to 4096"), HasSubstr("assay run memory.stream")));
}

TEST(Cli, MalformedSuitesAreNamedWithFileAndPlace) {
    const Folder folder;
    const std::string good = R"({"schema":"assay.suite/1","name":"x","description":"x",
        "cases":[{"benchmark":"memory.stream"}]})";
    EXPECT_EQ(run({"plan", folder.write("good.json", good)}).code, 0);
    expect_refusal(run({"plan", folder.path() / "absent.json"}), 2, {"absent.json"});
    expect_refusal(run({"plan", folder.write("cut.json", good.substr(0, 60))}), 2, {"cut.json"});
    expect_refusal(run({"plan", folder.write("empty.json", "")}), 2, {"empty.json"});
    expect_refusal(run({"plan", folder.write("deep.json", std::string(100'000, '['))}), 2,
                   {"deep.json"});
    auto wrong = good;
    wrong.replace(wrong.find("cases"), 5, "caess");
    expect_refusal(run({"plan", folder.write("key.json", wrong)}), 2, {"key.json", "cases"});
    const auto huge = folder.write("huge.json", "{");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 30U); // sparse
    expect_refusal(run({"plan", huge}), 2, {"huge.json", "larger"});
    expect_refusal(run({"plan", folder.path() / "."}), 2, {});
    const auto pipe = folder.path() / "pipe.json";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_refusal(run({"plan", pipe}), 2, {"pipe.json"});
}

TEST(Cli, AModuleThatIsNotOursIsRefused) {
    const Folder folder;
    const auto out = folder.path() / "x.json";
    expect_refusal(run({"manifest", ASSAY_PROGRAM, "--out", out}), 4, {ASSAY_PROGRAM});
    expect_refusal(run({"manifest", folder.write("x.so", "text"), "--out", out}), 2,
                   {"not an assay module"});
    expect_refusal(run({"manifest", folder.path() / "y.so", "--out", out}), 2, {"no such file"});
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Cli, ABrokenManifestCostsItsModuleOnly) {
    const Folder folder;
    folder.write("broken.json", R"({"schema":"assay.manifest/1")");
    const auto outcome = run(
        {"list"}, {.environment = {"ASSAY_MODULE_PATH=" + folder.path().string() + ":/absent"}});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output, HasSubstr("memory.stream"));
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("broken.json"), HasSubstr("/absent")));
}

TEST(Cli, AnExpectationThatIsNotMetStopsBeforeAnythingRuns) {
    const Folder folder;
    const auto out = folder.path() / "results";
    expect_refusal(run({"run", "quick", "--out", out, "--expect", "gpu=999"}), 4,
                   {"gpu=999", "found gpu="});
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Cli, AFolderThatCannotBeWrittenIsAFaultOfTheEnvironment) {
    const Folder folder;
    const auto file = folder.write("file", "");
    const auto outcome = run({"run", "peak.fma", "--quiet", "--out", file / "below"});
    expect_refusal(outcome, 4, {(file / "below").string()});
}

TEST(Cli, OutputThatIsLostIsNoSuccess) {
    const auto outcome = run({"list"}, {.output = "/dev/full"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.error, HasSubstr("standard output"));
}

/// One case of a second, into `folder`.
std::vector<std::string> short_run(const Folder& folder) {
    return {"run",        "peak.fma",
            "--set",      "peak.fma.threads=one",
            "--set",      "peak.fma.precision=fp64",
            "--replicas", "1",
            "--budget",   "1s",
            "--out",      folder.path()};
}

/// Files of this name below the folder.
std::vector<std::filesystem::path> files_named(const Folder& folder, const std::string& name) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder.path()})
        if (entry.path().filename() == name) files.push_back(entry.path());
    return files;
}

TEST(Cli, ARunKeepsItsResultWhateverBecomesOfItsOutput) {
    for (const cli_test::Options& options :
         {cli_test::Options{.error = "/dev/full"}, cli_test::Options{.closed = true},
          cli_test::Options{.no_reader = true}}) {
        const Folder folder;
        const auto outcome = run(short_run(folder), options);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        ASSERT_EQ(files_named(folder, "run.json").size(), 1U);
        const auto journals = files_named(folder, "journal.ndjson");
        ASSERT_EQ(journals.size(), 1U);
        std::ifstream journal{journals.front()};
        for (std::string line; std::getline(journal, line);)
            EXPECT_TRUE(json::parse(line, "journal")) << line;
    }
}

TEST(Cli, AReaderThatHasReadEnoughIsNoFault) {
    EXPECT_EQ(run({"list"}, {.no_reader = true}).code, 0);
    EXPECT_EQ(run({"predict", "--help"}, {.no_reader = true}).code, 0);
}

TEST(Cli, EscapeSequencesOfOthersNeverReachTheTerminal) {
    const Folder folder;
    const std::string title = "\x1b]0;owned\a";
    const auto suite =
        folder.write("suite.json", R"({"schema":"assay.suite/1","name":"x\u001b]0;owned\u0007",
        "description":"d","protocol":{"budget_seconds":1},"replicas":1,
        "cases":[{"benchmark":"peak.fma","parameters":{"threads":"one","precision":"fp64"}}]})");
    for (const auto& outcome :
         {run({"plan", suite}), run({"run", suite, "--out", folder.path() / ("out" + title)}),
          run({"run", "no" + title}),
          run({"list"}, {.environment = {"ASSAY_MODULE_PATH=/" + title}}), run({"lst" + title}),
          run({"verify", "no" + title}), run({title, "--help"})})
        for (const auto& text : {outcome.output, outcome.error})
            EXPECT_THAT(text, Not(AnyOf(HasSubstr("\x1b"), HasSubstr("\a"))));
}

/// What the run's one case records of the variable.
std::string recorded(const Folder& folder, const std::string& variable) {
    std::ifstream file{files_named(folder, "run.json").at(0)};
    const auto run = json::Value::parse(file);
    return run["cases"][0]["settings"].value("environment." + variable, "not recorded");
}

TEST(Cli, VariablesThatChangeKernelsReachWorkersOnlyWhenAskedFor) {
    const cli_test::Options shell{
        .environment = {"OPENBLAS_CORETYPE=Haswell", "MALLOC_ARENA_MAX=1", "OMP_PROC_BIND=close"}};
    const Folder plain;
    EXPECT_EQ(run(short_run(plain), shell).code, 0);
    EXPECT_EQ(recorded(plain, "OPENBLAS_CORETYPE"), "unset, was Haswell");
    EXPECT_EQ(recorded(plain, "MALLOC_ARENA_MAX"), "unset, was 1");
    const Folder kept;
    auto arguments = short_run(kept);
    arguments.insert(arguments.end(), {"--keep-environment", "OPENBLAS_CORETYPE"});
    EXPECT_EQ(run(arguments, shell).code, 0);
    EXPECT_EQ(recorded(kept, "OPENBLAS_CORETYPE"), "Haswell");
    EXPECT_EQ(recorded(kept, "MALLOC_ARENA_MAX"), "unset, was 1");
    expect_refusal(run({"run", "peak.fma", "--keep-environment", "NOT_SET_HERE", "--quiet", "--out",
                        kept.path()}),
                   2, {"NOT_SET_HERE", "not set"});
}

/// A command that lets a user have so many processes. It does not count for root: another user, whom nobody else is.
std::vector<std::string> with_processes(int most) {
    std::vector<std::string> command{"/usr/bin/prlimit", "--nproc=" + std::to_string(most)};
    const auto nobody = std::to_string(100'000 + ::getpid());
    if (::geteuid() == 0)
        command.insert(command.end(), {"/usr/bin/setpriv", "--clear-groups", "--reuid", nobody,
                                       "--regid", nobody});
    return command;
}

TEST(Cli, ALimitOfProcessesIsNamedAndTheRunGoesOnLater) {
    for (const auto& word : with_processes(1))
        if (word.starts_with('/') && !std::filesystem::exists(word)) GTEST_SKIP() << "no " << word;
    const Folder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    // A sanitizer that looks for leaks starts a process.
    const auto limited = [&](int most) {
        return run(short_run(folder), {.environment = {"ASAN_OPTIONS=detect_leaks=0"},
                                       .through = with_processes(most)});
    };
    expect_refusal(limited(1), 4, {"cannot start", "`ulimit -u`, which is 1"}); // not even threads
    const auto without_workers = limited(2);
    EXPECT_EQ(without_workers.code, 4) << without_workers.error;
    EXPECT_THAT(without_workers.output,
                AllOf(HasSubstr("not_started"), HasSubstr("could not be started"),
                      HasSubstr("ulimit -u"), HasSubstr("--resume")));
    auto arguments = short_run(folder);
    arguments.emplace_back("--resume");
    const auto again = run(arguments);
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(files_named(folder, "run.json").size(), 1U) << "the same run";
}

TEST(Cli, AFolderMayBeginWithADash) {
    const Folder folder;
    auto arguments = short_run(folder);
    arguments.resize(arguments.size() - 2);
    arguments.emplace_back("--out=-z");
    const auto outcome = run(arguments, {.folder = folder.path()});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(files_named(folder, "report.html").size(), 1U) << outcome.error;
}

TEST(Cli, ARunMayEndWithAVerdict) {
    const Folder folder;
    const auto limits = folder.write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "limits": [], "expect": [{"expect": ["gpu=64"]}]})");
    auto arguments = short_run(folder);
    arguments.insert(arguments.end(), {"--check", "--limits", folder.path() / "absent.json"});
    EXPECT_EQ(run(arguments).code, 2);
    EXPECT_EQ(files_named(folder, "run.json").size(), 0U) << "refused before it measured";
    arguments.back() = limits;
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 1) << outcome.error;
    EXPECT_THAT(outcome.output, HasSubstr("FAIL: "));
    EXPECT_EQ(files_named(folder, "run.json").size(), 1U);
}

TEST(Cli, AStagedRunStopsAtAMissingPart) {
    const Folder folder;
    const auto suite = folder.write("suite.json", R"({"schema": "assay.suite/1", "name": "s",
        "description": "d", "stages": true, "replicas": 1, "cases": [{"benchmark": "peak.fma",
        "parameters": {"threads": "one", "precision": "fp64"}}]})");
    std::vector<std::string> arguments{"run", suite, "--expect", "gpu=64", "--out", folder.path()};
    const auto alone = run(arguments);
    EXPECT_EQ(alone.code, 4) << alone.error;
    EXPECT_THAT(alone.error, HasSubstr("gpu=0 (expected gpu=64)"));
    arguments.emplace_back("--check");
    const auto judged = run(arguments);
    EXPECT_EQ(judged.code, 1) << judged.error;
    EXPECT_THAT(judged.output, HasSubstr("FAIL: "));
    EXPECT_EQ(files_named(folder, "run.json").size(), 2U);
    arguments[3] = "gpus=64";
    EXPECT_EQ(run(arguments).code, 2);
    const auto golden = folder.write("golden.txt", "# a node of ours\ncores >= 1, # and\ngpu=64\n");
    arguments[3] = golden;
    EXPECT_EQ(run(arguments).code, 2) << "a comma is of the command line";
    folder.write("golden.txt", "cores >= 1 # and\n\ngpu = 64");
    const auto by_file = run(arguments);
    EXPECT_EQ(by_file.code, 1) << by_file.error;
    EXPECT_THAT(by_file.error, HasSubstr("gpu=0 (expected gpu=64)"));
    expect_refusal(run({"run", "quick", "--expect", "absent.txt"}), 2, {"--expect", "absent.txt"});
}

TEST(Cli, ATimeLimitIsKept) {
    const Folder folder;
    expect_refusal(run({"run", "quick", "--time-limit", "2s"}), 2, {"--time-limit", "5s"});
    const auto started = std::chrono::steady_clock::now();
    const auto outcome =
        run({"run", "quick", "--time-limit", "5s", "--check", "--out", folder.path()});
    EXPECT_EQ(outcome.code, 3) << outcome.error;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("The time limit is over"), HasSubstr("--resume"),
                                      HasSubstr("INCONCLUSIVE")));
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds{60});
    const auto files = files_named(folder, "run.json");
    ASSERT_EQ(files.size(), 1U);
    const auto record = json::read_file(files[0]);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ((*record)["run"]["ended_by"], "time_limit");
}

TEST(Cli, ARunLeavesResultAndSummary) {
    const Folder folder;
    auto arguments = short_run(folder);
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const auto document = parsed(outcome);
    ASSERT_EQ(document["cases"].size(), 1U);
    EXPECT_THAT(document["cases"][0]["status"], ::testing::AnyOf("ok", "unstable", "disturbed"));
    EXPECT_GT(document["cases"][0]["headline"]["value"], 1e8) << "FLOP/s of a single core";
    EXPECT_TRUE(std::filesystem::is_regular_file(document["file"].get<std::string>()));
}

} // namespace
