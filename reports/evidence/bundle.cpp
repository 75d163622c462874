// SPDX-License-Identifier: Apache-2.0

#include "evidence/bundle.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/version.hpp"
#include "evidence/derived.hpp"
#include "evidence/files.hpp"
#include "evidence/redaction.hpp"
#include "evidence/seal.hpp"
#include "evidence/signature.hpp"
#include "json/words.hpp"
#include "record/check.hpp"
#include "store/find.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

/// A folder beside its final place that is gone unless it was completed.
class Draft {
public:
    static Result<Draft> begin(const fs::path& target) {
        std::error_code error;
        const auto name = target.filename().empty() ? target.parent_path() : target;
        if (fs::symlink_status(name, error).type() != fs::file_type::not_found)
            return fail(
                fmt::format("{} is there already; name a folder that is not", target.string()));
        Draft draft;
        draft.target_ = name;
        draft.path_ = name.parent_path() / fmt::format(".assay-{}.tmp", random_token());
        if (auto made = make_folders(draft.path_); !made) return tl::unexpected{made.error()};
        return draft;
    }
    Draft(Draft&& other) noexcept
        : target_{std::move(other.target_)}, path_{std::exchange(other.path_, {})} {}
    Draft& operator=(Draft&&) = delete;
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    Result<void> write(const std::string& name, std::string_view content) const {
        if (auto made = make_folders((path_ / name).parent_path()); !made) return made;
        return write_atomically(path_ / name, content);
    }
    /// Gives it its name.
    Result<void> complete() {
        std::error_code error;
        fs::rename(path_, target_, error);
        if (error)
            return fail(fmt::format("cannot create {}: {}", target_.string(), error.message()),
                        Fault::environment);
        path_.clear();
        flush_folder(target_.parent_path());
        return {};
    }

private:
    Draft() = default;
    fs::path target_;
    fs::path path_;
};

Result<json::Value> parse_result(const std::string& text, const std::string& source) {
    return json::parse(text, source, {.bytes = most_bytes_of_file});
}

bool has_serials_in_clear(const json::Value& document) {
    bool found = false;
    each_leaf(document, [&](const std::string& place, const json::Value& leaf) {
        found = found || (place.starts_with("/machine/identity/serials/") &&
                          place.ends_with("/text") && leaf.is_string() && !hidden_in(leaf) &&
                          !leaf.get_ref<const std::string&>().empty());
    });
    return found;
}

/// What a verdict follows from, before anything is hidden.
struct Basis {
    std::map<std::string, fs::path> results; ///< by their names in the bundle
    fs::path folder;                         ///< of the limits
    std::vector<std::string> limits;
    std::string created;
};

/// What is decided where these fields are hidden.
Result<json::Value> decisions_with(const Basis& basis, const std::vector<std::string>& redact) {
    const auto fields = checked_fields(redact);
    if (!fields) return tl::unexpected{fields.error()};
    const TemporaryFolder scratch;
    const auto write = [&](const std::string& name, std::string_view text) -> Result<void> {
        if (auto made = make_folders((scratch.path() / name).parent_path()); !made) return made;
        return write_atomically(scratch.path() / name, text);
    };
    std::map<std::string, json::Value> documents;
    std::set<std::string> secrets;
    for (const auto& [name, file] : basis.results) {
        const auto text = read_whole(file, most_bytes_of_file);
        if (!text) return tl::unexpected{text.error()};
        auto document = parse_result(*text, file.string());
        if (!document) return tl::unexpected{document.error()};
        collect_secrets(*document, *fields, secrets);
        documents.emplace(name, *std::move(document));
    }
    for (auto& [name, document] : documents) {
        auto salts = new_salts();
        hide(document, salts, *fields, secrets);
        if (auto done = write(name, json::to_text(document)); !done)
            return tl::unexpected{done.error()};
    }
    for (const auto& name : basis.limits) {
        if (const auto fault = fault_of_path(name); !fault.empty())
            return fail(fmt::format("{}: the path {} {}", (basis.folder / statement_file).string(),
                                    json::show_text(name), fault));
        const auto text = read_whole(basis.folder / name, most_bytes_of_list);
        if (!text) return tl::unexpected{text.error()};
        if (auto done = write(name, *text); !done) return tl::unexpected{done.error()};
    }
    const auto verdict = verdict_of_bundle(scratch.path(), basis.limits, basis.created);
    if (!verdict) return tl::unexpected{verdict.error()};
    return decisions_of(*verdict);
}

