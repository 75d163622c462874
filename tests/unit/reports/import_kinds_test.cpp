// SPDX-License-Identifier: Apache-2.0
//
// Rules that the engine keeps for every tool, and those that every description must keep.

#include "import/description.hpp"
#include "import/output.hpp"
#include "imports.hpp"
#include "json/json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

namespace assay::imports {
namespace {

using record::Status;
using namespace testing;

// --- tables end where their shape ends -------------------------------------------------------------

TEST(ImportKinds, KeepsLastRowInFrontOfWords) {
    // Another note, in other words, behind each kind of table.
    const std::string note = "\nRemember: figures depend on the firmware of the day.\nAsk twice.\n";
    auto text = changed(file("written_nvbandwidth.txt"), "           0         1\n 0   1400.00\n",
                        "           0\n 0   1400.00\n");
    EXPECT_EQ(run_of(text).cases.size(), 5U) << "the last test has a figure now";
    for (const char* name : {"written_nvbandwidth.txt", "written_stream.txt", "written_osu-p2p.txt",
                             "written_ior.txt", "written_mdtest.txt", "written_babelstream.txt"}) {
        const auto before = imported(name);
        const auto after = run_of(file(name) + note);
        ASSERT_EQ(after.cases.size(), before.run.cases.size()) << name;
        EXPECT_EQ(after.cases.back().metrics.size(), before.run.cases.back().metrics.size());
    }
}

// --- wrong data are heard --------------------------------------------------------------------------

TEST(ImportKinds, MakesWrongDataIncorrectWhereverItStands) {
    const std::string line = "*** buffer verification failed: 12 bytes differ\n";
    for (const char* name : {"written_stream.txt", "written_mdtest.txt", "written_lammps.txt",
                             "written_gromacs.log", "written_sysbench.txt"})
        for (const bool behind : {true, false}) {
            const auto run = run_of(behind ? file(name) + line : line + file(name));
            // Only the start that the line belongs to, if a file has several.
            const auto& c = behind ? run.cases.back() : run.cases.front();
            EXPECT_EQ(c.status, Status::incorrect) << name << behind;
            EXPECT_TRUE(c.metrics.empty()) << name;
            EXPECT_THAT(c.verification->detail, HasSubstr("verification failed")) << name;
        }
    // A row with a verdict of its own stands.
    const auto osu = run_of(file("written_osu-p2p.txt") + "# a line\n");
    EXPECT_EQ(osu.cases[0].status, Status::ok);
    EXPECT_EQ(osu.cases[1].status, Status::incorrect);
}

TEST(ImportKinds, MakesABrokenOffTestACaseWithItsReason) {
    const auto text =
        file("written_nvbandwidth.txt")
            .substr(0, file("written_nvbandwidth.txt").find("Running device_to_device"));
    const auto wrong = run_of(text + "Running one_to_all_write_ce.\n pattern mismatch at 0x10\n");
    EXPECT_EQ(wrong.cases.back().status, Status::incorrect);
    EXPECT_THAT(wrong.cases.back().verification->detail, HasSubstr("pattern mismatch"));
    const auto ended =
        run_of(text + "Running one_to_all_write_ce.\nSegmentation fault (core dumped)\n");
    EXPECT_EQ(ended.cases.back().status, Status::failed);
    EXPECT_THAT(ended.cases.back().reason, HasSubstr("Segmentation fault"));
}

// --- columns by title ------------------------------------------------------------------------------

TEST(ImportKinds, RefusesUnknownColumnsByName) {
    const auto of = [](const std::string& name, std::string_view from, std::string_view to) {
        return refusal(changed(file(name), from, to));
    };
    EXPECT_THAT(of("written_stream.txt", "Max time", "Max time   Nodes"),
                HasSubstr("column \"Nodes\""));
    EXPECT_THAT(of("written_llama-bench.md", "| fa |", "| zz |"), HasSubstr("column \"zz\""));
    EXPECT_THAT(of("written_mdtest.txt", "Std Dev", "Odd"), HasSubstr("column \"Odd\""));
    EXPECT_THAT(of("written_nccl-mpirun.txt", "#wrong     time", "#odd     time"),
                HasSubstr("column \"#odd\""));
}

TEST(ImportKinds, ReadsColumnsInOtherPlacesAndKeepsFiguresOutOfIds) {
    const auto run = run_of("mdtest-4.0.0 was launched with 8 total task(s) on 2 node(s)\n"
                            "SUMMARY rate (in ops/sec): (of 3 iterations)\n"
                            "   Operation     per Rank: Max            Min           Mean      per "
                            "Iteration: Max            Min           Mean        Std Dev\n"
                            "   File creation          400.500        300.500        350.500       "
                            "2943.697       2843.674       2893.686         50.006\n");
    ASSERT_EQ(run.cases.size(), 1U);
    EXPECT_EQ(run.cases[0].benchmark, "external.mdtest.file_creation");
    EXPECT_NEAR(value(run.cases[0], "file_operation_rate"), 2893.686, 1e-9);
    for (const auto& entry : std::filesystem::directory_iterator{ASSAY_IMPORTS}) {
        const auto name = entry.path().filename().string();
        const auto import = import_text(file(name), name);
        if (!import || import->tool == "gbench") continue;
        for (const auto& c : import->run.cases) {
            std::string id = c.benchmark;
            std::erase_if(id, [](char digit) { return digit < '0' || digit > '9'; });
            EXPECT_LE(id.size(), 3U) << c.benchmark;
        }
    }
}

// --- one bad number --------------------------------------------------------------------------------

TEST(ImportKinds, LosesOneRowForOneBadNumber) {
    const auto rest = [](const std::string& name, std::string_view from, std::string_view to) {
        const auto before = imported(name);
        const auto after = import_of(changed(file(name), from, to));
        EXPECT_EQ(after.run.cases.size() + 1, before.run.cases.size()) << name;
        EXPECT_EQ(after.not_understood.size(), before.not_understood.size() + 1) << name;
        return after.not_understood.empty() ? "" : after.not_understood.back().text;
    };
    rest("written_stream.txt", "39506.2", "   -nan");
    rest("written_babelstream.txt", "3097061.715", "        nan");
    rest("written_osu-cuda.txt", "12000.50", "     NaN");
    rest("written_hpcg.txt", "Raw SpMV=14.7", "Raw SpMV=inf");
    rest("written_mdtest.txt", "40615.375", "      -nan");
    rest("written_llama-bench.md", "146.00", "   nan");
    // A figure beside the main one costs itself alone.
    const auto vllm = run_of(
        changed(file("written_vllm.json"), "\"mean_ttft_ms\": 61.5", "\"mean_ttft_ms\": NaN"));
    EXPECT_TRUE(has(vllm.cases.at(0), "token_rate") && !has(vllm.cases[0], "first_token_time"));
    // JSON has no NaN, and tools write it.
    EXPECT_EQ(run_of(changed(file("written_llama-bench.json"), "146.004294", "NaN")).cases.size(),
              1U);
    EXPECT_EQ(run_of(changed(file("written_gbench.json"), "3.4", "-Infinity")).cases.size(), 3U);
}

TEST(ImportKinds, KeepsTextBesideJsonAsNotes) {
    const std::string warning = "WARNING: clocks are not locked\n";
    for (const char* name : {"written_gbench.json", "written_ior.json", "written_vllm.json",
                             "written_nvbandwidth.json", "written_nccl.json", "written_fio.json",
                             "written_iperf3.json"}) {
        const auto run = run_of(warning + file(name) + "\ndone\n");
        EXPECT_EQ(run.cases.size(), imported(name).run.cases.size()) << name;
        EXPECT_THAT(run.imported->notes, Contains(HasSubstr("clocks are not locked"))) << name;
    }
    const auto run = run_of("read verification failed at block 7\n" + file("written_iperf3.json"));
    EXPECT_EQ(run.cases[0].status, Status::incorrect);
}

// --- facts -----------------------------------------------------------------------------------------

TEST(ImportKinds, KeepsFactsInFrontOfATitleAndNamesThoseThatAreMissing) {
    const auto fortran = run_of(" Assuming 8 bytes per DOUBLE PRECISION word\n"
                                " STREAM Version $Revision: 5.6 $\n"
                                " Array size =   1000000\n"
                                " You are running each test  10 times\n"
                                " Number of Threads =  4\n"
                                "Function     Rate (MB/s)  Avg time   Min time  Max time\n"
                                "Copy:       16000.0000      0.0011      0.0010      0.0012\n"
                                " Solution Validates!\n");
    EXPECT_EQ(record::identity(fortran.cases.at(0)),
              "external.stream.copy[stream] elements=1000000 precision=fp64 threads=4");
    EXPECT_EQ(fortran.imported->tool_version, "5.6");
    const auto bare = run_of("Function    Best Rate MB/s  Avg time     Min time     Max time\n"
                             "Copy:           40000.0     0.033000     0.032000     0.035000\n");
    EXPECT_THAT(bare.imported->notes, Contains(HasSubstr("does not state its elements")));
    EXPECT_THAT(imported("written_ior.txt").run.cases[0].parameters, SizeIs(7));
}

TEST(ImportKinds, CountsWhatWasDoneOfWhatWasAsked) {
    const auto vllm = file("written_vllm.json");
    EXPECT_THAT(refusal(changed(vllm, "\"completed\": 200", "\"completed\": 3")),
                HasSubstr("3 of 200 requests were completed"));
    // A repetition is complete in itself.
    const auto ior = run_of(
        changed(file("written_ior.txt"), "repetitions         : 3", "repetitions         : 9"));
    EXPECT_EQ(ior.cases.size(), 2U);
}

TEST(ImportKinds, ReadsThroughColoursTimesLabelsAndLineEnds) {
    const auto plain = imported("written_stream.txt");
    const auto with = [](const std::string& front, const std::string& end) {
        std::string all;
        std::string_view rest;
        const auto text = file("written_stream.txt");
        for (rest = text; !rest.empty();) {
            const auto at = rest.find('\n');
            all += front + std::string{rest.substr(0, at)} + end;
            rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
        }
        return all;
    };
    for (const auto& [front, end] : {std::pair{"", "\r\n"},
                                     {"\x1b[32m", "\x1b[0m\n"},
                                     {"0: ", "\n"},
                                     {"[node7:0] ", "\n"},
                                     {"node7: ", "\n"},
                                     {"2026-01-31T12:34:56.789Z ", "\n"},
                                     {"[12:34:56] ", "\n"},
                                     {"10%\r", "\n"},
                                     {"", "\r"}}) {
        const auto run = run_of(with(front, end));
        ASSERT_EQ(run.cases.size(), 4U) << front;
        EXPECT_EQ(record::identity(run.cases[0]), record::identity(plain.run.cases[0])) << front;
        EXPECT_EQ(value(run.cases[0], "bandwidth"), value(plain.run.cases[0], "bandwidth"));
    }
}

// --- descriptions ----------------------------------------------------------------------------------

TEST(ImportTools, EachDescriptionObeysTheSchemaAndReadsASampleWholly) {
    ASSERT_THAT(library().broken, IsEmpty());
    const auto schema = must(json::read_file(std::string{ASSAY_TOOLS} + "/schema.json"));
    for (const auto& entry : std::filesystem::directory_iterator{ASSAY_TOOLS}) {
        if (entry.path().filename() == "schema.json") continue;
        const auto text = must(json::read_file(entry.path()));
        const auto checked = json::check_schema(text, schema, entry.path().string());
        EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
        const auto tool = text["tool"].get<std::string>();
        EXPECT_NE(description_of(tool), nullptr) << tool;
        EXPECT_EQ(entry.path().stem(), tool);
    }
    std::set<std::string> read;
    for (const auto& entry : std::filesystem::directory_iterator{ASSAY_IMPORTS})
        if (const auto name = entry.path().filename().string(); name.starts_with("written_"))
            if (const auto import = import_text(file(name), name, {})) read.insert(import->tool);
    EXPECT_THAT(tools(), UnorderedElementsAreArray(read)) << "a tool without a sample";
}

constexpr std::string_view own = R"({
  "schema": "assay.tool/1", "tool": "my-stencil", "title": "My stencil", "place": "host",
  "dialects": [{"format": "text", "marks": ["stencil on"],
    "lines": [{"line": "stencil on (?P<cells>\\d+) cells", "begin": 1},
              {"line": "sweep (?P<sweep>\\d+): (?P<rate>\\S+) Mcells/s", "opens": true},
              {"line": "bad halo", "wrong": true}]}],
  "parameters": [{"name": "cells", "needed": true}],
  "cases": [{"name": "sweep", "of": "rate", "metrics": [{"metric": "cell_rate", "from": "rate", "unit": "cells/s"}]}]
})";

