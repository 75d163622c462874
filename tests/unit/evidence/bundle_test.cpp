// SPDX-License-Identifier: Apache-2.0
//
// Bundles made, checked, signed, redacted, and bundles of somebody who means no good.

#include "base/sha256.hpp"
#include "evidence/check.hpp"
#include "evidence/contents.hpp"
#include "evidence/files.hpp"
#include "small.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using namespace evidence_test;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> codes(const Small& small) {
    const auto checked = check_bundle(small.bundle(), {});
    if (!checked) return {checked.error().message};
    std::vector<std::string> found;
    for (const auto& finding : checked->findings)
        found.push_back(fmt::format("{} {}", to_string(finding.code), finding.file));
    return found;
}

TEST(EvidenceBundle, OfASoakAloneHasTheLimitsThatWereNamed) {
    Small small{small_soak()};
    small.options.limits.clear();
    ASSERT_TRUE(small.make());
    EXPECT_THAT(codes(small), IsEmpty());
    const auto statement = read_statement(small.bundle()).value();
    EXPECT_THAT(statement.predicate.limits, IsEmpty());
    const auto verdict = json::read_file(small.bundle() / verdict_file).value();
    EXPECT_THAT(json::to_text(verdict),
                AllOf(HasSubstr("soak:results"), Not(HasSubstr("not_measured"))));
}

TEST(EvidenceBundle, HoldsWhatItWasMadeOf) {
    const Small small;
    const auto made = small.make();
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->verdict, "PASS") << "three replicas, far above the limit";
    EXPECT_EQ(made->logs, 1U);
    EXPECT_EQ(content(small.bundle() / "results/0001/run.json"),
              content(small.folder.path() / "runs/one/run.json"))
        << "byte for byte";
    const auto checked = check_bundle(small.bundle(), {}).value();
    EXPECT_THAT(checked.findings, IsEmpty());
    EXPECT_EQ(checked.signature, SignatureState::none);
    EXPECT_EQ(checked.results, 1U);
    const auto statement = json::read_file(small.bundle() / statement_file).value();
    EXPECT_EQ(statement["_type"], "https://in-toto.io/Statement/v1");
    EXPECT_EQ(statement["subject"].size(), 4U) << "limits, result, log, verdict";
    EXPECT_THAT(content(small.bundle() / manifest_file), HasSubstr("  results/0001/run.json\n"));
    // Nothing says where it was made.
    for (const auto& path : paths_in(small.bundle()))
        EXPECT_THAT(content(small.bundle() / path), Not(HasSubstr(small.folder.path().string())));
}

TEST(EvidenceBundle, ProgramsGetADocumentOfItsSchema) {
    const Small small;
    ASSERT_TRUE(small.make());
    small.folder.write("bundle/extra", "");
    const auto schema = json::read_file(layout().share / "schema" / "bundle_check.json").value();
    const auto data = to_json(small.bundle(), check_bundle(small.bundle(), {}).value());
    const auto fits = json::check_schema(data, schema, "stdout");
    EXPECT_TRUE(fits) << fits.error().message;
    EXPECT_EQ(data["findings"][0]["code"], "extra_file");
}

TEST(EvidenceBundle, IsMadeWholeOrNotAtAll) {
    Small small;
    small.options.serials = false;
    EXPECT_THAT(small.make().error().message, HasSubstr("--redact serials"));
    small.options.serials = true;
    small.folder.write("runs/broken.json", "{");
    small.inputs.push_back((small.folder.path() / "runs/broken.json").string());
    EXPECT_FALSE(small.make());
    small.inputs.pop_back();
    auto wrong = small_run("other");
    wrong.cases[0].metrics[0].value = 1;
    small.folder.write("runs/run.json", record::to_text(wrong));
    EXPECT_THAT(small.make().error().message, HasSubstr("is not consistent"));
    fs::remove(small.folder.path() / "runs/run.json");
    small.options.limits = {"absent.json"};
    EXPECT_FALSE(small.make());
    EXPECT_FALSE(fs::exists(small.bundle()));
    std::size_t left = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{small.folder.path()}) ++left;
    EXPECT_EQ(left, 2U) << "runs and limits, no draft";
    fs::create_directory(small.bundle());
    EXPECT_THAT(small.make().error().message, HasSubstr("is there already"));
}

