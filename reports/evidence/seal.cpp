// SPDX-License-Identifier: Apache-2.0

#include "evidence/seal.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "evidence/derived.hpp"
#include "evidence/files.hpp"

#include <utility>
#include <vector>

namespace assay::report {

Result<Statement> state(const std::filesystem::path& folder, const AllSalts& salts,
                        EvidencePredicate predicate) {
    const auto files = files_of_bundle(folder);
    if (!files) return tl::unexpected{files.error()};
    predicate.results.clear();
    Statement statement{.type = statement_type, .predicate_type = evidence_type};
    for (const auto& path : files->regular) {
        const bool result = is_result(path);
        if (!result && !is_log(path) && !path.starts_with(limits_folder) && path != verdict_file)
            continue;
        const auto text = read_whole(folder / path, most_bytes_of_file);
        if (!text) return tl::unexpected{text.error()};
        if (!result) {
            statement.subject.push_back({path, {{hash_algorithm, to_hex(sha256(*text))}}});
            continue;
        }
        const auto document = json::parse(*text, path, {.bytes = most_bytes_of_file});
        if (!document) return tl::unexpected{document.error()};
        const auto found = salts.find(path);
        const auto tree = tree_of(*document, found == salts.end() ? Salts{} : found->second);
        if (!tree) return tl::unexpected{tree.error()};
        const auto facts = machine_facts(*document);
        statement.subject.push_back({path, {{tree_algorithm, tree->root}}});
        predicate.results.push_back(
            {.file = path, .run = facts.run, .machine = facts.id, .leaves = tree->leaves});
    }
    statement.predicate = std::move(predicate);
    return statement;
}

Result<void> seal(const std::filesystem::path& folder, const AllSalts& salts,
                  const Statement* statement) {
    if (auto done = write_atomically(folder / salts_file, json::to_text(to_json(salts))); !done)
        return done;
    if (statement != nullptr)
        if (auto done =
                write_atomically(folder / statement_file, json::to_text(json::encode(*statement)));
            !done)
            return done;
    const auto files = files_of_bundle(folder);
    if (!files) return tl::unexpected{files.error()};
    std::vector<ManifestLine> lines;
    for (const auto& path : files->regular) {
        if (path == manifest_file || path == signature_file) continue;
        const auto text = read_whole(folder / path, most_bytes_of_file);
        if (!text) return tl::unexpected{text.error()};
        lines.push_back({path, to_hex(sha256(*text))});
    }
    return write_atomically(folder / manifest_file, to_manifest(lines));
}

} // namespace assay::report
