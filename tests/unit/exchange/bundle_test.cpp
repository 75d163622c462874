// SPDX-License-Identifier: Apache-2.0
//
// Bundles made, checked, signed; bundles of somebody who means no good; and numbers that are changed in turn: they are
// found by the digests, and where somebody made all digests again, by computing the figures once more, as far as they
// follow from something.

#include "base/program.hpp"
#include "exchange/bundle.hpp"
#include "exchange/bundle_check.hpp"
#include "exchange/bundle_files.hpp"
#include "record/convert.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/schema.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace assay::exchange {
namespace {

namespace fs = std::filesystem;
using namespace testing;

/// One GEMM in three replicas of eight batches, on a machine with a name, a serial number and a tag.
record::Run small_run(const std::string& id = "20260131T123456Z-4f2a") {
    auto run = test::sample_run();
    run.id = id;
    run.status = "done";
    run.note = "of node-17 after delivery";
    run.machine.hostname = "node-17";
    run.machine.identity.by = "machine_id";
    run.machine.identity.serials = {
        {.kind = "board", .where = "", .text = "SN-4711-0815", .keyed = ""}};
    run.cases.clear();
    run.cases.push_back(test::small_case());
    return run;
}

/// The small run as a soak whose three visits are in the file.
record::Run small_soak() {
    auto run = small_run();
    auto& c = run.cases.front();
    record::SoakPhase phase{.of = record::identity(c), .digest = "0123456789abcdef"};
    for (auto& replica : c.replicas) {
        replica.soak = record::SoakVisit{.begun_seconds = 2.5 * replica.index,
                                         .seconds = 2.5,
                                         .calls = 80,
                                         .compared = 72,
                                         .checked = 8,
                                         .digest = phase.digest};
        phase.visits += 1;
        phase.calls += 80;
        phase.compared += 72;
        phase.checked += 8;
        phase.points.push_back(
            {.begun_seconds = replica.soak->begun_seconds, .seconds = replica.seconds});
    }
    run.soak = record::Soak{.asked_seconds = 7.5, .seconds = 7.5, .phases = {std::move(phase)}};
    return run;
}

const char* const small_limits =
    R"({"schema":"assay.limits/1","name":"small","date":"2026-01-01","author":"tests","limits":[)"
    R"({"id":"gemm","title":"GEMM","kind":"contract","case":{"benchmark":"gemm.square"},)"
    R"("unit":"FLOP/s","at_least":2e11,"source":"the contract"}]})";

struct Small {
    made::TemporaryFolder folder;
    std::vector<std::string> inputs;
    BundleOptions options{.serials = true, .created = "2026-02-01T00:00:00Z"};

    explicit Small(const record::Run& run = small_run()) {
        fs::create_directories(folder.path() / "runs/one/logs");
        inputs = {(folder.path() / "runs").string()};
        folder.write("runs/one/run.json", record::to_text(run));
        folder.write("runs/one/logs/host.log", "all is well\n");
        options.limits = {folder.write("small.json", small_limits).string()};
    }
    fs::path bundle() const { return folder.path() / "bundle"; }
    Result<MadeBundle> make() const { return make_bundle(inputs, bundle(), options); }
};

std::set<std::string> paths_in(const fs::path& bundle) {
    return files_of_bundle(bundle).value().regular;
}

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
    const auto made = must(small.make());
    EXPECT_EQ(made.verdict, "PASS") << "three replicas, far above the limit";
    EXPECT_EQ(made.logs, 1U);
    EXPECT_EQ(test::content_of(small.bundle() / "results/0001/run.json"),
              test::content_of(small.folder.path() / "runs/one/run.json"))
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
    EXPECT_THAT(test::content_of(small.bundle() / manifest_file),
                HasSubstr("  results/0001/run.json\n"));
    // Nothing says where it was made.
    for (const auto& path : paths_in(small.bundle()))
        EXPECT_THAT(test::content_of(small.bundle() / path),
                    Not(HasSubstr(small.folder.path().string())));
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
    const auto data = to_json(small.bundle(), check_bundle(small.bundle(), {}).value());
    EXPECT_EQ(test::broken(json::to_text(data), "bundle_check"), "");
    EXPECT_EQ(data["findings"][0]["code"], "extra_file");
}

TEST(EvidenceBundle, IsMadeWholeOrNotAtAll) {
    Small small;
    small.options.serials = false;
    EXPECT_THAT(small.make().error().message,
                HasSubstr("contains serial numbers; allow them with --serials"));
    small.options.serials = true;
    small.folder.write("runs/broken.json", "{");
    small.inputs.push_back((small.folder.path() / "runs/broken.json").string());
    EXPECT_FALSE(small.make());
    small.inputs.pop_back();
    auto wrong = small_run("other");
    wrong.cases[0].metrics[0].value = 1;
    small.folder.write("runs/run.json", record::to_text(wrong));
    EXPECT_THAT(small.make().error().message, HasSubstr("inconsistent"));
    fs::remove(small.folder.path() / "runs/run.json");
    small.options.limits = {"absent.json"};
    EXPECT_FALSE(small.make());
    EXPECT_FALSE(fs::exists(small.bundle()));
    std::size_t left = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{small.folder.path()}) ++left;
    EXPECT_EQ(left, 2U) << "runs and limits, no draft";
    fs::create_directory(small.bundle());
    EXPECT_THAT(small.make().error().message, HasSubstr("exists already"));
}

