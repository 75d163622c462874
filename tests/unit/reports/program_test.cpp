// SPDX-License-Identifier: Apache-2.0
//
// The program assay-report from outside: what it prints, what it writes, how it ends.

#include "base/terminal.hpp"
#include "json/json.hpp"
#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace assay::report {
namespace {

using namespace testing;

TEST_F(ProgramTest, ReportsOnTheTerminalFromFileFolderOrLabel) {
    for (const char* input : {"results/one/run.json", "results", "mine=results"}) {
        const auto ended = call(std::string{"report "} + input);
        EXPECT_EQ(ended.code, 0);
        EXPECT_THAT(ended.output, AllOf(HasSubstr("result is WRONG"), HasSubstr("gemm.square"),
                                        Not(HasSubstr("\x1b"))));
    }
    EXPECT_THAT(call("report mine=results").output, HasSubstr("mine: "));
}

TEST_F(ProgramTest, LintsShowsAndDerivesLimits) {
    const std::string limits{ASSAY_LIMITS "/"};
    EXPECT_EQ(call("limits lint " + limits + "clean.json").code, 0);
    expect(call("limits lint " + limits + "azure-gemm.json " + limits + "clean.json"), 1,
           {"unit_slip", "Probably 769 TFLOP/s"});
    expect(call("limits lint --json " + limits + "no-unit.json"), 2, {"\"unit_missing\""});
    EXPECT_EQ(call("limits lint results/one/run.json").code, 2);
    EXPECT_EQ(call("limits lint absent.json").code, 2);
    expect(call("limits show " + limits + "clean.json"), 0, {"h100-triad"});
    expect(call("limits show " + limits + "clean.json results --lang zh"), 0, {"8 条限值中有"});
    EXPECT_EQ(call("limits show results").code, 2);
    EXPECT_THAT(call("limits prove x").output, HasSubstr("unknown action \"prove\""));
    EXPECT_THAT(call("limits derive results").output, HasSubstr("--out is missing"));
    expect(call("limits derive results --out f.json --valid soon"), 2, {"1d to 3650d"});
    expect(call("limits derive results --by cpu --out f.json"), 2,
           {"limits need at least 5 nodes of one type"});
    EXPECT_FALSE(fs::exists(folder_ / "f.json"));
}

TEST_F(ProgramTest, ComparesWhatIsNamed) {
    auto other = test::sample_run();
    other.id = "20260231T000000Z-0000";
    for (auto& c : other.cases) {
        for (auto& replica : c.replicas)
            if (replica.seconds) replica.seconds = *replica.seconds * 1.5;
        if (!c.metrics.empty()) record::conclude(c, static_cast<int>(c.replicas.size()));
    }
    put("later/one", other);
    expect(call("compare results later"), 0,
           {"later compared with results", "33.3% slower", "slower"});
    EXPECT_EQ(call("compare results later --fail-on worse > /dev/null").code, 1);
    EXPECT_EQ(call("compare slow=later fast=results --fail-on worse > /dev/null").code, 0);
    EXPECT_THAT(call("compare results/one/run.json later/one/run.json").output,
                HasSubstr("later/one compared with results/one"));
    EXPECT_EQ(call("compare results --column label").code, 2);
    EXPECT_THAT(call("compare results later --column instanse").output, HasSubstr("\"instance\""));
    EXPECT_EQ(call("compare results later --filter family=gemm --filter instance=nowhere").code, 2);
    EXPECT_EQ(call("compare a=results b=later --row size --filter benchmark=nothing").code, 2);
    EXPECT_EQ(call("compare results later --csv x.csv --md x.md --html x.html --static").output,
              "");
    EXPECT_THAT(content(folder_ / "x.html"), AllOf(HasSubstr("<h1"), HasSubstr("<tbody>")));
    EXPECT_EQ(call("compare results later --md results/one/run.json").code, 2);
    EXPECT_EQ(call("compare results nowhere").code, 2);
}

TEST_F(ProgramTest, PredictsOrSaysWhatIsMissing) {
    expect(call("predict allreduce --nodes 4 --gpus 8 results"), 3, {"collective.allreduce"});
    EXPECT_EQ(call("predict allreduce --nodes 4 --json results > /dev/null").code, 3);
    const std::pair<const char*, const char*> wrong[] = {
        {"predict alreduce --nodes 4 results", "did you mean \"allreduce\"?"},
        {"predict allreduce results", "two ranks"},
        {"predict allreduce --nodes 0 results", "invalid number 0"},
        {"predict allreduce --nodes 1.5 results", "invalid number 1.5"},
        {"predict allreduce --nodes 1e99 results", "10000000"},
        {"predict allreduce --nodes 2 --size 1Gib results", "1GiB"},
        {"predict allreduce --nodes 2 --algorithm rng results", "ring"},
        {"predict allreduce --nodes 2 --node-bandwidth 400 results", "400Gb/s"},
        {"predict allreduce --nodes 2 nowhere", "nowhere"},
        {"predict --nodes 2", "collective"},
    };
    for (const auto& [arguments, expected] : wrong) {
        const auto refused = call(arguments);
        EXPECT_EQ(refused.code, 2) << arguments << ": " << refused.output;
        EXPECT_THAT(refused.output, HasSubstr(expected)) << arguments;
    }
}

TEST_F(ProgramTest, WritesFilesAndStaysQuietAndIntoWhatIsNoFile) {
    const auto ended = call("report first=results second=results --html a.html --static --md a.md");
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.output, IsEmpty());
    EXPECT_THAT(content(folder_ / "a.html"),
                AllOf(HasSubstr(">first: "), HasSubstr(">second: "), HasSubstr("</html>")));
    EXPECT_THAT(content(folder_ / "a.md"), HasSubstr("## Matrix multiplication"));
    const auto text = call("report results --md -").output;
    EXPECT_THAT(text, HasSubstr("gemm.square"));
    EXPECT_EQ(call("report results --md /dev/stdout").output, text);
    EXPECT_EQ(call("report results --md /dev/fd/7 7>&1").output, text);
    EXPECT_EQ(call("report results --md /dev/stdout | cat").output, text);
    call("report results --md /dev/stdout >> more; exec >> more; echo end");
    EXPECT_EQ(content(folder_ / "more"), text + "end\n");
}