/// Limits are chosen by facts of machines and cases: who hides one would choose others.
Result<void> keeps_decisions(const Basis& basis, const std::vector<std::string>& redact) {
    if (redact.empty()) return {};
    const auto before = decisions_with(basis, {});
    if (!before) return tl::unexpected{before.error()};
    const auto after = decisions_with(basis, redact);
    if (!after) return tl::unexpected{after.error()};
    if (*before == *after) return {};
    std::vector<std::string> causes;
    for (const auto& one : redact)
        if (const auto alone = decisions_with(basis, {one}); !alone || *alone != *before)
            causes.push_back(one);
    return fail(fmt::format("--redact {}: the verdict depends on what this hides ({} with it, {} "
                            "without); leave it out",
                            fmt::join(causes.empty() ? redact : causes, ", "),
                            member_text(*before, "verdict"), member_text(*after, "verdict")));
}

/// What is known of all results before one is written.
struct Source {
    fs::path file;
    std::string folder; ///< in the bundle: "results/0001"
};

class Maker {
public:
    Maker(const Draft& draft, const BundleOptions& options) : draft_{draft}, options_{options} {}

    Result<MadeBundle> make(const std::vector<std::string>& inputs) {
        const auto fields = checked_fields(options_.redact);
        if (!fields) return tl::unexpected{fields.error()};
        fields_ = *fields;
        const auto sources = sources_of(inputs);
        if (!sources) return tl::unexpected{sources.error()};
        for (const auto& source : *sources)
            if (auto done = put_result(source); !done) return tl::unexpected{done.error()};
        for (const auto& source : *sources)
            if (auto done = put_logs(source); !done) return tl::unexpected{done.error()};
        EvidencePredicate predicate{.version = std::string{version()}, .created = options_.created};
        if (auto done = put_limits(predicate); !done) return tl::unexpected{done.error()};
        Basis basis{
            .folder = draft_.path(), .limits = predicate.limits, .created = predicate.created};
        for (const auto& source : *sources)
            basis.results[source.folder + "/run.json"] = source.file;
        if (auto done = keeps_decisions(basis, options_.redact); !done)
            return tl::unexpected{done.error()};
        const auto verdict = verdict_of_bundle(draft_.path(), predicate.limits, predicate.created);
        if (!verdict) return tl::unexpected{verdict.error()};
        predicate.verdict = made_.verdict = verdict->value("verdict", std::string{});
        if (auto done = draft_.write(verdict_file, json::to_text(*verdict)); !done)
            return tl::unexpected{done.error()};
        if (auto done =
                draft_.write(inventory_file, json::to_text(inventory_of(std::move(facts_))));
            !done)
            return tl::unexpected{done.error()};
        const auto statement = state(draft_.path(), salts_, std::move(predicate));
        if (!statement) return tl::unexpected{statement.error()};
        if (auto done = seal(draft_.path(), salts_, &*statement); !done)
            return tl::unexpected{done.error()};
        if (!options_.key.empty()) {
            if (auto done = sign(draft_.path() / statement_file, options_.key); !done)
                return tl::unexpected{done.error()};
            made_.is_signed = true;
        }
        return std::move(made_);
    }

private:
    Result<std::vector<Source>> sources_of(const std::vector<std::string>& inputs) {
        const auto files = find_files(inputs, Journals::none);
        if (!files) return tl::unexpected{files.error()};
        if (!files->problems.empty())
            return fail(fmt::format("{}: {}", files->problems.front().where,
                                    files->problems.front().reason));
        std::vector<Source> sources;
        std::set<std::string> known;
        for (const auto& file : files->files) {
            const auto text = read_whole(file.path, most_bytes_of_file);
            if (!text) return tl::unexpected{text.error()};
            if (!known.insert(to_hex(sha256(*text))).second) continue;
            const auto checked = record::verify_text(*text, file.path.string());
            if (!checked) return tl::unexpected{checked.error()};
            if (!checked->findings.empty())
                return fail(fmt::format("{} is not consistent: {}: {}; `assay verify {}` says more",
                                        file.path.string(), checked->findings.front().path,
                                        checked->findings.front().text, file.path.string()));
            auto document = parse_result(*text, file.path.string());
            if (!document) return tl::unexpected{document.error()};
            collect_secrets(*document, fields_, secrets_);
            sources.push_back(
                {file.path, fmt::format("{}{:04}", results_folder, sources.size() + 1)});
        }
        if (sources.empty()) return fail("there is no run in these inputs");
        return sources;
    }