TEST(EvidenceBundle, FindsWhatIsMissingAndWhatIsBeyond) {
    const Small small;
    ASSERT_TRUE(small.make());
    const auto log = small.bundle() / "results/0001/logs/host.log";
    const auto text = content(log);
    fs::remove(log);
    EXPECT_THAT(codes(small), ElementsAre("missing_file results/0001/logs/host.log"));
    fs::create_symlink("/etc/hostname", log);
    EXPECT_THAT(codes(small), ElementsAre("not_a_file results/0001/logs/host.log"));
    fs::remove(log);
    small.folder.write("bundle/results/0001/logs/host.log", text);
    EXPECT_THAT(codes(small), IsEmpty());
    small.folder.write("bundle/extra", "");
    EXPECT_THAT(codes(small), ElementsAre("extra_file extra"));
    fs::remove(small.bundle() / "extra");
    small.folder.write("bundle/results/0001/logs/host.log", text + " ");
    EXPECT_THAT(codes(small), ElementsAre("wrong_digest results/0001/logs/host.log",
                                          "wrong_subject results/0001/logs/host.log"));
}

TEST(EvidenceBundle, OneMoreResultIsFound) {
    const Small small;
    ASSERT_TRUE(small.make());
    fs::create_directories(small.bundle() / "results/0002");
    small.folder.write("bundle/results/0002/run.json", record::to_text(small_run("second")));
    EXPECT_THAT(codes(small), Contains("wrong_statement statement.json"));
    EXPECT_THAT(codes(small), Contains("wrong_verdict verdict.json"));
}

TEST(EvidenceBundle, HostileManifestsAreRefused) {
    const Small small;
    ASSERT_TRUE(small.make());
    const std::string digest(64, 'a');
    const auto refused = [&](const std::string& manifest, const char* part) {
        small.folder.write("bundle/manifest.sha256", manifest);
        const auto checked = check_bundle(small.bundle(), {});
        ASSERT_FALSE(checked) << manifest;
        EXPECT_EQ(checked.error().fault, Fault::usage);
        EXPECT_THAT(checked.error().message, HasSubstr(part));
    };
    refused("", "is empty");
    refused(digest + "  ../../etc/passwd\n", "leads out of the bundle");
    refused(digest + "  a/./b\n", "leads out of the bundle");
    refused(digest + "  /etc/passwd\n", "is absolute");
    refused(digest + "  a//b\n", "leads out");
    refused(digest + "  b\n" + digest + "  a\n", "twice or out of order");
    refused(digest + "  a\n" + digest + "  a\n", "twice or out of order");
    refused(digest + "  a", "was cut");
    refused(digest + "  \xff\xfe\n", "characters");
    refused(digest + "  a\x1b[2Jb\n", "characters");
    refused(digest + " *a\n", "SHA-256");
    refused("zz  a\n", "SHA-256");
    refused(digest + "  " + std::string(1000, 'x') + "\n", "longer than 500");
    refused(std::string(100000, '\0'), "was cut");
}

TEST(EvidenceBundle, HostileStatementsAreRefused) {
    const Small small;
    ASSERT_TRUE(small.make());
    const auto good = content(small.bundle() / statement_file);
    const auto refused = [&](const std::string& statement, const char* part) {
        small.folder.write("bundle/statement.json", statement);
        const auto checked = check_bundle(small.bundle(), {});
        ASSERT_FALSE(checked) << part;
        EXPECT_THAT(checked.error().message, HasSubstr(part));
    };
    const auto with = [&](const std::string& from, const std::string& to) {
        auto text = good;
        const auto at = text.find(from);
        EXPECT_NE(at, text.npos) << from;
        return text.replace(at, from.size(), to);
    };
    refused("", "statement.json");
    refused(good.substr(0, good.size() / 2), "statement.json");
    refused(with("Statement/v1", "Statement/v2"), "_type");
    refused(with("urn:assay:evidence:1", "urn:assay:evidence:9"), "predicateType");
    refused(with("\"limits/01-small.json\"]", "\"../../small.json\"]"), "leads out");
    refused(with("\"subject\"", "\"subject\": [], \"subject\""), "occurs twice");
    refused(with("\"predicate\"", "\"more\": 1, \"predicate\""), "more");
    refused(std::string(200, '['), "nested");
}

