// SPDX-License-Identifier: Apache-2.0
//
// Evidence from outside: a bundle of a run that was just made, checked, changed.

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
using cli_test::parsed;
using cli_test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EvidenceVerbs, HandOverAndCheckAgain) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    const auto measured = run({"run", "latency.timer", "--replicas", "1", "--budget", "1s",
                               "--quiet", "--out", at("results")});
    ASSERT_EQ(measured.code, 0) << measured.error;
    const auto made = run({"export", at("results"), "--bundle", at("b")});
    ASSERT_EQ(made.code, 0) << made.error;
    EXPECT_THAT(made.output, HasSubstr("Not signed"));
    EXPECT_EQ(run({"verify", at("b")}).code, 0);
    EXPECT_TRUE(parsed(run({"verify", at("b"), "--json"}))["passed"].get<bool>());
    EXPECT_THAT(run({"verify", at("b"), "--lang", "zh"}).output, HasSubstr("成立"));
    // A bundle can be moved.
    std::filesystem::rename(at("b"), at("c"));
    EXPECT_EQ(run({"verify", at("c")}).code, 0);

    std::ofstream{folder.path() / "c/verdict.json", std::ios::app} << " ";
    const auto changed = run({"verify", at("c")});
    EXPECT_EQ(changed.code, 1);
    EXPECT_THAT(changed.output, AllOf(HasSubstr("verdict.json: is not what the manifest says"),
                                      Not(HasSubstr("run.json"))));
}

TEST(EvidenceVerbs, RefuseWhatCannotBe) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    folder.write("manifest.sha256", std::string(64, 'a') + "  ../../etc/passwd\n");
    folder.write("bundle.json", "{}");
    const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
        const auto ended = run(words);
        EXPECT_EQ(ended.code, 2) << part;
        EXPECT_EQ(ended.output, "") << part;
        EXPECT_THAT(ended.error, HasSubstr(part));
    };
    refused({"verify", folder.path().string()}, "leads out of the bundle");
    refused({"verify", "bundle.tar.gz"}, "unpack it");
    refused({"export", "x", "--sign", "key"}, "--sign goes with --bundle");
    refused({"export", "x", "--bundle", at("b"), "--to", "csv"}, "--bundle makes a folder");
    refused({"export", folder.path().string(), "--bundle", at("b")}, "is a bundle already");
    EXPECT_FALSE(std::filesystem::exists(at("b")));
}

} // namespace