TEST_F(ProgramTest, WritesTheInteractivePageWhereTheBuildMadeOne) {
    EXPECT_EQ(call("report results --html a.html").code, 0);
    const auto share = fs::path{ASSAY_REPORT_PROGRAM}.parent_path().parent_path() / "share/assay";
    EXPECT_EQ(content(folder_ / "a.html").find("<script type=\"application/json\"") !=
                  std::string::npos,
              fs::exists(share / "page/page.html"));
    EXPECT_EQ(call("report results --html a.html --static").code, 0);
    EXPECT_THAT(content(folder_ / "a.html"), Not(HasSubstr("<script")));
}

TEST_F(ProgramTest, VerifiesAndFindsWhatWasChanged) {
    auto ended = call("verify results");
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("consistent"));
    replace("\"higher_is_better\": true", "\"higher_is_better\": false");
    ended = call("verify results");
    EXPECT_EQ(ended.code, 1) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("cases[0].metrics[0]"));
}

TEST_F(ProgramTest, AFolderStandsForItsLastCompleteRun) {
    const auto ended_as = [&](const std::string& name, const std::string& status, int hours_ago,
                              const std::string& machine = "m-1") {
        auto run = test::sample_run();
        run.id = name;
        run.status = status;
        run.machine.id = machine;
        fs::last_write_time(put("results/" + name, run),
                            fs::file_time_type::clock::now() - std::chrono::hours{hours_ago});
    };
    fs::remove_all(folder_ / "results/one");
    ended_as("stopped", "interrupted", 1);
    EXPECT_THAT(call("report results --json").output, HasSubstr("stopped/run.json"));
    ended_as("elsewhere", "done", 2, "m-2");
    ended_as("whole", "done", 3);
    ended_as("older", "done", 4);
    const auto ended = call("report results --json");
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("note: results/stopped/run.json was interrupted"));
    EXPECT_THAT(ended.output, HasSubstr("\"whole/run.json\""));
    const auto named = call("report results/stopped/run.json --json"); // as it was asked for
    EXPECT_THAT(named.output, AllOf(HasSubstr("stopped/run.json"), Not(HasSubstr("note:"))));
    ended_as("newest", "done", 0);
    EXPECT_THAT(call("report results --json").output, Not(HasSubstr("note:")));
}