    Result<void> put_result(const Source& source) {
        auto text = read_whole(source.file, most_bytes_of_file);
        if (!text) return tl::unexpected{text.error()};
        auto document = parse_result(*text, source.file.string());
        if (!document) return tl::unexpected{document.error()};
        are_soaks_ = are_soaks_ && (*document)["run"].contains("soak");
        const auto name = source.folder + "/run.json";
        auto salts = new_salts();
        if (!fields_.empty()) {
            if (const auto hidden = hide(*document, salts, fields_, secrets_); hidden > 0) {
                made_.hidden += hidden;
                *text = json::to_text(*document);
            }
        }
        if (!options_.serials && has_serials_in_clear(*document))
            return fail(fmt::format("{} holds serial numbers in clear: --serials lets them out, "
                                    "--redact serials hides them",
                                    source.file.string()));
        facts_.push_back(machine_facts(*document));
        salts_.emplace(name, std::move(salts));
        ++made_.results;
        return draft_.write(name, *text);
    }

    /// Beside the result, where the run left some.
    Result<void> put_logs(const Source& source) {
        std::error_code error;
        std::vector<fs::path> logs;
        for (fs::directory_iterator entry{source.file.parent_path() / "logs", error};
             !error && entry != fs::directory_iterator{}; entry.increment(error))
            if (entry->symlink_status(error).type() == fs::file_type::regular)
                logs.push_back(entry->path());
        std::ranges::sort(logs);
        for (const auto& log : logs) {
            const auto name = fmt::format("{}/logs/{}", source.folder, log.filename().string());
            if (!fault_of_path(name).empty()) continue; // none of ours
            const auto text = read_whole(log, most_bytes_of_file);
            if (!text) return tl::unexpected{text.error()};
            if (tells(*text, secrets_)) {
                made_.withheld.push_back(name);
                continue;
            }
            if (auto done = draft_.write(name, *text); !done) return done;
            ++made_.logs;
        }
        return {};
    }

    Result<void> put_limits(EvidencePredicate& predicate) {
        auto names = options_.limits;
        if (names.empty() && !are_soaks_) names = {"spec"}; // as are_soaks() of a collection
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto path = find_limits(names[i]);
            if (!path) return tl::unexpected{path.error()};
            const auto text = read_whole(*path, most_bytes_of_list);
            if (!text) return tl::unexpected{text.error()};
            if (tells(*text, secrets_))
                return fail(fmt::format("a text that is to be hidden stands in {} too, which goes "
                                        "into the bundle as it is",
                                        path->string()));
            auto name = fmt::format("{}{:02}-{}", limits_folder, i + 1, path->filename().string());
            if (!fault_of_path(name).empty())
                name = fmt::format("{}{:02}.json", limits_folder, i + 1);
            if (auto done = draft_.write(name, *text); !done) return done;
            predicate.limits.push_back(std::move(name));
        }
        return {};
    }

    const Draft& draft_;
    const BundleOptions& options_;
    std::vector<std::string> fields_;
    bool are_soaks_ = true;
    std::set<std::string> secrets_;
    std::vector<MachineFacts> facts_;
    AllSalts salts_;
    MadeBundle made_;
};

} // namespace