TEST(EvidenceBundle, WhatIsNoBundleIsSaidSo) {
    const Small small;
    EXPECT_THAT(check_bundle(small.folder.path() / "runs", {}).error().message,
                HasSubstr("is missing or no file: this is no bundle of evidence"));
    EXPECT_FALSE(check_bundle(small.folder.path() / "absent", {}));
    EXPECT_FALSE(is_bundle(small.folder.path() / "runs"));
}

TEST(EvidenceBundle, CreatedLaterOrEarlierChangesTheVerdict) {
    const Small small;
    ASSERT_TRUE(small.make());
    auto statement = json::read_file(small.bundle() / statement_file).value();
    statement["predicate"]["created"] = "2025-01-01T00:00:00Z";
    small.folder.write("bundle/statement.json", json::to_text(statement));
    EXPECT_THAT(codes(small), Contains("wrong_verdict verdict.json")) << "a run of the future";
    statement["predicate"]["created"] = "soon";
    small.folder.write("bundle/statement.json", json::to_text(statement));
    EXPECT_THAT(codes(small), Contains("wrong_verdict verdict.json"));
}

TEST(EvidenceBundle, TextsAreHiddenAndTheRestHolds) {
    Small small;
    small.options.serials = false;
    small.options.redact = {"hostname", "serials", "notes"};
    small.folder.write("runs/one/logs/other.log", "started on node-17\n");
    const auto made = small.make();
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->hidden, 3U);
    EXPECT_THAT(made->withheld, ElementsAre("results/0001/logs/other.log"));
    EXPECT_THAT(codes(small), IsEmpty());
    for (const auto& path : paths_in(small.bundle())) {
        EXPECT_THAT(content(small.bundle() / path), Not(HasSubstr("node-17"))) << path;
        EXPECT_THAT(content(small.bundle() / path), Not(HasSubstr("SN-4711"))) << path;
    }
    // What is shown still has to be what it was.
    auto run = json::read_file(small.bundle() / "results/0001/run.json").value();
    run["machine"]["cores"] = 3;
    small.folder.write("bundle/results/0001/run.json", json::to_text(run));
    EXPECT_THAT(codes(small), Contains("wrong_subject results/0001/run.json"));
}

TEST(EvidenceBundle, HiddenTextsInLimitsAreSaidSo) {
    Small small;
    small.options.redact = {"serials"};
    std::string limits = small_limits;
    const std::string name = "the contract";
    small.folder.write("small.json",
                       limits.replace(limits.find(name), name.size(), "of SN-4711-0815"));
    const auto made = small.make();
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("small.json too"));
    EXPECT_FALSE(fs::exists(small.bundle()));
}

TEST(EvidenceBundle, KeepsFactsThatTheVerdictDependsOn) {
    auto run = small_run();
    run.machine.cpu_model = "Zen of 2022";
    Small small{run};
    std::string limits = small_limits;
    const std::string key = R"("case":{)";
    small.folder.write("small.json",
                       limits.insert(limits.find(key), R"("machine":{"cpu":"Zen*"},)"));
    for (const char* fact : {"machine.cpu_model", "cases.*.status"}) {
        small.options.redact = {"hostname", fact};
        const auto made = small.make();
        ASSERT_FALSE(made) << fact;
        EXPECT_THAT(made.error().message,
                    StartsWith(std::string{"--redact "} + fact + ": the verdict depends on"));
        EXPECT_EQ(made.error().fault, Fault::usage);
        EXPECT_FALSE(fs::exists(small.bundle()));
    }
    small.options.redact = {"hostname"};
    ASSERT_TRUE(small.make());
    EXPECT_THAT(codes(small), IsEmpty());
    const auto hidden = small.folder.path() / "hidden";
    const auto later = redact_bundle(small.bundle(), hidden, {"machine.cpu_model", "software"});
    ASSERT_FALSE(later);
    EXPECT_THAT(later.error().message, StartsWith("--redact machine.cpu_model: the verdict"));
    EXPECT_FALSE(fs::exists(hidden));
}

