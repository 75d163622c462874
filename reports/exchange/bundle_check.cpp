// SPDX-License-Identifier: Apache-2.0
#include "exchange/bundle_check.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "decide/check.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/evidence.hpp"
#include "exchange/bundle_files.hpp"
#include "json/codec.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::exchange {

using namespace document;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_places = 20; // of a document; the first tell enough

class Checker {
public:
    Checker(const fs::path& folder, const fs::path& signers) : folder_{folder}, signers_{signers} {}

    Result<CheckedBundle> check() {
        ASSAY_TRY(files_, files_of_bundle(folder_));
        ASSAY_TRY(open());
        check_files();
        ASSAY_TRY(signature());
        ASSAY_TRY(contents());
        // Links and the like may lead anywhere: nothing below the folder is read as a whole then.
        if (files_.others.empty()) verdict();
        return std::move(checked_);
    }

private:
    void add(BundleCode code, std::string file, std::string where = {}, std::string text = {}) {
        checked_.findings.push_back({code, std::move(file), std::move(where), std::move(text)});
    }
    bool is_there(const std::string& path) const { return files_.regular.contains(path); }

    /// Reads the file that makes it a bundle.
    Result<void> open() {
        if (is_there(earlier_file) && !is_there(about_file))
            return fail(fmt::format("{}: made by an earlier version of assay; check it with that "
                                    "version, or make it again: assay export RESULTS --bundle "
                                    "FOLDER",
                                    folder_.string()));
        for (const auto* const name : {manifest_file, about_file})
            if (!is_there(name))
                return fail(fmt::format("{}: not an evidence bundle: {} is missing or not a file",
                                        folder_.string(), name));
        ASSAY_TRY(const auto text, read_whole(folder_ / manifest_file, most_bytes_of_list));
        ASSAY_TRY(manifest_, parse_manifest(text, (folder_ / manifest_file).string()));
        checked_.files = manifest_.size();
        ASSAY_TRY(const auto value, json::read_file(folder_ / about_file));
        ASSAY_TRY(const auto about,
                  json::read<AboutBundle>(value, (folder_ / about_file).string()));
        if (about.schema != AboutBundle{}.schema)
            return fail(fmt::format("{}: unknown schema {} (expected {})",
                                    (folder_ / about_file).string(), json::show_text(about.schema),
                                    AboutBundle{}.schema));
        checked_.created = about.created;
        checked_.version = about.version;
        return {};
    }

    void check_files() {
        for (const auto& [path, digest] : manifest_)
            if (!is_there(path) && !files_.others.contains(path))
                add(BundleCode::missing_file, path);
        for (const auto& path : files_.others) add(BundleCode::not_a_file, path);
        for (const auto& path : files_.regular)
            if (!manifest_.contains(path) && path != manifest_file && path != signature_file)
                add(BundleCode::extra_file, path);
    }

    Result<void> signature() {
        if (!is_there(signature_file)) {
            if (!signers_.empty()) add(BundleCode::no_signature, signature_file);
            return {};
        }
        ASSAY_TRY(const auto found,
                  check_signature(folder_ / manifest_file, folder_ / signature_file, signers_));
        checked_.signer = found.signer;
        checked_.signature_details = found.details;
        checked_.signature = !found.holds           ? SignatureState::wrong
                             : found.signer.empty() ? SignatureState::by_somebody
                                                    : SignatureState::by_signer;
        if (!found.holds) add(BundleCode::wrong_signature, signature_file, {}, found.details);
        return {};
    }

    /// Every file once: its digest, and where it is a result all that it says.
    Result<void> contents() {
        for (const auto& path : files_.regular) {
            if (path == manifest_file || path == signature_file) continue;
            ASSAY_TRY(const auto text, read_whole(folder_ / path, most_bytes_of_file));
            const auto line = manifest_.find(path);
            if (line != manifest_.end() && line->second != to_hex(sha256(text)))
                add(BundleCode::wrong_digest, path);
            if (is_result(path)) ASSAY_TRY(result(path, text));
        }
        return {};
    }

