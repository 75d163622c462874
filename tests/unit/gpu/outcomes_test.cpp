// SPDX-License-Identifier: Apache-2.0
#include "gpu/outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// As GoogleTest prints one test of a benchmark.
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

} // namespace
} // namespace assay::gpu