// --- signatures -------------------------------------------------------------------------------------

int keygen(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ssh-keygen");
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawnp(&child, "ssh-keygen", nullptr, nullptr, pointers.data(), environ) != 0)
        return -1;
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

class EvidenceSignature : public testing::Test {
protected:
    void SetUp() override {
        if (keygen({"-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key.string()}) != 0)
            GTEST_SKIP() << "there is no ssh-keygen";
        signers = small.folder.write("signers", "vendor@example.com namespaces=\"assay\" " +
                                                    content(key.string() + ".pub"));
        small.options.key = key;
    }
    CheckedBundle check(const fs::path& bundle, const fs::path& by) const {
        auto checked = check_bundle(bundle, by);
        EXPECT_TRUE(checked) << checked.error().message;
        return checked.value_or(CheckedBundle{});
    }
    Small small;
    fs::path key = small.folder.path() / "key";
    fs::path signers;
};

TEST_F(EvidenceSignature, SaysWhoSigned) {
    ASSERT_TRUE(small.make());
    const auto known = check(small.bundle(), signers);
    EXPECT_THAT(known.findings, IsEmpty());
    EXPECT_EQ(known.signature, SignatureState::by_signer);
    EXPECT_EQ(known.signer, "vendor@example.com");
    const auto unknown = check(small.bundle(), {});
    EXPECT_EQ(unknown.signature, SignatureState::by_somebody);
    EXPECT_THAT(unknown.findings, IsEmpty());
    const auto nobody = small.folder.write("nobody", "# none\n");
    EXPECT_EQ(check(small.bundle(), nobody).signature, SignatureState::wrong);
    const auto other = small.folder.write("git", "vendor@example.com namespaces=\"git\" " +
                                                     content(key.string() + ".pub"));
    EXPECT_EQ(check(small.bundle(), other).signature, SignatureState::wrong);
    fs::remove(small.bundle() / signature_file);
    EXPECT_EQ(check(small.bundle(), signers).findings.front().code, BundleCode::no_signature);
    small.folder.write("bundle/statement.json.sig", "-----BEGIN SSH SIGNATURE-----\nAAAA\n");
    EXPECT_EQ(check(small.bundle(), {}).signature, SignatureState::wrong);
}

TEST_F(EvidenceSignature, StaysWhenTextsAreHiddenLater) {
    ASSERT_TRUE(small.make());
    const auto hidden = small.folder.path() / "hidden";
    const auto made = redact_bundle(small.bundle(), hidden, {"hostname", "serials"});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->hidden, 3U) << "the note has the host name in it";
    const auto checked = check(hidden, signers);
    EXPECT_THAT(checked.findings, IsEmpty());
    EXPECT_EQ(checked.signature, SignatureState::by_signer);
    EXPECT_EQ(checked.hidden, 6U);
    for (const auto& path : paths_in(hidden))
        EXPECT_THAT(content(hidden / path), Not(HasSubstr("node-17"))) << path;
    // And once more of that.
    const auto more = small.folder.path() / "more";
    ASSERT_TRUE(redact_bundle(hidden, more, {"software"}));
    EXPECT_THAT(check(more, signers).findings, IsEmpty());
    // The signature is of the statement: a figure changed under it is found.
    auto run = json::read_file(more / "results/0001/run.json").value();
    run["cases"][0]["version"] = 2;
    small.folder.write("more/results/0001/run.json", json::to_text(run));
    EXPECT_FALSE(check(more, signers).findings.empty());
}

TEST_F(EvidenceSignature, KeysThatCannotSignAreSaidSo) {
    small.options.key = small.folder.write("no-key", "nothing");
    const auto made = small.make();
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("ssh-keygen does not sign"));
    EXPECT_FALSE(fs::exists(small.bundle()));
}

} // namespace
} // namespace assay::report
