// SPDX-License-Identifier: Apache-2.0

#include "gpu/archive.hpp"
#include "gpu/outcomes.hpp"
#include "gpu/steps.hpp"

#include <gmock/gmock.h>

#include <set>

namespace assay::gpu {
namespace {

using namespace testing;

/// Output of GoogleTest for one test of a benchmark.
std::string test(const std::string& name, const std::string& result, const std::string& says = "") {
    const auto full = "Modules/Contract." + name;
    return "[ RUN      ] " + full + '\n' + says + result + ' ' + full + " (3 ms)\n";
}
const std::string ok = "[       OK ]";
const std::string skipped = "[  SKIPPED ]";
const std::string failed = "[  FAILED  ]";

Said said(const std::string& log) {
    return {.log = log, .ending = {}, .test = "cuda_memory_stream"};
}
Said ended(const std::string& log, const std::string& how, bool cut_off = false) {
    return {.log = log, .ending = how, .cut_off = cut_off, .test = "cuda_memory_stream"};
}

TEST(GpuOutcomes, AContractIsKeptBrokenOrDoesNotApply) {
    const auto introduces = test("IntroducesItself/cuda_memory_stream", ok);
    EXPECT_EQ(read_contract(said(introduces + test("ComputesAndIsChecked/cuda_memory_stream", ok)))
                  .outcome,
              Outcome::passed);
    const auto skips = read_contract(
        said(introduces + test("SaysWhatFits/cuda_memory_stream", skipped,
                               "a.cpp:1: Skipped\nnot applicable: needs two devices\n")));
    EXPECT_EQ(skips.outcome, Outcome::skipped);
    EXPECT_EQ(skips.words, "not applicable: needs two devices");
    const auto broken = read_contract(ended(
        test("ComputesAndIsChecked/cuda_memory_stream", failed, "a.cpp:7: Failure\nValue of: b\n"),
        "ended with code 1"));
    EXPECT_EQ(broken.outcome, Outcome::failed);
    EXPECT_EQ(broken.words, "ComputesAndIsChecked/cuda_memory_stream: Value of: b");
}

TEST(GpuOutcomes, AModuleThatCannotBeLoadedIsMissing) {
    const auto missing =
        read_contract(ended(test("IntroducesItself/cuda", failed, "libcudart.so.13: cannot open\n"),
                            "ended with code 1"));
    EXPECT_EQ(missing.outcome, Outcome::missing);
    EXPECT_EQ(missing.words, "libcudart.so.13: cannot open");
}

TEST(GpuOutcomes, TestsThatRanNothingHaveNotPassed) {
    for (const auto& log : {std::string{}, std::string{"[  PASSED  ] 0 tests.\n"},
                            test("IntroducesItself/cuda_memory_stream", ok)})
        EXPECT_EQ(read_contract(said(log)).outcome, Outcome::failed) << log;
    EXPECT_EQ(read_sanitizer(said("========= ERROR SUMMARY: 0 errors\n")).outcome, Outcome::failed);
    EXPECT_EQ(read_profile(said("==WARNING== No kernels were profiled.\n")).outcome,
              Outcome::failed);
}

TEST(GpuOutcomes, WhatWasGoingOnIsNamed) {
    const std::string going_on =
        test("ComputesAndIsChecked/x", ok) + "[ RUN      ] Modules/Contract.RunsMoreThanOnce/x\n";
    const auto cut = read_contract(ended(going_on, "cut off after 20.0 s", true));
    EXPECT_EQ(cut.outcome, Outcome::cut_off);
    EXPECT_EQ(cut.words, "cut off after 20.0 s: in RunsMoreThanOnce/x, 1 tests had passed");
    const auto crashed = read_contract(ended(going_on, "SIGSEGV (Segmentation fault)"));
    EXPECT_EQ(crashed.outcome, Outcome::failed);
    EXPECT_THAT(crashed.words, AllOf(HasSubstr("SIGSEGV"), HasSubstr("RunsMoreThanOnce")));
}

TEST(GpuOutcomes, ASanitizerHasASummaryOrHasFailed) {
    const auto checked = test("ComputesAndIsChecked/cuda_memory_stream", ok);
    EXPECT_EQ(read_sanitizer(said(checked + "========= ERROR SUMMARY: 0 errors\n")).outcome,
              Outcome::passed);
    EXPECT_EQ(read_sanitizer(said(checked + "========= RACECHECK SUMMARY: 0 hazards displayed (0 "
                                            "errors, 0 warnings)\n"))
                  .outcome,
              Outcome::passed);
    const auto found = read_sanitizer(said(checked + "========= ERROR SUMMARY: 12 errors\n"));
    EXPECT_EQ(found.outcome, Outcome::failed);
    EXPECT_EQ(found.words, "12 errors");
    for (const char* summary : {"", "killed", "ERROR SUMMARY:", "ERROR SUMMARY: many"})
        EXPECT_EQ(read_sanitizer(said(checked + summary)).outcome, Outcome::failed) << summary;
}

TEST(GpuOutcomes, FactsAreLastLines) {
    EXPECT_EQ(read_fact(said("Cuda compiler\nBuild 13.0\n")).words, "Build 13.0");
    EXPECT_EQ(read_fact(ended("no driver\n", "ended with code 9")).words,
              "ended with code 9: no driver");
    EXPECT_EQ(read_users(said("")).outcome, Outcome::passed);
    EXPECT_EQ(read_users(said("77, python3, 900 MiB\n")).words,
              "others use the device: 77, python3, 900 MiB");
    EXPECT_EQ(read_libraries(said("\tlibm.so.6 => /lib/libm.so.6\n")).outcome, Outcome::passed);
    const auto lost = read_libraries(said("\tlibcufft.so.12 => not found\n"));
    EXPECT_EQ(lost.outcome, Outcome::missing);
    EXPECT_EQ(lost.words, "libcufft.so.12 => not found");
}

TEST(GpuOutcomes, APeerHasATimeOrAProblem) {
    EXPECT_EQ(read_peer(R"({"seconds": 1.5e-3})").seconds, 1.5e-3);
    EXPECT_EQ(read_peer(R"({"seconds": 1.5e-3})").problem, "");
    EXPECT_EQ(read_peer(R"({"seconds": 1.5e-3, "back_to_back": 1.4e-3})").back_to_back, 1.4e-3);
    for (const char* line : {"", "Traceback", "[]", "{}", R"({"seconds": "fast"})",
                             R"({"seconds": 0})", R"({"problem": 7})"})
        EXPECT_NE(read_peer(line).problem, "") << line;
    EXPECT_EQ(read_peer(R"({"problem": "there is no torch"})").problem, "there is no torch");
}

TEST(GpuOutcomes, ARatioIsOfPairs) {
    const auto verdict = verdict_of(Ratio{.name = "gemm bf16 8192",
                                          .unit = "FLOP/s",
                                          .ours = {98e12, 101e12, 99e12, 102e12},
                                          .theirs = {100e12, 100e12, 100e12, 100e12}});
    EXPECT_EQ(verdict.outcome, Outcome::passed);
    EXPECT_THAT(verdict.words, AllOf(HasSubstr("1.000 [0.9"), HasSubstr("4 pairs")));
    EXPECT_EQ(verdict_of(Ratio{}).outcome, Outcome::failed);
}

TEST(GpuOutcomes, OneReportSaysItThreeTimes) {
    record::Case c{.benchmark = "memory.stream", .library = "cuda"};
    c.parameters = {{"kernel", std::string{"triad"}}};
    c.status = record::Status::ok;
    c.metrics = {{.name = "bandwidth", .unit = "B/s", .value = 4.15e12}};
    Report report{.date = "2026-11-20T12:00:00Z", .version = "0.1.0"};
    report.rows = {{"facts", "driver", {Outcome::passed, "NVIDIA H200, 580.1"}, 0.3},
                   {"contract", "memory.stream[cuda]", {Outcome::passed, ""}, 2},
                   {"quick", name_of(c), verdict_of(c), 0},
                   {"contract", "peak.fma[cuda]", {Outcome::not_started, "no time was left"}, 0}};
    EXPECT_THAT(to_text(report), AllOf(HasSubstr("4.15 TB/s"), HasSubstr("no time was left")));
    EXPECT_THAT(to_markdown(report),
                AllOf(HasSubstr("NVIDIA H200, 580.1, 2026-11-20"),
                      HasSubstr("| memory.stream[cuda] | contract passed; quick kernel=triad "
                                "passed: 4.15 TB/s |"),
                      Not(HasSubstr("peak.fma"))));
    const auto json = to_json(report);
    EXPECT_EQ(json.at("schema"), "assay.gpu-check/2");
    EXPECT_EQ(json.at("rows").size(), 4U);
    EXPECT_EQ(json.at("rows").at(3).at("outcome"), "not_started");

    c.status = record::Status::incorrect;
    c.reason = "wrong";
    c.metrics.clear();
    EXPECT_EQ(verdict_of(c).outcome, Outcome::failed);
}

// --- the archive and the steps -----------------------------------------------------------------------

TEST(GpuArchive, IsPaddedAndEnds) {
    const auto tar = tar_of({{"a.txt", "hello", Rank::log}, {"b.txt", "", Rank::log}});
    ASSERT_EQ(tar.size(), 512U * 5); // two headers, one block, two of zeros
    EXPECT_EQ(tar.substr(0, 6), std::string("a.txt\0", 6));
    EXPECT_EQ(tar.substr(124, 11), "00000000005");
    EXPECT_EQ(tar.substr(257, 5), "ustar");
    EXPECT_EQ(tar.substr(512, 5), "hello");
    EXPECT_EQ(tar.substr(1024, 5), "b.txt");
}

TEST(GpuArchive, WhatHasNoRoomIsNamedAndTheReportComesFirst) {
    Archive archive{"unused.tar", std::size_t{8} * 512};
    archive.put({"log", std::string(600, 'x'), Rank::log});
    archive.put({"run.json", std::string(600, 'x'), Rank::result});
    EXPECT_THAT(archive.left_out(), ElementsAre());
    archive.put({"report", "x", Rank::report});
    EXPECT_THAT(archive.left_out(), ElementsAre("log"));
    archive.drop("run.json");
    EXPECT_THAT(archive.left_out(), ElementsAre());
}

TEST(GpuArchive, ALongLogKeepsItsEnds) {
    EXPECT_EQ(shortened_log("short", 10), "short");
    EXPECT_EQ(shortened_log("abcdefghijkl", 4), "ab\n... 8 bytes are left out ...\nkl");
}

TEST(GpuSteps, EveryStepBelongsToAPartAndHasItsOwnName) {
    const Tree tree{.assay = "/a", .contract = "/c", .modules = "/m", .data = "/d"};
    const std::vector<Tried> tried{
        {"peak.tensor", "cuda"}, {"memory.stream", "cuda"}, {"gemm.square", "cublaslt"}};
    for (const auto* name : {"first", "sanitizer", "long"}) {
        const auto plan = plan_of(name, tree, tried, "0");
        std::set<std::string_view> parts;
        double last = 0;
        for (const auto& part : plan.parts) {
            EXPECT_GT(part.until, last);
            last = part.until;
            parts.insert(part.name);
        }
        EXPECT_EQ(last, 1);
        std::set<std::string> names;
        for (const auto& step : plan.steps) {
            EXPECT_TRUE(parts.contains(step.part)) << step.part;
            EXPECT_TRUE(names.insert(step.part + step.name).second) << step.name;
            EXPECT_NE(step.read, nullptr);
            EXPECT_GT(step.seconds, 0);
        }
    }
    const auto first = plan_of("first", tree, tried, "0");
    const auto contract = std::ranges::find(first.steps, "contract", &Step::part);
    ASSERT_NE(contract, first.steps.end());
    EXPECT_EQ(contract->name, "memory.stream[cuda]") << "it proves the clock";
}

} // namespace
} // namespace assay::gpu