TEST_F(ProgramTest, Exports) {
    EXPECT_THAT(call("export --to csv results").output, HasSubstr("gemm.square"));
    EXPECT_EQ(call("export --to ndjson mine=results --out runs.ndjson").output, "");
    const auto lines = content(folder_ / "runs.ndjson");
    EXPECT_THAT(lines, HasSubstr("\"label\":\"mine\",\"file\":\"one/run.json\""));
    EXPECT_EQ(call("export --to ndjson mine=results").output, lines);
    EXPECT_THAT(call("export --columns").output, HasSubstr("\nbound_share "));
    EXPECT_TRUE(json::parse(call("export --columns --json").output, "schema").has_value());
}

TEST_F(ProgramTest, ExportsWhatCanBeReadAndNamesTheRest) {
    write("bad.json", "{}");
    expect(call("export --to ndjson bad.json results --out runs.ndjson --json"), 0,
           {"not exported: bad.json: not a result of assay: `schema` is missing", "\"runs\": 1"});
    expect(call("export --to csv bad.json --out none.csv"), 2, {"bad.json"});
    EXPECT_FALSE(fs::exists(folder_ / "none.csv"));
    EXPECT_EQ(call("export --to csv results --out results/one/run.json").code, 2);
    EXPECT_EQ(call("export --to csv results > /dev/full").code, 4);
}

TEST_F(ProgramTest, OpenMetricsIsReadByItsReferenceParser) {
    if (std::system("/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null") != 0)
        GTEST_SKIP() << "needs the package python3-prometheus-client";
    write("parse.py", R"(
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(family.type, family.name, family.unit, sample.labels['benchmark'], sample.value, sample.timestamp)
)");
    auto hostile = test::sample_run();
    hostile.id = "hostile";
    hostile.machine.instance = "a\"b\\c\n# EOF\n{d}";
    for (auto& c : hostile.cases) c.library = "}\\";
    put("results/hostile", hostile);
    for (const char* timestamps : {"", " --timestamps"}) {
        const auto made =
            call(std::string{"export --to openmetrics results --out o.txt"} + timestamps);
        EXPECT_EQ(made.code, 0) << made.output;
        expect(call("--version && /usr/bin/python3 parse.py < o.txt"), 0,
               {"gauge assay_flop_rate_flops_per_second "
                "flops_per_second gemm.square ",
                "gauge assay_bound_share_ratio ratio "});
    }
}

TEST_F(ProgramTest, AFileThatCannotBeReadIsNamedWhereASideIsMissing) {
    write("bad.json", "[1]");
    expect(call("compare bad.json results"), 2,
           {"assay-report: bad.json: not a result file (expected a JSON object); without "
            "it, there is only \"results\" to compare"});
}

TEST_F(ProgramTest, SidesThatDifferStillDifferWhenCut) {
    auto other = test::sample_run();
    other.id = "20260231T000000Z-0000";
    test::measure_again(other, other.id);
    put("later", other);
    const std::string common(40, 'a');
    expect(call("compare " + common + "1=results " + common + "2=later", "COLUMNS=60"), 0,
           {"aaa…1 ", "aaa…2 "});
}

TEST_F(ProgramTest, ColumnsIsObeyedInPipes) {
    const auto widest = [&](const std::string& environment) {
        std::istringstream lines{call("report results", environment).output};
        std::size_t columns = 0;
        for (std::string line; std::getline(lines, line);)
            columns = std::max(columns, display_width(line));
        return columns;
    };
    EXPECT_LE(widest("COLUMNS=70"), 70U);
    EXPECT_GT(widest("COLUMNS=150"), 100U);
    EXPECT_EQ(widest("COLUMNS=wide"), widest("COLUMNS="));
}

