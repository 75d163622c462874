// SPDX-License-Identifier: Apache-2.0

#include "evidence/check.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "evidence/contents.hpp"
#include "evidence/derived.hpp"
#include "evidence/files.hpp"
#include "evidence/signature.hpp"
#include "record/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_places = 20; // of a document; the first tell enough

/// Digests that were hidden with a text they cover: what they would find is found by the tree.
std::set<std::string> unknown_digests(const json::Value& document) {
    std::set<std::string> paths;
    const auto digests = document.find("digests");
    if (digests == document.end() || !digests->is_object()) return paths;
    for (const char* key : {"run", "machine"})
        if (hidden_in(digests->value(key, json::Value{}))) paths.insert(key);
    const auto cases = digests->find("cases");
    if (cases != digests->end() && cases->is_array())
        for (std::size_t i = 0; i < cases->size(); ++i)
            if (hidden_in((*cases)[i])) paths.insert(fmt::format("cases[{}]", i));
    if (hidden_in(digests->value("root", json::Value{}))) paths.insert("digests.root");
    return paths;
}

class Checker {
public:
    Checker(const fs::path& folder, const fs::path& signers) : folder_{folder}, signers_{signers} {}

    Result<CheckedBundle> check() {
        auto files = files_of_bundle(folder_);
        if (!files) return tl::unexpected{files.error()};
        files_ = std::move(*files);
        const auto manifest = read_manifest();
        if (!manifest) return tl::unexpected{manifest.error()};
        auto statement = read_statement(folder_);
        if (!statement) return tl::unexpected{statement.error()};
        statement_ = std::move(*statement);
        auto salts = read_salts(folder_);
        if (!salts) return tl::unexpected{salts.error()};
        salts_ = std::move(*salts);
        checked_.verdict = statement_.predicate.verdict;
        checked_.created = statement_.predicate.created;
        checked_.version = statement_.predicate.version;
        check_files(*manifest);
        if (auto done = signature(); !done) return tl::unexpected{done.error()};
        if (auto done = contents(); !done) return tl::unexpected{done.error()};
        subjects();
        // What is no file may lead anywhere: nothing below the folder is read as a whole then.
        if (files_.others.empty()) {
            verdict();
            inventory();
        }
        return std::move(checked_);
    }

private:
    void add(BundleCode code, std::string file, std::string where = {}, std::string text = {}) {
        checked_.findings.push_back({code, std::move(file), std::move(where), std::move(text)});
    }
    bool is_there(const std::string& path) const { return files_.regular.contains(path); }

    Result<std::vector<ManifestLine>> read_manifest() const {
        for (const auto* const name : {manifest_file, statement_file, salts_file})
            if (!is_there(name))
                return fail(
                    fmt::format("{}: {} is missing or no file: this is no bundle of evidence",
                                folder_.string(), name));
        const auto text = read_whole(folder_ / manifest_file, most_bytes_of_list);
        if (!text) return tl::unexpected{text.error()};
        return parse_manifest(*text, (folder_ / manifest_file).string());
    }

    void check_files(const std::vector<ManifestLine>& manifest) {
        for (const auto& [path, digest] : manifest) {
            listed_[path] = digest;
            if (!is_there(path) && !files_.others.contains(path))
                add(BundleCode::missing_file, path);
        }
        for (const auto& path : files_.others) add(BundleCode::not_a_file, path);
        for (const auto& path : files_.regular)
            if (!listed_.contains(path) && path != manifest_file && path != signature_file)
                add(BundleCode::extra_file, path);
        checked_.files = listed_.size();
    }

    Result<void> signature() {
        if (!is_there(signature_file)) {
            if (!signers_.empty()) add(BundleCode::no_signature, signature_file);
            return {};
        }
        const auto found =
            check_signature(folder_ / statement_file, folder_ / signature_file, signers_);
        if (!found) return tl::unexpected{found.error()};
        checked_.signer = found->signer;
        checked_.signature_details = found->details;
        checked_.signature = !found->holds           ? SignatureState::wrong
                             : found->signer.empty() ? SignatureState::by_somebody
                                                     : SignatureState::by_signer;
        if (!found->holds) add(BundleCode::wrong_signature, signature_file, {}, found->details);
        return {};
    }

    /// Every file once: its digest, and where it is a result all that it says.
    Result<void> contents() {
        for (const auto& path : files_.regular) {
            if (path == manifest_file || path == signature_file) continue;
            const auto text = read_whole(folder_ / path, most_bytes_of_file);
            if (!text) return tl::unexpected{text.error()};
            auto digest = to_hex(sha256(*text));
            const auto line = listed_.find(path);
            if (line != listed_.end() && line->second != digest)
                add(BundleCode::wrong_digest, path);
            if (is_result(path))
                if (auto done = result(path, *text); !done) return done;
            digests_[path] = std::move(digest);
        }
        return {};
    }

    Result<void> result(const std::string& path, const std::string& text) {
        ++checked_.results;
        const auto source = (folder_ / path).string();
        const auto document = json::parse(text, source, {.bytes = most_bytes_of_file});
        if (!document) {
            add(BundleCode::wrong_figures, path, {}, document.error().message);
            return {};
        }
        const auto salts = salts_.find(path);
        const auto tree = tree_of(*document, salts == salts_.end() ? Salts{} : salts->second);
        if (!tree)
            add(BundleCode::wrong_subject, path, {}, tree.error().message);
        else
            trees_[path] = *tree;
        checked_.hidden += tree ? tree->hidden : 0;
        auto facts = machine_facts(*document);
        facts_[path] = std::move(facts);
        const auto checked = record::verify_text(text, source);
        if (!checked) {
            if (checked.error().fault == Fault::environment) return tl::unexpected{checked.error()};
            add(BundleCode::wrong_figures, path, {}, checked.error().message);
            return {};
        }
        const auto unknown = unknown_digests(*document);
        for (const auto& finding : checked->findings)
            if (!unknown.contains(finding.path))
                add(BundleCode::wrong_figures, path, finding.path, finding.text);
        return {};
    }

