// SPDX-License-Identifier: Apache-2.0
//
// `assay run --interleave` from outside.

#include "json/json.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::Folder;
using cli_test::run;
using cli_test::steps_in;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<std::string> one_case{"peak.fma", "--set", "peak.fma.threads=one", "--set",
                                        "peak.fma.precision=fp64"};

std::vector<std::string> words(std::vector<std::string> begin,
                               const std::vector<std::string>& more) {
    begin.insert(begin.end(), one_case.begin(), one_case.end());
    begin.insert(begin.end(), more.begin(), more.end());
    return begin;
}

json::Value parsed(const std::string& text) {
    const auto value = json::parse(text, "text");
    EXPECT_TRUE(value) << text;
    return value ? *value : json::Value::object();
}

json::Value read(const std::filesystem::path& path) {
    std::ifstream file{path};
    return parsed({std::istreambuf_iterator<char>{file}, {}});
}

TEST(Interleave, ThePlanShowsOrderAndTime) {
    const std::vector<std::string> settings{"--interleave", "old:", "--interleave",
                                            "new: OMP_WAIT_POLICY=active"};
    EXPECT_THAT(run(words({"plan"}, settings)).output,
                AllOf(HasSubstr("old new | new old | old new"),
                      HasSubstr("new: environment.OMP_WAIT_POLICY=active"),
                      HasSubstr("1 cases x 2 variants x 10 pairs")));
    auto with = settings;
    with.insert(with.end(), {"--pairs", "4", "--json", "--dry-run"});
    const auto plan = parsed(run(words({"run"}, with)).output);
    EXPECT_EQ(plan["order"], "ABBA");
    EXPECT_EQ(plan["pairs"], 4);
    EXPECT_EQ(plan["settings"][1]["plan"]["replicas"], 4);
}

TEST(Interleave, WhatIsWrongIsSaidWithTheCodeForIt) {
    const auto refused = [](const std::vector<std::string>& more, int code, const char* part) {
        const auto outcome = run(words({"run"}, more));
        EXPECT_EQ(outcome.code, code) << outcome.error;
        EXPECT_THAT(outcome.error, HasSubstr(part));
    };
    refused({"--interleave", "a:"}, 2, "2 to 26 times");
    refused({"--interleave", "a:", "--interleave", "a: X=1"}, 2, "twice");
    refused({"--interleave", "a:", "--interleave", "b: libary=x"}, 2, "library");
    refused({"--interleave", "a: library=hots", "--interleave", "b: library=host"}, 2, "\"host\"");
    refused({"--interleave", "a:", "--interleave", "b:", "--replicas", "3"}, 2, "--interleave");
    refused({"--pairs", "3"}, 2, "--interleave");
    const Folder folder;
    const auto out = folder.path() / "results";
    refused({"--out", out, "--interleave", "a:", "--interleave", "b: via=no_such_program"}, 4,
            "variant b");
    EXPECT_EQ(steps_in(out), 0U);
}

TEST(Interleave, AProgramThatStopsStartingWorkersCostsNothingForEver) {
    const Folder folder;
    const auto script = folder.write("start", "#!/bin/sh\nmkdir " + folder.path().string() +
                                                  "/tried && exec \"$@\"\nexit 3\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const auto command = words(
        {"run"}, {"--interleave", "a:", "--interleave", "b: via=" + script.string(), "--pairs", "2",
                  "--budget", "2s", "--json", "--quiet", "--resume", "--out", folder.path()});
    const auto first = run(command);
    EXPECT_EQ(first.code, 4) << first.error;
    const auto cases = [](const cli_test::Outcome& outcome) {
        return read(parsed(outcome.output)["settings"][1]["file"].get<std::string>())["cases"];
    };
    EXPECT_EQ(cases(first)[0]["status"], "not_started");
    EXPECT_EQ(cases(first)[0]["reason_code"], "no_worker");
    folder.write("start", "#!/bin/sh\nexec \"$@\"\n");
    const auto again = run(command);
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(parsed(again.output)["pairing"], parsed(first.output)["pairing"]);
    EXPECT_EQ(cases(again)[0]["replicas"].size(), 2U);
}

TEST(Interleave, AnInterruptedPairingIsGoneOnWith) {
    const Folder folder;
    const auto command = words(
        {"run"}, {"--interleave", "old:", "--interleave", "new: OMP_WAIT_POLICY=active", "--pairs",
                  "3", "--budget", "2s", "--json", "--quiet", "--resume", "--out", folder.path()});
    const auto stopped =
        run(command, {.interrupt_when = [&] { return steps_in(folder.path()) >= 3; }});
    EXPECT_EQ(stopped.code, 5) << stopped.error;
    const auto first = parsed(stopped.output);
    const auto outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const auto document = parsed(outcome.output);
    EXPECT_EQ(document["pairing"], first["pairing"]);
    ASSERT_EQ(document["settings"].size(), 2U);
    for (const std::size_t side : {0U, 1U}) {
        const auto& setting = document["settings"][side];
        EXPECT_EQ(setting["file"], first["settings"][side]["file"]);
        const auto result = read(setting["file"].get<std::string>());
        const auto& pairing = result["run"]["pairing"];
        EXPECT_EQ(pairing["id"], document["pairing"]);
        EXPECT_EQ(pairing["setting"], side == 0 ? "old" : "new");
        EXPECT_EQ(pairing["order"], "ABBA");
        EXPECT_EQ(pairing["changes"].size(), side);
        const auto& replicas = result["cases"][0]["replicas"];
        ASSERT_EQ(replicas.size(), 3U);
        for (int index = 0; index < 3; ++index)
            EXPECT_EQ(replicas[static_cast<std::size_t>(index)]["index"], index);
    }
    EXPECT_TRUE(std::filesystem::exists(document["comparison"].get<std::string>()));
    EXPECT_LE(steps_in(folder.path()), 7U) << "at most half a pair is measured twice";
}

} // namespace