TEST(ImportTools, RefusesDescriptionsThatSayTooLittleOrTooMuch) {
    EXPECT_TRUE(parse_description(own, "own.json"));
    const auto why = [](std::string_view from, std::string_view to) {
        const auto parsed = parse_description(changed(std::string{own}, from, to), "own.json");
        return parsed ? "" : parsed.error().message;
    };
    EXPECT_THAT(why("cell_rate", "celrate"), HasSubstr("unknown metric celrate"));
    EXPECT_THAT(why("\"cells/s\"", "\"GB/s\""), HasSubstr("is in cells/s, not in GB/s"));
    EXPECT_THAT(why("(?P<cells>\\\\d+)", "(?P<cells>"), HasSubstr("regular expression"));
    EXPECT_THAT(why("\"begin\": 1", "\"begins\": 1"), HasSubstr("begin"));
    EXPECT_THAT(why("assay.tool/1", "assay.tool/2"), HasSubstr("expected assay.tool/1"));
}

TEST(ImportTools, NamesWhatEachLineBecame) {
    std::vector<Explained> lines;
    const auto text = file("written_stream.txt");
    must(import_text(text, "it.txt", {.explained = &lines}));
    const auto said = [&](const char* what) {
        return std::ranges::any_of(
            lines, [&](const auto& line) { return line.what.find(what) != std::string::npos; });
    };
    EXPECT_TRUE(said("read as STREAM"));
    EXPECT_TRUE(said("elements"));
    EXPECT_TRUE(said("row: Copy:"));
    EXPECT_TRUE(said("not read by any rule"));
    EXPECT_TRUE(said("the case triad"));
}

} // namespace
} // namespace assay::imports
