// SPDX-License-Identifier: Apache-2.0

#include "store/find.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "record/journal.hpp"
#include "store/input.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view run_file = "run.json";
constexpr std::string_view journal_file = record::journal_file;

bool is_pattern(const fs::path& path) {
    return path.native().find_first_of("*?[{") != std::string::npos;
}

std::vector<fs::path> matches(const fs::path& pattern) {
    glob_t found{};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets the environment
    const int outcome = ::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found);
    std::vector<fs::path> paths;
    if (outcome == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return paths;
}

double seconds(const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Search {
public:
    explicit Search(Journals journals) : journals_{journals} {}

    /// An argument: its label and what it names.
    Result<void> add(const std::string& argument, std::size_t number) {
        ASSAY_TRY(auto input, split_label(argument));
        label_ = plain(input.label);
        input_ = number;
        std::error_code ignored;
        if (fs::exists(input.file, ignored)) return add_path(input.file, true);
        if (!is_pattern(input.file))
            return fail(fmt::format("{}: no such file or folder", input.file.string()));
        const auto paths = matches(input.file);
        if (paths.empty())
            return fail(fmt::format("{}: nothing matches this pattern", input.file.string()));
        const std::size_t before = count();
        for (const auto& path : paths) ASSAY_TRY(add_path(path, false));
        if (count() > before) return {};
        return fail(fmt::format("{}: no file matches, and no folder that matches holds a {}",
                                input.file.string(), run_file));
    }

    FoundFiles finish() && { return std::move(found_); }

private:
    std::size_t count() const {
        return found_.files.size() + found_.problems.size() + found_.unfinished.size();
    }
    Result<void> add_path(const fs::path& path, bool must_hold_runs) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            add_file(path, "");
            return {};
        }
        const std::size_t before = count();
        add_folder(path, "");
        if (must_hold_runs && count() == before)
            return fail(
                fmt::format("{0}: no {1} in this folder or below; `assay run SUITE --out {0}` "
                            "writes one, \"{0}/*.json\" takes files of other names",
                            path.string(), run_file));
        return {};
    }

    // NOLINTNEXTLINE(misc-no-recursion): as deep as paths can be long
    void add_folder(const fs::path& folder, const std::string& within) {
        std::error_code failed;
        std::vector<std::pair<std::string, bool>> entries; // name, is a folder
        bool has_journal = false;
        bool has_result = false;
        for (fs::directory_iterator entry{folder, failed};
             !failed && entry != fs::directory_iterator{}; entry.increment(failed)) {
            std::error_code unknown;
            // What the folder says of its entries: asking each would take as long as all else.
            const bool is_folder = !entry->is_symlink(unknown) && entry->is_directory(unknown);
            std::string name = entry->path().filename().native();
            has_journal |= name == journal_file;
            has_result |= name == run_file;
            if (is_folder || name == run_file) entries.emplace_back(std::move(name), is_folder);
        }
        if (has_journal && !has_result && journals_ != Journals::none) {
            const bool ended =
                journals_ != Journals::all && !is_being_written(folder / journal_file);
            if (ended) entries.emplace_back(journal_file, false);
            if (!ended && journals_ != Journals::ended)
                found_.unfinished.push_back(folder / journal_file);
        }
        if (failed)
            found_.problems.push_back(
                {.where = plain(folder.string()),
                 .reason = say<text::store::unreadable_folder>(failed.message()),
                 .code = ProblemCode::unreadable});
        std::ranges::sort(entries);
        for (const auto& [name, is_folder] : entries) {
            const std::string below = within.empty() ? name : within + "/" + name;
            if (is_folder)
                add_folder(folder / name, below);
            else
                add_file(folder / name, below);
        }
    }

    void add_file(const fs::path& path, const std::string& within) {
        struct stat facts{};
        if (::stat(path.c_str(), &facts) != 0) {
            const std::error_code why{errno, std::generic_category()};
            found_.problems.push_back({.where = plain(path.string()),
                                       .reason = say<text::store::unreadable_file>(why.message()),
                                       .code = ProblemCode::unreadable});
            return;
        }
        if (!S_ISREG(facts.st_mode)) {
            found_.problems.push_back({.where = plain(path.string()),
                                       .reason = say<text::store::not_regular>(),
                                       .code = ProblemCode::unreadable});
            return;
        }
        const auto [known, is_new] =
            known_.try_emplace(std::pair{facts.st_dev, facts.st_ino}, found_.files.size());
        if (!is_new) {
            const auto& other = found_.files[known->second].path;
            found_.problems.push_back(
                {.where = plain(path.string()),
                 .reason = say<text::store::same_file>(plain(other.string()))});
            return;
        }
        found_.files.push_back({.label = label_,
                                .input = input_,
                                .path = path,
                                .modified = seconds(facts.st_mtim),
                                .within = within});
    }

    FoundFiles found_;
    std::map<std::pair<dev_t, ino_t>, std::size_t> known_; ///< files by identity
    std::string label_;
    std::size_t input_ = 0;
    Journals journals_;
};

} // namespace

Result<FoundFiles> find_files(const std::vector<std::string>& inputs, Journals journals) {
    Search search{journals};
    for (std::size_t i = 0; i < inputs.size(); ++i) ASSAY_TRY(search.add(inputs[i], i));
    return std::move(search).finish();
}

} // namespace assay::report