    void subjects() {
        std::map<std::string, const Selector*> stated;
        for (const auto& subject : statement_.subject) {
            if (!stated.emplace(subject.name, &subject.digest).second)
                add(BundleCode::wrong_statement, statement_file, "subject", subject.name);
            const auto* const algorithm = is_result(subject.name) ? tree_algorithm : hash_algorithm;
            const auto value = subject.digest.find(algorithm);
            if (!is_there(subject.name)) {
                if (is_log(subject.name) && !files_.others.contains(subject.name))
                    checked_.withheld.push_back(subject.name);
                else if (!listed_.contains(subject.name)) // else it is named already
                    add(BundleCode::missing_file, subject.name);
                continue;
            }
            const auto tree = trees_.find(subject.name);
            const auto found = is_result(subject.name)
                                   ? (tree == trees_.end() ? std::string{} : tree->second.root)
                                   : digests_[subject.name];
            if (subject.digest.size() != 1 || value == subject.digest.end() ||
                value->second != found)
                add(BundleCode::wrong_subject, subject.name);
        }
        for (const auto& path : files_.regular)
            if ((is_result(path) || is_log(path) || path.starts_with(limits_folder) ||
                 path == verdict_file) &&
                !stated.contains(path))
                add(BundleCode::wrong_statement, statement_file, "subject", path);
        results();
    }

    void results() {
        std::set<std::string> named;
        for (const auto& one : statement_.predicate.results) {
            const auto tree = trees_.find(one.file);
            const auto facts = facts_.find(one.file);
            const auto is_fact = [](const std::string& found, const std::string& said) {
                return found == said || hidden_in(json::Value(found));
            };
            if (!named.insert(one.file).second || tree == trees_.end() || facts == facts_.end() ||
                tree->second.leaves != one.leaves || !is_fact(facts->second.run, one.run) ||
                !is_fact(facts->second.id, one.machine))
                add(BundleCode::wrong_statement, statement_file, "predicate.results", one.file);
        }
        for (const auto& [path, facts] : facts_)
            if (!named.contains(path))
                add(BundleCode::wrong_statement, statement_file, "predicate.results", path);
        std::set<std::string> limits(statement_.predicate.limits.begin(),
                                     statement_.predicate.limits.end());
        for (const auto& path : files_.regular)
            if (path.starts_with(limits_folder) && !limits.contains(path))
                add(BundleCode::wrong_statement, statement_file, "predicate.limits", path);
    }

    /// Where it differs from a document that was made again.
    void hold(BundleCode code, const char* file, const json::Value& made) {
        const auto there = json::read_file(folder_ / file, {.bytes = most_bytes_of_file});
        if (!there) return add(code, file, {}, there.error().message);
        for (auto& place : differences(*there, made, most_places))
            add(code, file, std::move(place));
    }

    void verdict() {
        if (!is_there(verdict_file)) return;
        const auto& stated = statement_.predicate;
        const auto made = verdict_of_bundle(folder_, stated.limits, stated.created);
        if (!made) return add(BundleCode::wrong_verdict, verdict_file, {}, made.error().message);
        hold(BundleCode::wrong_verdict, verdict_file, *made);
        if (made->value("verdict", std::string{}) != stated.verdict)
            add(BundleCode::wrong_statement, statement_file, "predicate.verdict", stated.verdict);
    }

    void inventory() {
        if (!is_there(inventory_file)) return;
        std::vector<MachineFacts> facts;
        for (const auto& [path, one] : facts_) facts.push_back(one);
        hold(BundleCode::wrong_inventory, inventory_file, inventory_of(std::move(facts)));
    }

    const fs::path& folder_;
    const fs::path& signers_;
    BundleFiles files_;
    Statement statement_;
    AllSalts salts_;
    std::map<std::string, std::string> listed_;
    std::map<std::string, std::string> digests_;
    std::map<std::string, Tree> trees_;
    std::map<std::string, MachineFacts> facts_;
    CheckedBundle checked_;
};

} // namespace

std::string_view to_string(BundleCode code) {
    switch (code) {
    case BundleCode::missing_file:
        return "missing_file";
    case BundleCode::extra_file:
        return "extra_file";
    case BundleCode::not_a_file:
        return "not_a_file";
    case BundleCode::wrong_digest:
        return "wrong_digest";
    case BundleCode::wrong_subject:
        return "wrong_subject";
    case BundleCode::wrong_statement:
        return "wrong_statement";
    case BundleCode::wrong_figures:
        return "wrong_figures";
    case BundleCode::wrong_verdict:
        return "wrong_verdict";
    case BundleCode::wrong_inventory:
        return "wrong_inventory";
    case BundleCode::wrong_signature:
        return "wrong_signature";
    case BundleCode::no_signature:
        break;
    }
    return "no_signature";
}

std::string_view to_string(SignatureState state) {
    switch (state) {
    case SignatureState::none:
        return "none";
    case SignatureState::by_somebody:
        return "by_somebody";
    case SignatureState::by_signer:
        return "by_signer";
    case SignatureState::wrong:
        break;
    }
    return "wrong";
}

Result<CheckedBundle> check_bundle(const fs::path& folder, const fs::path& signers) {
    return Checker{folder, signers}.check();
}

} // namespace assay::report