TEST(EvidenceBundle, FindsWhatIsMissingAndWhatIsBeyond) {
    const Small small;
    ASSERT_TRUE(small.make());
    const auto log = small.bundle() / "results/0001/logs/host.log";
    const auto text = test::content_of(log);
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

/// With this content of one file.
void expect_refused(const Small& small, const std::string& file, const std::string& content,
                    const std::string& part) {
    small.folder.write("bundle/" + file, content);
    const auto checked = check_bundle(small.bundle(), {});
    ASSERT_FALSE(checked) << content;
    EXPECT_EQ(checked.error().fault, Fault::usage);
    EXPECT_THAT(checked.error().message, HasSubstr(part));
}

TEST(EvidenceBundle, HostileManifestsAreRefused) {
    const Small small;
    ASSERT_TRUE(small.make());
    const std::string digest(64, 'a');
    const auto refused = [&](const std::string& manifest, const char* part) {
        expect_refused(small, "manifest.sha256", manifest, part);
    };
    refused("", "is empty");
    refused(digest + "  ../../etc/passwd\n", "leads out of the bundle");
    refused(digest + "  a/./b\n", "leads out of the bundle");
    refused(digest + "  /etc/passwd\n", "is absolute");
    refused(digest + "  a//b\n", "leads out");
    refused(digest + "  b\n" + digest + "  a\n", "duplicate or out of order");
    refused(digest + "  a\n" + digest + "  a\n", "duplicate or out of order");
    refused(digest + "  a", "is incomplete");
    refused(digest + "  \xff\xfe\n", "characters");
    refused(digest + "  a\x1b[2Jb\n", "characters");
    refused(digest + " *a\n", "SHA-256");
    refused("zz  a\n", "SHA-256");
    refused(digest + "  " + std::string(1000, 'x') + "\n", "longer than 500");
    refused(std::string(100000, '\0'), "is incomplete");
}

TEST(EvidenceBundle, RefusesWhatItDoesNotKnow) {
    const Small small;
    ASSERT_TRUE(small.make());
    const auto refused = [&](const std::string& about, const char* part) {
        expect_refused(small, "bundle.json", about, part);
    };
    refused("", "bundle.json");
    refused(R"({"schema":"assay.bundle/1"})", "version");
    refused(R"({"schema":"assay.bundle/9","version":"1","created":"now"})",
            "unknown schema \"assay.bundle/9\"");
    refused(std::string(200, '['), "nested");
}

TEST(EvidenceBundle, RefusesThoseOfEarlierVersions) {
    const Small small;
    fs::create_directory(small.bundle());
    small.folder.write("bundle/statement.json", "{}");
    expect_refused(small, "manifest.sha256", std::string(64, 'a') + "  statement.json\n",
                   "made by an earlier version of assay");
    EXPECT_TRUE(is_bundle(small.bundle()));
}

TEST(EvidenceBundle, WhatIsNoBundleIsSaidSo) {
    const Small small;
    EXPECT_THAT(check_bundle(small.folder.path() / "runs", {}).error().message,
                HasSubstr("not an evidence bundle"));
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
                                                    test::content_of(key.string() + ".pub"));
        small.options.key = key;
    }
    CheckedBundle check(const fs::path& bundle, const fs::path& by) const {
        return must(check_bundle(bundle, by));
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
                                                     test::content_of(key.string() + ".pub"));
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

TEST(EvidenceBundle, IsReadBackBeforeItIsDone) {
    const auto failure_of = [](const std::string& does) {
        Small small;
        small.options.key = "key";
        const auto program = small.folder.write("bin/ssh-keygen", "#!/bin/sh\n" + does);
        fs::permissions(program, fs::perms::owner_all);
        const test::Variable path{"PATH", program.parent_path().string() + ":/usr/bin:/bin"};
        const auto made = small.make();
        EXPECT_FALSE(fs::exists(small.bundle())) << does;
        return made ? "" : made.error().message;
    };
    EXPECT_THAT(failure_of("exit 0"), HasSubstr("no signature"));
    EXPECT_THAT(failure_of("for f; do :; done; echo >>${f%/*}/bundle.json"),
                HasSubstr("bundle.json: wrong_digest"));
}

TEST_F(EvidenceSignature, KeysThatCannotSignAreSaidSo) {
    small.options.key = small.folder.write("no-key", "nothing");
    const auto made = small.make();
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("ssh-keygen cannot sign"));
    EXPECT_FALSE(fs::exists(small.bundle()));
}

#if defined(__OPTIMIZE__)
constexpr std::size_t every = 1;
#else
constexpr std::size_t every = 4; // `scripts/test --all` tries all
#endif