    Result<void> result(const std::string& path, const std::string& text) {
        ++checked_.results;
        const auto checked = decide::verify_text(text, (folder_ / path).string());
        if (!checked) {
            if (checked.error().fault == Fault::environment) return tl::unexpected{checked.error()};
            add(BundleCode::wrong_figures, path, {}, checked.error().message);
            return {};
        }
        for (const auto& finding : checked->findings)
            add(BundleCode::wrong_figures, path, finding.path, finding.text);
        return {};
    }

    void verdict() {
        if (!is_there(verdict_file)) {
            if (!manifest_.contains(verdict_file)) add(BundleCode::missing_file, verdict_file);
            return;
        }
        const auto stated = json::read_file(folder_ / verdict_file, {.bytes = most_bytes_of_file});
        if (!stated)
            return add(BundleCode::wrong_verdict, verdict_file, {}, stated.error().message);
        const auto made = verdict_of_bundle(folder_, checked_.created);
        if (!made) return add(BundleCode::wrong_verdict, verdict_file, {}, made.error().message);
        for (auto& place : differences(*stated, *made, most_places))
            add(BundleCode::wrong_verdict, verdict_file, std::move(place));
        checked_.verdict = made->value("verdict", std::string{});
    }

    const fs::path& folder_;
    const fs::path& signers_;
    BundleFiles files_;
    Manifest manifest_;
    CheckedBundle checked_;
};

} // namespace

Result<CheckedBundle> check_bundle(const fs::path& folder, const fs::path& signers) {
    return Checker{folder, signers}.check();
}

// --- bundle words --------------------------------------------------------------------------------

namespace {

std::string finding_in_words(const BundleFinding& finding) {
    auto text = fmt::format("  {}", plain(finding.file));
    if (!finding.where.empty()) text += fmt::format(" {}", plain(finding.where));
    text += fmt::format(": {}",
                        std::string{find_text("evidence", to_string(finding.code)).value_or("")});
    if (!finding.text.empty()) text += fmt::format(" ({})", plain(finding.text));
    return text + "\n";
}

std::string signature_in_words(const CheckedBundle& checked) {
    switch (checked.signature) {
    case SignatureState::by_signer:
        return say<text::evidence::signed_by>(checked.signer);
    case SignatureState::by_somebody:
        return say<text::evidence::signed_by_somebody>(checked.signature_details);
    case SignatureState::wrong:
        return say<text::evidence::wrong_signature>();
    case SignatureState::none:
        break;
    }
    return say<text::evidence::not_signed>();
}

} // namespace

json::Value to_json(const std::filesystem::path& folder, const CheckedBundle& checked) {
    json::Value findings = json::Value::array();
    for (const auto& finding : checked.findings)
        findings.push_back({{"code", std::string{to_string(finding.code)}},
                            {"file", plain(finding.file)},
                            {"where", plain(finding.where)},
                            {"text", plain(finding.text)}});
    return {{"schema", "assay.bundle_check/2"},
            {"bundle", plain(folder.string())},
            {"passed", checked.findings.empty()},
            {"signature", std::string{to_string(checked.signature)}},
            {"signer", checked.signer.empty() ? json::Value(nullptr) : json::Value(checked.signer)},
            {"created", plain(checked.created)},
            {"version", plain(checked.version)},
            {"verdict", plain(checked.verdict)},
            {"files", checked.files},
            {"results", checked.results},
            {"findings", std::move(findings)}};
}

std::string in_words(const std::filesystem::path& folder, const CheckedBundle& checked,
                     std::size_t most) {
    const auto name = plain(folder.string());
    std::string text;
    if (checked.findings.empty())
        text = say_count<text::evidence::holds>(checked.results, name, plain(checked.verdict),
                                                plain(checked.created));
    else
        text = say_count<text::evidence::does_not_hold>(checked.findings.size(), name);
    text += "\n";
    const auto shown = std::min(most, checked.findings.size());
    for (std::size_t i = 0; i < shown; ++i) text += finding_in_words(checked.findings[i]);
    if (checked.findings.size() > shown)
        text += fmt::format("  {}\n", say<text::evidence::more>(checked.findings.size() - shown));
    return text + signature_in_words(checked) + "\n";
}

} // namespace assay::exchange
