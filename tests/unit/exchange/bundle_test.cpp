// SPDX-License-Identifier: Apache-2.0
//
// Bundles made, checked, signed, and bundles of somebody who means no good.

#include "base/program.hpp"
#include "exchange/bundle_check.hpp"
#include "exchange/bundle_files.hpp"
#include "small.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using namespace evidence_test;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
    EXPECT_FALSE(fs::exists(small.bundle() / "limits"));
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
    EXPECT_EQ(checked.verdict, "PASS");
    EXPECT_EQ(checked.created, small.options.created);
    EXPECT_THAT(paths_in(small.bundle()),
                ElementsAre("bundle.json", "limits/001-small.json", "manifest.sha256",
                            "results/0001/logs/host.log", "results/0001/run.json", "verdict.json"));
    EXPECT_THAT(content(small.bundle() / manifest_file), HasSubstr("  results/0001/run.json\n"));
    // Nothing says where it was made.
    for (const auto& path : paths_in(small.bundle()))
        EXPECT_THAT(content(small.bundle() / path), Not(HasSubstr(small.folder.path().string())));
}

TEST(EvidenceBundle, HoldsUnderAnyName) {
    Small small;
    std::string limits = small_limits;
    const std::string source = "the contract";
    small.folder.write("small.json",
                       limits.replace(limits.find(source), source.size(), "web/contract"));
    ASSERT_TRUE(small.make());
    fs::rename(small.bundle(), small.folder.path() / "b");
    const auto before = fs::current_path();
    fs::current_path(small.folder.path());
    const auto checked = check_bundle("b", {});
    fs::current_path(before);
    ASSERT_TRUE(checked);
    EXPECT_THAT(checked->findings, IsEmpty());
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
    EXPECT_THAT(small.make().error().message,
                HasSubstr("holds serial numbers: allow them with --serials"));
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
    EXPECT_THAT(codes(small), ElementsAre("wrong_digest results/0001/logs/host.log"));
    small.folder.write("bundle/results/0001/logs/host.log", text);
    fs::remove(small.bundle() / verdict_file);
    ASSERT_TRUE(write_manifest(small.bundle()));
    EXPECT_THAT(codes(small), ElementsAre("missing_file verdict.json"));
}

TEST(EvidenceBundle, OneMoreResultIsFound) {
    const Small small;
    ASSERT_TRUE(small.make());
    fs::create_directories(small.bundle() / "results/0002");
    small.folder.write("bundle/results/0002/run.json", record::to_text(small_run("second")));
    EXPECT_THAT(codes(small), Contains("extra_file results/0002/run.json"));
    ASSERT_TRUE(write_manifest(small.bundle()));
    EXPECT_THAT(codes(small), Each("wrong_verdict verdict.json"));
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

TEST(EvidenceBundle, RefusesWhatItDoesNotKnow) {
    const Small small;
    ASSERT_TRUE(small.make());
    const auto refused = [&](const std::string& about, const char* part) {
        small.folder.write("bundle/bundle.json", about);
        const auto checked = check_bundle(small.bundle(), {});
        ASSERT_FALSE(checked) << about;
        EXPECT_EQ(checked.error().fault, Fault::usage);
        EXPECT_THAT(checked.error().message, HasSubstr(part));
    };
    refused("", "bundle.json");
    refused(R"({"schema":"assay.bundle/1"})", "version");
    refused(R"({"schema":"assay.bundle/9","version":"1","created":"now"})",
            "schema \"assay.bundle/9\" is not known");
    refused(std::string(200, '['), "nested");
}

TEST(EvidenceBundle, RefusesThoseOfEarlierVersions) {
    const Small small;
    fs::create_directory(small.bundle());
    small.folder.write("bundle/statement.json", "{}");
    small.folder.write("bundle/manifest.sha256", std::string(64, 'a') + "  statement.json\n");
    ASSERT_TRUE(is_bundle(small.bundle()));
    const auto checked = check_bundle(small.bundle(), {});
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().fault, Fault::usage);
    EXPECT_THAT(checked.error().message,
                HasSubstr("was made by an earlier version of assay: make it again"));
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
    for (const char* created : {"2025-01-01T00:00:00Z", "soon"}) { // a run of the future
        auto about = json::read_file(small.bundle() / about_file).value();
        about["created"] = created;
        small.folder.write("bundle/bundle.json", json::to_text(about));
        EXPECT_THAT(codes(small), Contains("wrong_verdict verdict.json")) << created;
    }
}

// --- signatures -------------------------------------------------------------------------------------

class EvidenceSignature : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run_and_read(
            {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key.string()});
        if (!made || made->code != 0) GTEST_SKIP() << "there is no ssh-keygen";
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
    small.folder.write("bundle/manifest.sha256.sig", "-----BEGIN SSH SIGNATURE-----\nAAAA\n");
    EXPECT_EQ(check(small.bundle(), {}).signature, SignatureState::wrong);
}

TEST_F(EvidenceSignature, IsOfAllDigests) {
    ASSERT_TRUE(small.make());
    small.folder.write("bundle/results/0001/logs/host.log", "all was well\n");
    ASSERT_TRUE(write_manifest(small.bundle()));
    const auto checked = check(small.bundle(), signers);
    EXPECT_EQ(checked.signature, SignatureState::wrong);
    EXPECT_EQ(checked.findings.front().code, BundleCode::wrong_signature);
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