/// Where numbers stand in JSON text, of which every nth is wanted: first byte and length.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    bool quoted = false;
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\') {
            ++i;
            continue;
        }
        if (text[i] == '"') quoted = !quoted;
        if (quoted || (std::isdigit(static_cast<unsigned char>(text[i])) == 0 && text[i] != '-'))
            continue;
        const auto end = std::min(text.find_first_not_of("+-.eE0123456789", i), text.size());
        if (count++ % every == 0) found.emplace_back(i, end - i);
        i = end - 1;
    }
    return found;
}

/// Another number: 3 for 1, 1.7e-3 for 0.7e-3.
std::string flipped(std::string number) {
    auto& digit = number[number.front() == '-' ? 1 : 0];
    if (digit == '0' && number.size() == 1) return "7";
    digit = digit == '0' ? '3' : static_cast<char>('1' + (digit - '0' + 1) % 9);
    if (digit == '0') digit = '5';
    return number;
}

std::vector<std::string> json_files(const fs::path& bundle) {
    std::vector<std::string> names;
    for (const auto& path : paths_in(bundle))
        if (path.ends_with(".json")) names.push_back(path);
    return names;
}

TEST(EvidenceFlip, EveryByteIsFoundByItsDigest) {
    const Small small;
    ASSERT_TRUE(small.make());
    for (const auto& name : paths_in(small.bundle())) {
        const auto before = test::content_of(small.bundle() / name);
        const auto step = before.size() / 8 + 1;
        for (std::size_t i = 0; i < before.size(); i += step) {
            auto after = before;
            after[i] = static_cast<char>(after[i] ^ 1);
            small.folder.write("bundle/" + name, after);
            const auto checked = check_bundle(small.bundle(), {});
            EXPECT_FALSE(checked && checked->findings.empty()) << name << " byte " << i;
        }
        small.folder.write("bundle/" + name, before);
    }
    EXPECT_THAT(check_bundle(small.bundle(), {})->findings, IsEmpty()) << "all is as it was";
}

/// Digests and verdict as if they had always been so.
void make_again(const Small& small, bool derived) {
    if (derived) {
        const auto verdict = verdict_of_bundle(small.bundle(), small.options.created);
        if (!verdict) return; // no bundle comes of that
        small.folder.write("bundle/verdict.json", json::to_text(*verdict));
    }
    ASSERT_TRUE(write_manifest(small.bundle()));
}

/// Whoever has no key to sign with, and all the rest.
TEST(EvidenceFlip, WhatFollowsFromSomethingIsFoundWithoutDigests) {
    const Small small{small_soak()};
    ASSERT_TRUE(small.make());
    made::TemporaryFolder kept;
    fs::copy(small.bundle(), kept.path() / "bundle", fs::copy_options::recursive);
    const auto restore = [&] {
        fs::remove_all(small.bundle());
        fs::copy(kept.path() / "bundle", small.bundle(), fs::copy_options::recursive);
    };
    std::map<std::string, std::pair<std::size_t, std::size_t>> found; // of, by file
    std::set<std::string> kept_figures; // keys of figures whose change nobody finds
    for (const auto& name : json_files(small.bundle())) {
        const bool result = is_result(name);
        const auto before = test::content_of(small.bundle() / name);
        const auto places = numbers_in(before);
        for (const auto& [at, length] : places) {
            auto after = before;
            after.replace(at, length, flipped(before.substr(at, length)));
            if (result) {
                auto document = json::parse(after, name).value();
                document["digests"] = json::encode(record::digests_of(document));
                after = json::to_text(document);
            }
            small.folder.write("bundle/" + name, after);
            make_again(small, result);
            const auto checked = check_bundle(small.bundle(), {});
            auto& [noticed, all] = found[name];
            ++all;
            if (!checked || !checked->findings.empty()) {
                ++noticed;
            } else if (result) {
                const auto quote = before.rfind('"', at);
                kept_figures.insert(before.substr(before.rfind('"', quote - 1) + 1,
                                                  quote - before.rfind('"', quote - 1) - 1));
            }
            restore();
        }
    }
    const auto& [noticed, all] = found["results/0001/run.json"];
    RecordProperty("found", static_cast<int>(noticed));
    RecordProperty("of", static_cast<int>(all));
    EXPECT_GE(3 * noticed, 2 * all - all / 5) << noticed << " of " << all;
    // Values counted, set or read once, such as the length of a soak: nothing else in the file says it again.
    const std::vector<std::string> said_once{
        "asked_seconds", "batches",      "bound",          "bytes",        "calls",
        "core_clock_hz", "cores",        "count",          "disturbed",    "error",
        "index",         "level",        "line_bytes",     "memory_bytes", "memory_limit_bytes",
        "numa_nodes",    "seconds",      "setup_seconds",  "size",         "sockets",
        "threads",       "usable_cores", "usable_threads", "version",      "warmup_seconds",
        "window_seconds"};
    EXPECT_THAT(kept_figures, IsSubsetOf(said_once));
    EXPECT_GE(kept_figures.size() * every, said_once.size());
    EXPECT_EQ(found[verdict_file].first, found[verdict_file].second);
}

} // namespace
} // namespace assay::exchange
