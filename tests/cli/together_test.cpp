// SPDX-License-Identifier: Apache-2.0
//
// `assay run --together` and `--while` from outside.

#include "json/json.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::Folder;
using cli_test::run;
using ::testing::HasSubstr;

std::vector<std::string> words(std::vector<std::string> begin,
                               const std::vector<std::string>& more) {
    for (const char* word :
         {"peak.fma", "--set", "peak.fma.threads=all", "--set", "peak.fma.precision=fp64"})
        begin.emplace_back(word);
    begin.insert(begin.end(), more.begin(), more.end());
    return begin;
}

json::Value parsed(const std::string& text) {
    const auto value = json::parse(text, "text");
    EXPECT_TRUE(value) << text;
    return value ? *value : json::Value::object();
}

class TogetherTest : public testing::Test {
protected:
    void SetUp() override {
        if (run(words({"plan"}, {"--together", "cpus:2"})).code != 0)
            GTEST_SKIP() << "needs two cores";
    }
};

TEST_F(TogetherTest, ThePlanShowsSiblingsAndTheTimeOfOne) {
    const auto alone = parsed(run(words({"plan"}, {"--json"})).output);
    const auto plan = parsed(run(words({"plan"}, {"--json", "--together", "cpus:2"})).output);
    ASSERT_EQ(plan["cases"].size(), 2 * alone["cases"].size());
    EXPECT_EQ(plan["expected_seconds"], alone["expected_seconds"]);
    EXPECT_EQ(plan["cases"][0]["with_previous"], false);
    EXPECT_EQ(plan["cases"][1]["with_previous"], true);
    EXPECT_EQ(plan["cases"][1]["parameters"]["together"], "cpus:2");
    EXPECT_EQ(plan["cases"][1]["parameters"]["part"], "2/2");
    EXPECT_THAT(run(words({"plan"}, {"--together", "cpus:2"})).output,
                HasSubstr("together=cpus:2 part=1/2"));
}

TEST_F(TogetherTest, EachPartHasItsResult) {
    const Folder folder;
    const auto outcome = run(words({"run"}, {"--together", "cpus:2", "--budget", "2s", "--replicas",
                                             "1", "--json", "--out", folder.path().string()}));
    const auto summary = parsed(outcome.output);
    ASSERT_GE(summary["cases"].size(), 2U) << outcome.error;
    for (const auto& c : summary["cases"])
        EXPECT_THAT(c.dump(), HasSubstr("together")) << "in its identity";
}

TEST_F(TogetherTest, TheLoadIsComparedPairByPair) {
    const Folder folder;
    const auto outcome = run(
        words({"run"}, {"--while", "peak.fma precision=fp64 threads=all on other cores", "--pairs",
                        "2", "--budget", "4s", "--json", "--out", folder.path().string()}));
    const auto summary = parsed(outcome.output);
    ASSERT_EQ(summary["settings"].size(), 2U) << outcome.error;
    EXPECT_EQ(summary["settings"][0]["setting"], "alone");
    EXPECT_EQ(summary["settings"][1]["changes"]["beside"],
              "peak.fma precision=fp64 threads=all on other cores");
}

TEST(Together, WhatIsWrongIsSaidInOneLineWithTheCodeForIt) {
    const auto refused = [](const std::vector<std::string>& more, const char* part) {
        const auto outcome = run(words({"run"}, more));
        EXPECT_EQ(outcome.code, 2) << outcome.error;
        EXPECT_THAT(outcome.error, HasSubstr(part));
        EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1) << outcome.error;
    };
    refused({"--together", "devices"}, "runs on the host");
    refused({"--together", "cpus:1024"}, "core");
    refused({"--together", "racks"}, "devices, sockets, numa or cpus:N");
    refused({"--while", "peak.fma"}, "on other cores");
    refused({"--while", "peak.fmb on other cores"}, "peak.fma");
    refused({"--pairs", "3"}, "--while");
}

} // namespace
