// SPDX-License-Identifier: Apache-2.0
//
// Uses of fresh runs: evidence that is handed over and checked, a fleet with missing nodes, a verdict in a folder with
// other machines' runs.

#include "program.hpp"

namespace assay::cli_test {
namespace {

using namespace testing;

TEST(EvidenceVerbs, HandOverAndCheckAgain) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    ASSERT_EQ(run(brief_run(at("results"))).code, 0);
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
    EXPECT_THAT(changed.output, AllOf(HasSubstr("verdict.json: does not match the manifest"),
                                      Not(HasSubstr("run.json"))));
}

TEST(EvidenceVerbs, RefuseWhatCannotBe) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    folder.write("manifest.sha256", std::string(64, 'a') + "  ../../etc/passwd\n");
    folder.write("bundle.json", "{}");
    refuses({"verify", folder.path().string()}, {"leads out of the bundle"});
    refuses({"verify", "bundle.tar.gz"}, {"unpack it"});
    refuses({"export", "x", "--sign", "key"}, {"--sign needs --bundle"});
    refuses({"export", "x", "--bundle", at("b"), "--to", "csv"},
            {"--bundle cannot be combined with --to or --out"});
    refuses({"export", folder.path().string(), "--bundle", at("b")}, {"is already a bundle"});
    EXPECT_FALSE(std::filesystem::exists(at("b")));
}

TEST(FleetVerb, SaysWhoIsMissingAndEndsWithThree) {
    const Folder folder;
    const auto at = [&](const char* name) { return (folder.path() / name).string(); };
    ASSERT_EQ(run(brief_run(at("results"), {"--tag", "node=n1"})).code, 0);
    folder.write("nodes.txt", "n[1-2]  # rack 1\n");
    const auto open = run({"fleet", at("results"), "--expect", at("nodes.txt"), "--html",
                           at("fleet.html"), "--csv", at("fleet.csv"), "--md", "-"});
    EXPECT_EQ(open.code, 3) << open.error;
    EXPECT_THAT(open.output,
                AllOf(HasSubstr("1 of 2 nodes reported; missing: n2"), HasSubstr("missing")));
    const auto data = parsed(run({"fleet", at("results"), "--expect", "n[1-2]", "--json"}));
    EXPECT_EQ(data["schema"], "assay.fleet/1");
    EXPECT_EQ(data["counts"]["missing"], 1);
    EXPECT_THAT(run({"fleet", at("results"), "--expect", "n[1-2]", "--lang", "zh"}).output,
                HasSubstr("缺失：n2"));
    // A sweep that has only begun.
    folder.write("begun/n1/journal.ndjson", "");
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

/// Earlier measurements add up; files that others left in the folder are ignored.
TEST(Check, CountsAllRunsOfThisMachine) {
    const Folder folder;
    const auto limits = folder.write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "limits": [{"id": "fma", "title": "FMA", "kind": "contract", "case": {"benchmark": "peak.fma"},
        "unit": "FLOP/s", "at_least": 1e6, "source": "ours"}]})");
    auto arguments = brief_run(folder.path(), {}, "2");
    ASSERT_EQ(run(arguments).code, 0);
    arguments.insert(arguments.end(), {"--check", "--limits", limits});
    const auto good = run(arguments);
    EXPECT_EQ(good.code, 0) << good.output << good.error;
    EXPECT_THAT(good.output, HasSubstr("PASS: "));

    const auto first = files_named(folder.path(), "run.json").at(0);
    auto changed = test::content_of(first);
    const std::string_view key = "\"kernel\": \"";
    changed.insert(changed.find(key) + key.size(), "x");
    folder.write("baseline/host/unknown/0123456789abcdef/one/run.json", changed);
    EXPECT_EQ(run(arguments).code, 0) << "of another machine";
    std::ofstream{first} << changed;
    const auto open = run(arguments);
    EXPECT_EQ(open.code, 3) << open.error;
    EXPECT_THAT(open.output, AllOf(HasSubstr("INCONCLUSIVE: "), HasSubstr("1 file is not used:"),
                                   HasSubstr("machine does not match its digest")));
}

} // namespace
} // namespace assay::cli_test