TEST_F(ProgramTest, IsPlainAsciiInSuchALocale) {
    const auto above = [](const std::string& text) {
        return std::ranges::count_if(text, [](char c) { return (c & 0x80) != 0; });
    };
    for (const char* verb : {"compare old=results new=results/one/run.json", "history results",
                             "predict allreduce --nodes 4 results", "--help", "export --columns"})
        EXPECT_EQ(above(call(verb, "LC_ALL= LC_CTYPE=POSIX").output), 0) << verb;
    EXPECT_GT(above(call("report results --lang zh", "LC_ALL=C").output), 1000);
    const auto json = [&](const char* environment) {
        return json::parse(call("report '中😀=results' --json", environment).output, "json")
            .value();
    };
    EXPECT_EQ(json("LC_ALL=C"), json("LC_ALL=C.UTF-8"));
}

TEST_F(ProgramTest, ErrorsNameTheNearestAndEndWithTwo) {
    const std::pair<const char*, const char*> cases[] = {
        {"reprot results", "did you mean \"report\"?"},
        {"report results --htlm a", "did you mean \"--html\"?"},
        {"export --to cvs results", "did you mean \"csv\"?"},
        {"export results", "--to"},
        {"report", "inputs"},
        {"report nothing.json", "no such file"},
        {"report results --html results/one/run.json", "the input itself"},
        {"verify /etc/hostname", "hostname"},
    };
    for (const auto& [arguments, expected] : cases) {
        const auto ended = call(arguments);
        EXPECT_EQ(ended.code, 2) << arguments << ": " << ended.output;
        EXPECT_THAT(ended.output, HasSubstr(expected)) << arguments;
    }
}

TEST_F(ProgramTest, BrokenResultsAreRefusedInOneMessage) {
    const std::string text = content(run_);
    for (const auto& broken :
         {text.substr(0, text.size() / 2), std::string{}, std::string{"[1]"},
          std::string(100000, '['), std::string{"{\"schema\":\"assay.run/9\"}"}}) {
        write("results/one/run.json", broken);
        for (const char* verb : {"report", "verify", "export --to csv"}) {
            const auto ended = call(std::string{verb} + " results");
            EXPECT_EQ(ended.code, 2) << verb << ended.output;
            EXPECT_THAT(ended.output, AllOf(HasSubstr("assay-report: "), HasSubstr("run.json")));
            EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1);
        }
    }
}

TEST_F(ProgramTest, OutputsThatCannotBeWrittenEndWithFour) {
    expect(call("report results --html nowhere/a.html"), 4, {"nowhere"});
    EXPECT_EQ(call("report results > /dev/full").code, 4);
}

TEST_F(ProgramTest, ImportsWhatItUnderstandsAndRefusesTheRestInOneMessage) {
    const std::string head = "# Collective test starting: all_reduce_perf\n"
                             "#  Rank  0 Group  0 Pid 1 on n device 0 [0x04] GPU\n"
                             "#  Rank  7 Group  0 Pid 1 on n device 7 [0xe4] GPU\n"
                             "# size count type redop root time algbw busbw #wrong\n";
    write("good.log", head + "1048576 262144 float sum -1 100.0 10.49 18.35 0\n");
    write("bad.log", head + "1048576 262144 float sum -1 100.0 10.49 10.49 0\n");
    write("zero.log", std::string(3, '\0'));
    for (const auto& [file, why] :
         {std::pair{"bad.log", "bad.log: line 5: busbw 10.49 / algbw 10.49 is 1, but 1.75 is "
                               "expected of all_reduce"},
          {"zero.log", "zero.log: line 1: zero byte"}}) {
        const auto ended = call(std::string{"import good.log "} + file + " --out runs");
        EXPECT_EQ(ended.code, 2);
        EXPECT_THAT(ended.output, HasSubstr(why));
        EXPECT_EQ(std::ranges::count(ended.output, '\n'), 1);
        EXPECT_FALSE(fs::exists(folder_ / "runs")) << "nothing of the good one, either";
    }
    EXPECT_EQ(call("import good.log --out runs").code, 0);
    const auto report = call("report runs");
    EXPECT_EQ(report.code, 0);
    EXPECT_THAT(report.output, HasSubstr("18.4 GB/s")); // 1.75 * 2^20 B / 100 us
}

