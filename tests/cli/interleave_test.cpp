// SPDX-License-Identifier: Apache-2.0
//
// `assay run --interleave`, `--together` and `--while` from outside.

#include "program.hpp"

#include <algorithm>

namespace assay::cli_test {
namespace {

using namespace testing;

std::vector<std::string> words(std::vector<std::string> begin, const std::vector<std::string>& more,
                               const char* threads = "one") {
    begin.insert(begin.end(), {"peak.fma", "--set", std::string{"peak.fma.threads="} + threads,
                               "--set", "peak.fma.precision=fp64"});
    begin.insert(begin.end(), more.begin(), more.end());
    return begin;
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
    const auto cases = [](const Outcome& outcome) {
        return json::read_file(parsed(outcome)["settings"][1]["file"].get<std::string>())
            .value()["cases"];
    };
    EXPECT_EQ(cases(first)[0]["status"], "not_started");
    EXPECT_EQ(cases(first)[0]["reason_code"], "no_worker");
    folder.write("start", "#!/bin/sh\nexec \"$@\"\n");
    const auto again = run(command);
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(parsed(again)["pairing"], parsed(first)["pairing"]);
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
    const auto first = parsed(stopped);
    const auto outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const auto document = parsed(outcome);
    EXPECT_EQ(document["pairing"], first["pairing"]);
    ASSERT_EQ(document["settings"].size(), 2U);
    for (const std::size_t side : {0U, 1U}) {
        const auto& setting = document["settings"][side];
        EXPECT_EQ(setting["file"], first["settings"][side]["file"]);
        const auto result = json::read_file(setting["file"].get<std::string>()).value();
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

class TogetherTest : public testing::Test {
protected:
    void SetUp() override {
        if (run(words({"plan"}, {"--together", "cpus:2"}, "all")).code != 0)
            GTEST_SKIP() << "needs two cores";
    }
};

TEST_F(TogetherTest, EachPartHasItsResult) {
    const Folder folder;
    const auto outcome = run(words({"run"},
                                   {"--together", "cpus:2", "--budget", "2s", "--replicas", "1",
                                    "--json", "--out", folder.path().string()},
                                   "all"));
    const auto summary = parsed(outcome);
    ASSERT_GE(summary["cases"].size(), 2U) << outcome.error;
    for (const auto& c : summary["cases"])
        EXPECT_THAT(c.dump(), HasSubstr("together")) << "in its identity";
}

TEST_F(TogetherTest, TheLoadIsComparedPairByPair) {
    const Folder folder;
    const auto outcome =
        run(words({"run"},
                  {"--while", "peak.fma precision=fp64 threads=all on other cores", "--pairs", "2",
                   "--budget", "4s", "--json", "--out", folder.path().string()},
                  "all"));
    const auto summary = parsed(outcome);
    ASSERT_EQ(summary["settings"].size(), 2U) << outcome.error;
    EXPECT_EQ(summary["settings"][0]["setting"], "alone");
    EXPECT_EQ(summary["settings"][1]["changes"]["beside"],
              "peak.fma precision=fp64 threads=all on other cores");
}

TEST(Together, WhatIsWrongIsSaidInOneLineWithTheCodeForIt) {
    const auto refused = [](const std::vector<std::string>& more, const char* part) {
        const auto outcome = run(words({"run"}, more, "all"));
        expect_refusal(outcome, 2, {part});
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
} // namespace assay::cli_test
