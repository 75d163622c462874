// SPDX-License-Identifier: Apache-2.0
//
// A fleet from outside: a node that was just measured, and others that are missing.

#include "json/json.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace assay;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FleetVerb, SaysWhoIsMissingAndEndsWithThree) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    const auto measured = run({"run", "latency.timer", "--replicas", "1", "--budget", "1s",
                               "--quiet", "--tag", "node=n1", "--out", at("results")});
    ASSERT_EQ(measured.code, 0) << measured.error;
    folder.write("nodes.txt", "n[1-2]  # rack 1\n");
    const auto open = run({"fleet", at("results"), "--expect", at("nodes.txt"), "--html",
                           at("fleet.html"), "--csv", at("fleet.csv"), "--md", "-"});
    EXPECT_EQ(open.code, 3) << open.error;
    EXPECT_THAT(open.output,
                AllOf(HasSubstr("1 of 2 nodes answered; n2 did not"), HasSubstr("did not answer")));
    const auto data = parsed(run({"fleet", at("results"), "--expect", "n[1-2]", "--json"}));
    EXPECT_EQ(data["schema"], "assay.fleet/1");
    EXPECT_EQ(data["counts"]["missing"], 1);
    EXPECT_THAT(run({"fleet", at("results"), "--expect", "n[1-2]", "--lang", "zh"}).output,
                HasSubstr("n2 未上报"));
    // A sweep that has only begun.
    folder.write("journal.ndjson", "");
    std::filesystem::create_directories(at("begun/n1"));
    std::filesystem::rename(at("journal.ndjson"), at("begun/n1/journal.ndjson"));
    const auto begun = run({"fleet", at("begun"), "--expect", "n1"});
    EXPECT_EQ(begun.code, 3) << begun.error;
    EXPECT_THAT(begun.output, HasSubstr("n1"));
}

TEST(FleetVerb, RefusesWhatCannotBeMeant) {
    const Folder folder;
    const auto results = folder.path().string();
    folder.write("journal.ndjson", "");
    EXPECT_EQ(run({"fleet"}).code, 2);
    EXPECT_EQ(run({"fleet", results + "/absent"}).code, 2);
    for (const auto& [option, value] : {std::pair{"--expect", "absent/nodes.txt"},
                                        {"--expect", "n[3-1]"},
                                        {"--since", "soon"},
                                        {"--by", "library"},
                                        {"--fail-on", "worse"}})
        EXPECT_EQ(run({"fleet", results, option, value}).code, 2) << option << " " << value;
}

} // namespace