Result<MadeBundle> make_bundle(const std::vector<std::string>& inputs, const fs::path& folder,
                               const BundleOptions& options) {
    auto draft = Draft::begin(folder);
    if (!draft) return tl::unexpected{draft.error()};
    auto made = Maker{*draft, options}.make(inputs);
    if (!made) return made;
    if (auto done = draft->complete(); !done) return tl::unexpected{done.error()};
    return made;
}

namespace {

Result<json::Value> result_in(const fs::path& bundle, const std::string& path) {
    const auto text = read_whole(bundle / path, most_bytes_of_file);
    if (!text) return tl::unexpected{text.error()};
    return parse_result(*text, (bundle / path).string());
}
/// What the named fields of all results say.
Result<std::set<std::string>> secrets_in(const fs::path& bundle, const std::set<std::string>& paths,
                                         const std::vector<std::string>& fields) {
    std::set<std::string> secrets;
    for (const auto& path : paths) {
        if (!is_result(path)) continue;
        const auto document = result_in(bundle, path);
        if (!document) return tl::unexpected{document.error()};
        collect_secrets(*document, fields, secrets);
    }
    return secrets;
}

} // namespace

Result<MadeBundle> redact_bundle(const fs::path& bundle, const fs::path& folder,
                                 const std::vector<std::string>& redact) {
    const auto fields = checked_fields(redact);
    if (!fields) return tl::unexpected{fields.error()};
    const auto files = files_of_bundle(bundle);
    if (!files) return tl::unexpected{files.error()};
    auto salts = read_salts(bundle);
    if (!salts) return tl::unexpected{salts.error()};
    const auto secrets = secrets_in(bundle, files->regular, *fields);
    if (!secrets) return tl::unexpected{secrets.error()};
    auto draft = Draft::begin(folder);
    if (!draft) return tl::unexpected{draft.error()};
    MadeBundle made;
    std::vector<MachineFacts> facts;
    for (const auto& path : files->regular) {
        if (path == salts_file || path == inventory_file || path == manifest_file) continue;
        if (is_result(path)) {
            auto document = result_in(bundle, path);
            if (!document) return tl::unexpected{document.error()};
            const auto found = salts->find(path);
            if (found == salts->end())
                return fail(fmt::format("{}: there is no salt for {}",
                                        (bundle / salts_file).string(), json::show_text(path)));
            made.hidden += hide(*document, found->second, *fields, *secrets);
            ++made.results;
            facts.push_back(machine_facts(*document));
            if (auto done = draft->write(path, json::to_text(*document)); !done)
                return tl::unexpected{done.error()};
            continue;
        }
        const auto text = read_whole(bundle / path, most_bytes_of_file);
        if (!text) return tl::unexpected{text.error()};
        if (path != signature_file && tells(*text, *secrets)) {
            if (!is_log(path))
                return fail(
                    fmt::format("a text that is to be hidden stands in {} too, which cannot "
                                "be changed without its signature",
                                (bundle / path).string()));
            made.withheld.push_back(path);
            continue;
        }
        made.logs += is_log(path) ? 1 : 0;
        made.is_signed = made.is_signed || path == signature_file;
        if (auto done = draft->write(path, *text); !done) return tl::unexpected{done.error()};
    }
    if (auto done = draft->write(inventory_file, json::to_text(inventory_of(std::move(facts))));
        !done)
        return tl::unexpected{done.error()};
    if (auto done = seal(draft->path(), *salts, nullptr); !done)
        return tl::unexpected{done.error()};
    const auto statement = read_statement(draft->path());
    if (!statement) return tl::unexpected{statement.error()};
    made.verdict = statement->predicate.verdict;
    Basis basis{.folder = bundle,
                .limits = statement->predicate.limits,
                .created = statement->predicate.created};
    for (const auto& path : files->regular)
        if (is_result(path)) basis.results[path] = bundle / path;
    if (auto done = keeps_decisions(basis, redact); !done) return tl::unexpected{done.error()};
    if (auto done = draft->complete(); !done) return tl::unexpected{done.error()};
    return made;
}

} // namespace assay::report
