// SPDX-License-Identifier: Apache-2.0

#include "exchange/bundle.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/version.hpp"
#include "decide/check.hpp"
#include "exchange/bundle_check.hpp"
#include "exchange/bundle_files.hpp"
#include "judge/limits.hpp"
#include "store/find.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

namespace assay::exchange {
namespace {

namespace fs = std::filesystem;

/// A folder beside its final place that is gone unless it was completed.
class NewFolder {
public:
    explicit NewFolder(const fs::path& target)
        : target_{target.filename().empty() ? target.parent_path() : target} {}
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    ~NewFolder() {
        std::error_code ignored;
        if (!path().empty()) fs::remove_all(path(), ignored);
    }
    const fs::path& path() const { return draft_.path; }
    bool is_taken() const {
        std::error_code ignored;
        return fs::symlink_status(target_, ignored).type() != fs::file_type::not_found;
    }
    Result<void> write(const std::string& name, std::string_view content) {
        if (!draft_.held) ASSAY_TRY(begin());
        ASSAY_TRY(make_folders((path() / name).parent_path()));
        return write_atomically(path() / name, content);
    }
    /// Gives it its name.
    Result<void> complete() const {
        std::error_code error;
        fs::rename(path(), target_, error);
        if (error) return not_created(error.message());
        flush_folder(target_.parent_path());
        return {};
    }

private:
    Result<void> begin() {
        ASSAY_TRY(make_folders(target_.parent_path()));
        remove_abandoned_drafts(target_.parent_path());
        draft_ = make_draft(target_.parent_path(), DraftOf::folder);
        return draft_.held ? Result<void>{} : not_created(std::generic_category().message(errno));
    }
    tl::unexpected<Error> not_created(const std::string& reason) const {
        return fail(fmt::format("cannot create {}: {}", target_.string(), reason),
                    Fault::environment);
    }
    fs::path target_;
    Draft draft_;
};

bool has_serials_in_clear(const json::Value& document) {
    const json::Value::json_pointer serials{"/machine/identity/serials"};
    return document.contains(serials) &&
           std::ranges::any_of(document.at(serials), [](const json::Value& serial) {
               return !serial.value("text", std::string{}).empty();
           });
}

class Maker {
public:
    Maker(NewFolder& draft, const BundleOptions& options) : draft_{draft}, options_{options} {}

    Result<MadeBundle> make(const std::vector<std::string>& inputs) {
        ASSAY_TRY(put_results(inputs));
        ASSAY_TRY(put_limits());
        const AboutBundle about{.version = std::string{version()}, .created = options_.created};
        ASSAY_TRY(draft_.write(about_file, json::to_text(json::encode(about))));
        ASSAY_TRY(const auto verdict, verdict_of_bundle(draft_.path(), about.created));
        made_.verdict = verdict.value("verdict", std::string{});
        ASSAY_TRY(draft_.write(verdict_file, json::to_text(verdict)));
        ASSAY_TRY(write_manifest(draft_.path()));
        made_.is_signed = !options_.key.empty();
        if (made_.is_signed) ASSAY_TRY(sign(draft_.path() / manifest_file, options_.key));
        ASSAY_TRY(read_back());
        return made_;
    }

private:
    /// Checks it like any recipient.
    Result<void> read_back() const {
        ASSAY_TRY(const auto checked, check_bundle(draft_.path(), {}));
        if (!checked.findings.empty())
            return fail(fmt::format("the bundle does not hold after writing it: {}: {}",
                                    checked.findings.front().file,
                                    to_string(checked.findings.front().code)),
                        Fault::environment);
        if (made_.is_signed && checked.signature == SignatureState::none)
            return fail("ssh-keygen wrote no signature", Fault::environment);
        return {};
    }

    Result<void> put_results(const std::vector<std::string>& inputs) {
        ASSAY_TRY(const auto files, find_files(inputs, store::Journals::none));
        if (!files.problems.empty())
            return fail(
                fmt::format("{}: {}", files.problems.front().where, files.problems.front().reason));
        for (const auto& file : files.files) ASSAY_TRY(put_result(file.path));
        if (made_.results == 0) return fail("no run in these inputs");
        return {};
    }

    Result<void> put_result(const fs::path& file) {
        ASSAY_TRY(const auto text, read_whole(file, most_bytes_of_file));
        if (!known_.insert(to_hex(sha256(text))).second) return {};
        ASSAY_TRY(const auto checked, decide::verify_text(text, file.string()));
        if (!checked.findings.empty())
            return fail(fmt::format("{}: inconsistent: {}: {}; to list everything: assay verify {}",
                                    file.string(), checked.findings.front().path,
                                    checked.findings.front().text, file.string()));
        ASSAY_TRY(const auto document,
                  json::parse(text, file.string(), {.bytes = most_bytes_of_file}));
        if (!options_.serials && has_serials_in_clear(document))
            return fail(fmt::format("{}: contains serial numbers; allow them with --serials, or "
                                    "measure without --serials",
                                    file.string()));
        are_soaks_ = are_soaks_ && document.at("run").contains("soak");
        const auto folder = fmt::format("{}{:04}", results_folder, ++made_.results);
        ASSAY_TRY(draft_.write(folder + "/run.json", text));
        return put_logs(file.parent_path() / "logs", folder + "/logs/");
    }

    /// Beside the result, where the run left some.
    Result<void> put_logs(const fs::path& logs, const std::string& folder) {
        std::error_code error;
        for (fs::directory_iterator entry{logs, error}; !error && entry != fs::directory_iterator{};
             entry.increment(error)) {
            const auto name = folder + entry->path().filename().string();
            if (entry->symlink_status(error).type() != fs::file_type::regular ||
                !fault_of_path(name).empty())
                continue; // none of ours
            ASSAY_TRY(const auto text, read_whole(entry->path(), most_bytes_of_file));
            ASSAY_TRY(draft_.write(name, text));
            ++made_.logs;
        }
        return {};
    }

    Result<void> put_limits() {
        auto names = options_.limits;
        if (names.empty() && !are_soaks_) names = {"spec"}; // as are_soaks() of a collection
        for (std::size_t i = 0; i < names.size(); ++i) {
            ASSAY_TRY(const auto path, judge::find_limits(names[i]));
            ASSAY_TRY(const auto text, read_whole(path, most_bytes_of_list));
            auto name = fmt::format("{}{:03}-{}", limits_folder, i + 1, path.filename().string());
            if (!fault_of_path(name).empty())
                name = fmt::format("{}{:03}.json", limits_folder, i + 1);
            ASSAY_TRY(draft_.write(name, text));
        }
        return {};
    }

    NewFolder& draft_;
    const BundleOptions& options_;
    bool are_soaks_ = true;
    std::set<std::string> known_; ///< digests of results
    MadeBundle made_;
};

} // namespace

Result<MadeBundle> make_bundle(const std::vector<std::string>& inputs, const fs::path& folder,
                               const BundleOptions& options) {
    NewFolder draft{folder};
    if (draft.is_taken())
        return fail(
            fmt::format("{}: exists already (expected the name of a new folder)", folder.string()));
    auto made = Maker{draft, options}.make(inputs);
    if (!made) return made;
    ASSAY_TRY(draft.complete());
    return made;
}

} // namespace assay::exchange
