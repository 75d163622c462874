// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"
#include "support/fake_nvml.hpp"
#include "support/results.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

namespace assay::cli_test {
namespace {

using namespace testing;

TEST(Cli, UnknownNamesGetTheNearestKnown) {
    refuses({"lst"}, {"lst", "list"});
    refuses({"reprot"}, {"report"});
    refuses({"list", "--jsn"}, {"--jsn", "--json"});
    refuses({"run", "quick", "--resum"}, {"--resume"});
    refuses({"run", "quik"}, {"quik", "quick"});
    refuses({"describe", "memory.strem"}, {"memory.stream"});
    refuses({"plan", "memory.stream", "--set", "memory.stream.kernl=copy"}, {"kernl", "kernel"});
    refuses({"plan", "memory.stream", "--set", "memory.stream.kernel=copi"},
            {"copi", "copy", "triad"});
    refuses({"plan", "memory.stream", "--set", "memory.stream.threads=0"},
            {"threads", "1 to 4096"});
    refuses({"plan", "quick", "--only", "memry"}, {"memry"});
}

TEST(Cli, AKeyOfIdsThatProtectsNothingIsRefused) {
    const Folder folder;
    const auto file = (folder.path() / "key").string();
    const auto refused = [&](const std::string& content, const std::vector<std::string>& parts) {
        std::ofstream{file} << content;
        ::chmod(file.c_str(), 0600);
        refuses({"run", "quick", "--dry-run", "--id-key", file}, parts);
    };
    refuses({"run", "quick", "--id-key", "/no/such/key"},
            {"--id-key", "/no/such/key", "openssl rand"});
    refused("", {"--id-key", file, "0 bytes"});
    refused("secret\n", {"6 bytes", "16"});
    refused(std::string(5000, 'k'), {file, "4096"});
    std::ofstream{file} << std::string(32, 'k') << '\n';
    ::chmod(file.c_str(), 0644);
    refuses({"run", "quick", "--id-key", file}, {"chmod 600"});
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(run({"run", "quick", "--dry-run", "--id-key", file}).code, 0);
    refuses({"run", "quick", "--id-key", file, "--serials"}, {"--serials"});
}

TEST(Cli, VerbsOfReportsAreHandedOver) {
    const auto outcome = run({"predict", "alreduce", "results"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, StartsWith("assay-report: "));
    EXPECT_THAT(outcome.error, HasSubstr("allreduce"));
}

TEST(Cli, OptionsAreChecked) {
    refuses({"run"}, {"name a suite or a benchmark", "assay run --help"});
    refuses({"run", "quick", "--out", ""}, {"--out", "expected a folder"});
    refuses({"run", "quick", "--budget", "5y"}, {"5y", "15m"});
    refuses({"run", "quick", "--replicas", "0"}, {"--replicas"});
    refuses({"run", "quick", "--patience", "soon"}, {"--patience", "soon", "15m"});
    refuses({"run", "quick", "--wait-for-quiet", "-1s"}, {"--wait-for-quiet"});
    refuses({"run", "quick", "--order", "random"}, {"--order", "random", "plan, shuffled"});
    refuses({"run", "quick", "--order", "4294967296"}, {"--order", "2^32"});
    refuses({"run", "quick", "--retry"}, {"--retry", "--resume"});
    refuses({"run", "quick", "--lang", "de"}, {"--lang", "zh"});
    refuses({"run", "quick", "--out"}, {"--out"});
    refuses({"describe"}, {"--all"});
    refuses({"run", "quick", "--expect", "gpus=1"}, {"gpus", "gpu"});
}

TEST(Cli, TagsAndNotesAreChecked) {
    const auto refused = [](const std::string& tag, const std::string& why) {
        refuses({"run", "quick", "--dry-run", "--tag", tag}, {"--tag", why});
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
        refuses({"run", "quick", "--dry-run", option, "a\x1b]0;owned\a"},
                {option, "control characters"});
    refuses({"run", "quick", "--dry-run", "--tag", "a=1", "--tag", "a=2"}, {"twice"});
    refuses({"run", "quick", "--dry-run", "--note", ""}, {"--note"});
    refuses({"run", "quick", "--dry-run", "--note", std::string(1001, 'n')}, {"--note", "1000"});
    std::vector<std::string> many{"run", "peak.fma", "--dry-run", "--note", "a b"};
    for (int i = 0; i < 32; ++i) {
        many.emplace_back("--tag");
        many.push_back("a.b_c-" + std::to_string(i) + "=x=y z");
    }
    EXPECT_EQ(run(many).code, 0);
    many.insert(many.end(), {"--tag", "more=1"});
    refuses(many, {"at most 32"});
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

TEST(Cli, SaysWhatItIsAndWhatThereIs) {
    const auto list = parsed(run({"list", "--json"}));
    ASSERT_FALSE(list["benchmarks"].empty());
    EXPECT_TRUE(list["benchmarks"][0]["available"].is_boolean());
    EXPECT_THAT(run({"--version"}).output, MatchesRegex("assay [0-9]+\\.[0-9]+\\.[0-9]+\n"));
    EXPECT_THAT(run({"describe", "memory.stream"}).output,
                AllOf(HasSubstr("Question"), HasSubstr("Caveats"), HasSubstr("1 to 4096")));
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
    const Options with{.environment = {"LD_LIBRARY_PATH=" + nvml.library().parent_path().string()}};
    EXPECT_THAT(run({"doctor"}, with).output,
                AllOf(HasSubstr("Devices"), HasSubstr("NVIDIA H200, 132 multiprocessors"),
                      HasSubstr("1755 of 1980 MHz, 640 of 700 W"),
                      HasSubstr("! a memory row remap"), HasSubstr("ECC, 18 NVLinks"),
                      HasSubstr("ECC, 17 of 18")));
    const Folder folder;
    const auto document = parsed(run({"doctor", "--json"}, with));
    EXPECT_EQ(document["machine"]["devices"].size(), 2U);
    EXPECT_EQ(document["devices"]["found"][1]["complaints"].size(), 2U);
    const auto out = folder.path() / "results";
    expect_refusal(run({"run", "quick", "--out", out, "--expect", "gpu=8"}, with), 4,
                   {"expected gpu=8, found gpu=2"});
    EXPECT_FALSE(std::filesystem::exists(out)) << "before anything ran";
    EXPECT_THAT(run({"doctor"}).output, Not(HasSubstr("H200")));
}

TEST(Cli, MalformedSuitesAreNamedWithFileAndPlace) {
    const Folder folder;
    const std::string good = R"({"schema":"assay.suite/1","name":"x","description":"x",
        "cases":[{"benchmark":"memory.stream"}]})";
    EXPECT_EQ(run({"plan", folder.write("good.json", good)}).code, 0);
    refuses({"plan", folder.path() / "absent.json"}, {"absent.json"});
    refuses({"plan", folder.write("cut.json", good.substr(0, 60))}, {"cut.json"});
    refuses({"plan", folder.write("empty.json", "")}, {"empty.json"});
    refuses({"plan", folder.write("deep.json", std::string(100'000, '['))}, {"deep.json"});
    auto wrong = good;
    wrong.replace(wrong.find("cases"), 5, "caess");
    refuses({"plan", folder.write("key.json", wrong)}, {"key.json", "cases"});
    const auto huge = folder.write("huge.json", "{");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 30U); // sparse
    refuses({"plan", huge}, {"huge.json", "larger"});
    refuses({"plan", folder.path() / "."}, {});
    const auto pipe = folder.path() / "pipe.json";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    refuses({"plan", pipe}, {"pipe.json"});
}

TEST(Cli, AModuleThatIsNotOursIsRefused) {
    const Folder folder;
    const auto out = folder.path() / "x.json";
    expect_refusal(run({"manifest", ASSAY_PROGRAM, "--out", out}), 4, {ASSAY_PROGRAM});
    refuses({"manifest", folder.write("x.so", "text"), "--out", out}, {"not an assay module"});
    refuses({"manifest", folder.path() / "y.so", "--out", out}, {"no such file"});
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

TEST(Cli, ARunKeepsItsResultWhateverBecomesOfItsOutput) {
    for (const Options& options :
         {Options{.error = "/dev/full"}, Options{.closed = true}, Options{.no_reader = true}}) {
        const Folder folder;
        const auto outcome = run(brief_run(folder.path()), options);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        ASSERT_EQ(files_named(folder.path(), "run.json").size(), 1U);
        const auto journals = files_named(folder.path(), "journal.ndjson");
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

/// The record of the variable in the run's one case.
std::string recorded(const Folder& folder, const std::string& variable) {
    const auto run = json::read_file(files_named(folder.path(), "run.json").at(0)).value();
    return run["cases"][0]["settings"].value("environment." + variable, "not recorded");
}

TEST(Cli, VariablesThatChangeKernelsReachWorkersOnlyWhenAskedFor) {
    const Options shell{
        .environment = {"OPENBLAS_CORETYPE=Haswell", "MALLOC_ARENA_MAX=1", "OMP_PROC_BIND=close"}};
    const Folder plain;
    EXPECT_EQ(run(brief_run(plain.path()), shell).code, 0);
    EXPECT_EQ(recorded(plain, "OPENBLAS_CORETYPE"), "unset, was Haswell");
    EXPECT_EQ(recorded(plain, "MALLOC_ARENA_MAX"), "unset, was 1");
    const Folder kept;
    EXPECT_EQ(run(brief_run(kept.path(), {"--keep-environment", "OPENBLAS_CORETYPE"}), shell).code,
              0);
    EXPECT_EQ(recorded(kept, "OPENBLAS_CORETYPE"), "Haswell");
    EXPECT_EQ(recorded(kept, "MALLOC_ARENA_MAX"), "unset, was 1");
    refuses(
        {"run", "peak.fma", "--keep-environment", "NOT_SET_HERE", "--quiet", "--out", kept.path()},
        {"NOT_SET_HERE", "not set"});
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
    const auto limited = [&](int most) {
        return run(brief_run(folder.path()), {.through = with_processes(most)});
    };
    expect_refusal(limited(1), 4, {"cannot start", "`ulimit -u`, which is 1"}); // not even threads
    const auto without_workers = limited(2);
    EXPECT_EQ(without_workers.code, 4) << without_workers.error;
    EXPECT_THAT(without_workers.output,
                AllOf(HasSubstr("not_started"), HasSubstr("could not be started"),
                      HasSubstr("ulimit -u"), HasSubstr("--resume")));
    const auto again = run(brief_run(folder.path(), {"--resume"}));
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(files_named(folder.path(), "run.json").size(), 1U) << "the same run";
}

TEST(Cli, AFolderMayBeginWithADash) {
    const Folder folder;
    auto arguments = brief_run(folder.path());
    arguments.resize(arguments.size() - 2);
    arguments.emplace_back("--out=-z");
    const auto outcome = run(arguments, {.folder = folder.path()});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(files_named(folder.path(), "report.html").size(), 1U) << outcome.error;
}

TEST(Cli, ARunMayEndWithAVerdict) {
    const Folder folder;
    const auto limits = folder.write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "limits": [], "expect": [{"expect": ["gpu=64"]}]})");
    auto arguments =
        brief_run(folder.path(), {"--check", "--limits", folder.path() / "absent.json"});
    EXPECT_EQ(run(arguments).code, 2);
    EXPECT_EQ(files_named(folder.path(), "run.json").size(), 0U) << "refused before it measured";
    arguments.back() = limits;
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 1) << outcome.error;
    EXPECT_THAT(outcome.output, HasSubstr("FAIL: "));
    EXPECT_EQ(files_named(folder.path(), "run.json").size(), 1U);
}

TEST(Cli, ACaseEndsWhereItIsDecided) {
    const Folder folder;
    const auto limits = folder.write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "limits": [{"id": "fma", "title": "FMA", "kind": "contract", "case": {"benchmark": "peak.fma"},
        "unit": "FLOP/s", "at_least": 1e6, "source": "ours"}]})");
    const std::vector<std::string> arguments{"run",        "peak.fma",
                                             "--set",      "peak.fma.threads=one",
                                             "--set",      "peak.fma.precision=fp64,fp32",
                                             "--budget",   "2s",
                                             "--check",    "--limits",
                                             limits,       "--out",
                                             folder.path()};
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.error;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("2 of 2 cases needed fewer replicas"),
                                      HasSubstr("PASS: "), Not(HasSubstr("REPLICAS"))));
    const auto files = files_named(folder.path(), "run.json");
    ASSERT_EQ(files.size(), 1U);
    const auto record = must(json::read_file(files[0]));
    for (const auto& c : record["cases"]) {
        EXPECT_EQ(c["replicas"].size(), 2U) << "three are planned";
        EXPECT_EQ(c["spread"]["replicas"], 2);
    }
    EXPECT_EQ(run({"verify", files[0]}).code, 0);

    auto again = arguments;
    again.emplace_back("--resume");
    const auto complete = run(again);
    EXPECT_EQ(complete.code, 0) << complete.error;
    EXPECT_THAT(complete.output,
                AllOf(HasSubstr("nothing left to measure: " + files[0].string() + " is complete"),
                      HasSubstr("PASS: ")));
    EXPECT_EQ(steps_in(folder.path()), 4U);
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
    EXPECT_EQ(files_named(folder.path(), "run.json").size(), 2U);
    arguments[3] = "gpus=64";
    EXPECT_EQ(run(arguments).code, 2);
    const auto golden = folder.write("golden.txt", "# a node of ours\ncores >= 1, # and\ngpu=64\n");
    arguments[3] = golden;
    EXPECT_EQ(run(arguments).code, 2) << "a comma is of the command line";
    folder.write("golden.txt", "cores >= 1 # and\n\ngpu = 64");
    const auto by_file = run(arguments);
    EXPECT_EQ(by_file.code, 1) << by_file.error;
    EXPECT_THAT(by_file.error, HasSubstr("gpu=0 (expected gpu=64)"));
    refuses({"run", "quick", "--expect", "absent.txt"}, {"--expect", "absent.txt"});
}

TEST(Cli, ATimeLimitIsKept) {
    const Folder folder;
    refuses({"run", "quick", "--time-limit", "2s"}, {"--time-limit", "5s"});
    const auto started = std::chrono::steady_clock::now();
    const auto outcome =
        run({"run", "quick", "--time-limit", "5s", "--check", "--out", folder.path()});
    EXPECT_EQ(outcome.code, 3) << outcome.error;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("The time limit is over"), HasSubstr("--resume"),
                                      HasSubstr("INCONCLUSIVE")));
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds{60});
    const auto files = files_named(folder.path(), "run.json");
    ASSERT_EQ(files.size(), 1U);
    const auto record = must(json::read_file(files[0]));
    EXPECT_EQ(record["run"]["ended_by"], "time_limit");
}

TEST(Cli, ARunLeavesResultAndSummary) {
    const Folder folder;
    const auto outcome = run(brief_run(folder.path(), {"--json", "--quiet"}));
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const auto document = parsed(outcome);
    ASSERT_EQ(document["cases"].size(), 1U);
    EXPECT_THAT(document["cases"][0]["status"], AnyOf("ok", "unstable", "disturbed"));
    EXPECT_GT(document["cases"][0]["headline"]["value"], 1e8) << "FLOP/s of a single core";
    EXPECT_TRUE(std::filesystem::is_regular_file(document["file"].get<std::string>()));
}

} // namespace
} // namespace assay::cli_test