TEST_F(ProgramTest, ImportsByADescriptionOfTheUserAndExplainsWhatItReads) {
    write("mine.json", R"({"schema": "assay.tool/1", "tool": "my-stencil", "title": "My stencil",
        "reads": "text", "versions": "1", "place": "host",
        "dialects": [{"format": "text", "marks": ["stencil on"], "lines": [
            {"line": "stencil on (?P<cells>\\d+) cells", "begin": 1},
            {"line": "sweep: (?P<rate>\\S+) cells/s", "opens": true}]}],
        "parameters": [{"name": "cells"}],
        "cases": [{"name": "sweep", "of": "rate",
                   "metrics": [{"metric": "cell_rate", "from": "rate", "unit": "cells/s"}]}]})");
    write("out.txt", "stencil on 4096 cells\nsweep: 1.5e9 cells/s\nbye\n");
    expect(call("import out.txt --explain"), 2, {"Nothing would be imported", "nccl-tests"});
    expect(call("import out.txt"), 2, {"--out is missing"});
    ::setenv("ASSAY_IMPORT_PATH", folder_.c_str(), 1);
    expect(call("import --list"), 0, {"my-stencil", "nvbandwidth", "dcgm-diag"});
    expect(call("import out.txt --explain"), 0,
           {"read as My stencil", "line 1: ", "4096", "line 3: not read by any rule",
            "external.my-stencil.sweep[my-stencil] cells=4096"});
    EXPECT_EQ(call("import out.txt --out runs").code, 0);
    // A broken one is named, and costs itself alone.
    write("mine.json", "{}");
    expect(call("import out.txt --out runs"), 2, {"mine.json", "unknown format"});
    expect(call("import --list"), 2, {"error: ASSAY_IMPORT_PATH: ", "mine.json", "nvbandwidth"});
    write("iperf3.out", content(fs::path{ASSAY_IMPORTS} / "written_iperf3.json"));
    const auto other = call("import iperf3.out --out runs");
    EXPECT_EQ(other.code, 0);
    EXPECT_EQ(std::ranges::count(other.output, '\n'), 4) << other.output;
    EXPECT_THAT(other.output, HasSubstr("warning: not used: ASSAY_IMPORT_PATH: "));
    ::unsetenv("ASSAY_IMPORT_PATH");
}

TEST_F(ProgramTest, PrintsAPdfWhereThereIsABrowser) {
    const auto with = [&](const std::string& name, const std::string& script) {
        fs::remove_all(folder_ / "bin");
        const auto file = write("bin/" + name, "#!/bin/sh\n" + script + '\n');
        fs::permissions(file, fs::perms::owner_all);
        fs::create_symlink("/usr/bin/timeout", folder_ / "bin/timeout");
        return call("report results --pdf out.pdf", "PATH='" + (folder_ / "bin").string() + "'");
    };
    // The format that it was asked to print, and the destination.
    const std::string prints = R"(for one; do page=${one#file://}
case $one in --print-to-pdf=*) out=${one#*=};; esac; done
read -r first <"$page"; echo "%PDF-1.7 $first" >"$out")";
    for (const char* browser : {"chromium", "chromium-browser", "google-chrome"}) {
        const auto printed = with(browser, prints);
        EXPECT_EQ(printed.code, 0) << printed.output;
        EXPECT_THAT(content(folder_ / "out.pdf"), HasSubstr("%PDF-1.7 <!DOCTYPE html>"));
        fs::remove(folder_ / "out.pdf");
    }
    expect(with("firefox", prints), 4, {"needs Chromium"});
    expect(with("chromium", "echo no sandbox >&2; exit 1"), 4,
           {"chromium printed no PDF (no sandbox)"});
    EXPECT_FALSE(fs::exists(folder_ / "out.pdf"));
}

TEST_F(ProgramTest, HelpHasAnExampleForEveryVerb) {
    for (const char* verb : {"report", "verify", "export", "predict", "check", "fleet"}) {
        const auto ended = call(std::string{verb} + " --help");
        EXPECT_EQ(ended.code, 0);
        EXPECT_THAT(ended.output, HasSubstr(std::string{"assay-report "} + verb + " "));
    }
    EXPECT_EQ(call("--version").code, 0);
    EXPECT_EQ(call("").code, 2);
}

} // namespace
} // namespace assay::report
