// SPDX-License-Identifier: Apache-2.0
#include "gpu/outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// As GoogleTest writes it, of one benchmark.
std::string contract(const std::string& tests) {
    return R"({"tests":3,"failures":0,"name":"AllTests","testsuites":[{"name":"Modules/Contract",)"
           R"("testsuite":[)" +
           tests + "]}]}";
}
constexpr auto describes =
    R"({"name":"IntroducesItself/cuda_memory_stream","result":"COMPLETED"},)";

TEST(GpuOutcomes, AContractIsKeptBrokenOrDoesNotApply) {
    EXPECT_EQ(read_contract(contract(std::string{describes} +
                                     R"({"name":"SaysWhatFits/x","result":"COMPLETED"})"))
                  .outcome,
              Outcome::passed);
    EXPECT_EQ(read_contract(contract(std::string{describes} +
                                     R"({"name":"SaysWhatFits/x","result":"SKIPPED"})"))
                  .outcome,
              Outcome::skipped);
    const auto broken = read_contract(contract(
        R"({"name":"ComputesAndIsChecked/x","result":"COMPLETED","failures":[{"failure":"a\nb"}]})"));
    EXPECT_EQ(broken.outcome, Outcome::failed);
    EXPECT_EQ(broken.words, "ComputesAndIsChecked/x: a");
}

TEST(GpuOutcomes, TestsThatDidNotEndHaveFailed) {
    for (const char* text :
         {"", "{", "[]", "7", R"({"testsuites":7})", R"({"testsuites":[7,{"testsuite":[null]}]})"})
        EXPECT_EQ(read_contract(text).outcome, Outcome::failed) << text;
    EXPECT_EQ(read_contract(contract(std::string{describes} + "{}")).outcome, Outcome::failed)
        << "nothing that measures ran";
}

TEST(GpuOutcomes, ASanitizerHasASummaryOrHasFailed) {
    EXPECT_EQ(
        read_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n").outcome,
        Outcome::passed);
    EXPECT_EQ(read_sanitizer("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 "
                             "warnings)\n")
                  .outcome,
              Outcome::passed);
    const auto found = read_sanitizer("...\n========= ERROR SUMMARY: 12 errors\n");
    EXPECT_EQ(found.outcome, Outcome::failed);
    EXPECT_EQ(found.words, "12 errors");
    for (const char* log : {"", "killed", "ERROR SUMMARY:", "ERROR SUMMARY: many"})
        EXPECT_EQ(read_sanitizer(log).outcome, Outcome::failed) << log;
}

TEST(GpuOutcomes, APeerHasARateOrAProblem) {
    const auto rate = read_peer(R"({"flop_rate": 7.5e14, "torch": "2.9.0", "device": "H200"})");
    EXPECT_EQ(rate.flop_rate, 7.5e14);
    EXPECT_EQ(rate.version, "2.9.0");
    EXPECT_EQ(rate.problem, "");
    for (const char* line : {"", "Traceback", "[]", "{}", R"({"flop_rate": "fast"})",
                             R"({"flop_rate": 0})", R"({"flop_rate": -1})"})
        EXPECT_NE(read_peer(line).problem, "") << line;
    EXPECT_EQ(read_peer(R"({"problem": "there is no torch"})").problem, "there is no torch");
}

TEST(GpuOutcomes, ARatioIsOfTurns) {
    const auto ratio = ratio_of("bf16", {98, 101, 99, 102}, {100, 100, 100, 100});
    EXPECT_NEAR(ratio.value, 1.0, 0.002);
    EXPECT_LT(ratio.low, 1);
    EXPECT_GT(ratio.high, 1);
    EXPECT_EQ(ratio.problem, "");
    EXPECT_NE(ratio_of("bf16", {}, {}).problem, "");
    EXPECT_NE(ratio_of("bf16", {0, 1}, {1, 1}).problem, "") << "a turn of ours gave nothing";
}

record::Case measured(double value) {
    record::Case c{.benchmark = "memory.stream", .library = "cuda"};
    c.parameters = {{"kernel", std::string{"triad"}}};
    c.status = record::Status::ok;
    c.metrics = {{.name = "bandwidth", .unit = "B/s", .value = value}};
    return c;
}

TEST(GpuOutcomes, OneReportSaysItThreeTimes) {
    Report report{.date = "2026-11-20T12:00:00Z", .version = "0.1.0"};
    record::Device device;
    device.name = "NVIDIA H200";
    device.compute_capability = "9.0";
    report.devices = {device};
    report.rows = {{.benchmark = "memory.stream[cuda]",
                    .contract = {Outcome::passed, ""},
                    .memory = {Outcome::passed, ""},
                    .races = {Outcome::missing, "no compute-sanitizer here"},
                    .cases = {measured(4.15e12)}}};
    report.ratios = {ratio_of("bf16", {780e12, 790e12}, {785e12, 785e12})};
    EXPECT_TRUE(is_good(report));
    EXPECT_THAT(to_text(report), AllOf(HasSubstr("4.15 TB/s"), HasSubstr("bf16"),
                                       HasSubstr("NVIDIA H200"), HasSubstr("missing")));
    EXPECT_THAT(to_markdown(report),
                AllOf(HasSubstr("| memory.stream[cuda] | passed |"), HasSubstr("2026-11-20"),
                      HasSubstr("kernel=triad 4.15 TB/s")));
    const auto json = to_json(report);
    EXPECT_EQ(json.at("schema"), "assay.gpu-check/1");
    EXPECT_EQ(json.at("good"), true);
    EXPECT_EQ(json.at("devices").size(), 1U);
    EXPECT_EQ(json.at("benchmarks").at(0).at("cases").size(), 1U);

    report.rows.front().races = {Outcome::failed, "3 errors"};
    EXPECT_FALSE(is_good(report));
    EXPECT_THAT(to_text(report), HasSubstr("    3 errors"));
    report.rows.clear();
    EXPECT_FALSE(is_good(report)) << "nothing was tried";
}

} // namespace
} // namespace assay::gpu
