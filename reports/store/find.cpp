// SPDX-License-Identifier: Apache-2.0
#include "store/find.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/store.hpp"
#include "document/words.hpp"
#include "record/journal.hpp"
#include "store/input.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::store {

using namespace document;
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
            return fail(fmt::format("{}: no file or folder matches", input.file.string()));
        const std::size_t before = count();
        for (const auto& path : paths) ASSAY_TRY(add_path(path, false));
        if (count() > before) return {};
        return fail(fmt::format("{}: no result file matches, and no matching folder contains a {}",
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
                fmt::format("{0}: no {1} in this folder or below; for files of other names: "
                            "\"{0}/*.json\"; to measure: assay run SUITE --out {0}",
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
            // Types of the entries, from the folder: asking each would take as long as all else.
            const bool is_folder = !entry->is_symlink(unknown) && entry->is_directory(unknown);
            std::string name = entry->path().filename().native();
            if (is_draft(name)) continue;
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

// --- each run ------------------------------------------------------------------------------------

namespace {

class Reading {
public:
    Reading(const FoundFiles& files, const TakeRun& take)
        : files_{files.files}, take_{take}, out_{.problems = files.problems} {}

    EachRun run() && {
        std::vector<const FoundFile*> interrupted;
        bool more = true;
        for (const auto& file : files_) {
            if (!more) return std::move(out_);
            const auto run = read(file);
            if (!run) continue;
            if (run->status == "done" || run->id.empty())
                more = take(*run, file);
            else
                interrupted.push_back(&file);
        }
        for (const auto* file : interrupted) {
            if (!more) break;
            if (const auto run = read(*file)) more = take(*run, *file);
        }
        return std::move(out_);
    }

private:
    Result<record::Run> read(const FoundFile& file) {
        auto run = read_result(file.path, {.values = false});
        if (run) return run;
        out_.problems.push_back(
            {.where = plain(file.path.string()),
             .reason = plain(without_prefix(run.error().message, file.path.string() + ": "))});
        return run;
    }
    static std::string without_prefix(const std::string& text, const std::string& prefix) {
        return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    }
    bool take(const record::Run& run, const FoundFile& file) {
        const auto [first, is_new] = taken_.try_emplace(run.id, &file);
        if (!is_new && !run.id.empty()) {
            out_.problems.push_back({.where = plain(file.path.string()),
                                     .reason = say<text::store::same_run>(
                                         run.id, plain(first->second->path.string()))});
            return true;
        }
        ++out_.runs;
        return take_(run, file);
    }

    const std::vector<FoundFile>& files_;
    const TakeRun& take_;
    std::unordered_map<std::string, const FoundFile*> taken_; ///< by id
    EachRun out_;
};

} // namespace

std::string joined(const record::NamedList& list) {
    std::string out;
    for (const auto& entry : list)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", entry.name,
                           record::to_string(entry.value));
    return out;
}

EachRun each_run(const FoundFiles& files, const TakeRun& take) {
    return Reading{files, take}.run();
}

// --- own runs ------------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& a, const fs::path& b) {
    std::error_code unknown;
    return a.filename() == b.filename() && fs::equivalent(a, b, unknown);
}

/// Runs are in a folder that is called as their machine, or was when they were measured.
bool is_below(const fs::path& path, const std::set<std::string>& names) {
    return std::ranges::any_of(path.parent_path(),
                               [&](const fs::path& part) { return names.contains(part.string()); });
}

} // namespace

Result<void> keep_machine_of(Collection& all, const fs::path& file) {
    const auto own =
        std::ranges::find_if(all.runs, [&](const RunInfo& run) { return is_file(run.file, file); });
    if (own == all.runs.end()) {
        const auto problem = std::ranges::find_if(
            all.problems, [&](const Problem& one) { return is_file(one.where, file); });
        return fail(problem == all.problems.end()
                        ? fmt::format("--machine-of {}: not among the inputs", plain(file.string()))
                        : fmt::format("{}: {}", problem->where, problem->reason));
    }
    const auto& id = all.machines[own->machine].id;
    const auto campaign = own->campaign;
    const auto folder = file.parent_path();
    std::set<std::string> names{folder.filename().string(),
                                folder.parent_path().filename().string()};
    for (const auto& machine : all.machines)
        if (machine.id == id) {
            names.insert(machine.id);
            names.insert(machine.identity.aliases.begin(), machine.identity.aliases.end());
        }

    constexpr auto gone = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> numbers(all.runs.size(), gone);
    std::vector<RunInfo> runs;
    for (std::size_t i = 0; i < all.runs.size(); ++i) {
        auto& run = all.runs[i];
        if (all.machines[run.machine].id != id || run.campaign != campaign) continue;
        numbers[i] = static_cast<std::uint32_t>(runs.size());
        runs.push_back(std::move(run));
    }
    all.runs = std::move(runs);
    std::erase_if(all.observations,
                  [&](const decide::Observation& seen) { return numbers[seen.run] == gone; });
    for (auto& seen : all.observations) seen.run = numbers[seen.run];
    std::erase_if(all.problems, [&](const Problem& one) { return !is_below(one.where, names); });
    std::erase_if(all.unfinished, [&](const fs::path& path) { return !is_below(path, names); });
    return {};
}

// --- alike ---------------------------------------------------------------------------------------

namespace {

/// Value of each condition of the table; nothing if it was not recorded or does not count.
using Values = std::vector<const record::Value*>;

bool compatible(const Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != nullptr && b[i] != nullptr && *a[i] != *b[i]) return false;
    return true;
}

record::NamedList settled(const Values& own, const std::vector<Values>& all) {
    const auto table = record::condition_table();
    std::vector<std::set<record::Value>> others(own.size());
    for (const auto& other : all) {
        if (!compatible(own, other)) continue;
        for (std::size_t i = 0; i < own.size(); ++i)
            if (other[i] != nullptr) others[i].insert(*other[i]);
    }
    record::NamedList list;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (others[i].empty()) continue; // nor did anybody else: alike, as far as is known
        const bool known = own[i] != nullptr || others[i].size() == 1;
        list.push_back({std::string{table[i].name},
                        known ? *others[i].begin() : record::Value{std::string{}}});
    }
    return list;
}

} // namespace

std::vector<record::NamedList> settle(const std::vector<decide::Series>& series,
                                      const std::vector<std::uint32_t>& group,
                                      const std::vector<std::string>& left_out) {
    std::vector<Values> values;
    std::map<std::uint32_t, std::vector<Values>> groups;
    for (std::size_t i = 0; i < series.size(); ++i) {
        auto& own = values.emplace_back();
        for (const auto& condition : record::condition_table())
            own.push_back(std::ranges::count(left_out, condition.name) > 0
                              ? nullptr
                              : record::find(series[i].conditions, condition.name));
        auto& all = groups[group[i]];
        const auto is_same = [&](const Values& other) {
            return std::ranges::equal(own, other, [](const auto* a, const auto* b) {
                return a == nullptr || b == nullptr ? a == b : *a == *b;
            });
        };
        if (std::ranges::none_of(all, is_same)) all.push_back(own);
    }
    std::vector<record::NamedList> lists;
    for (std::size_t i = 0; i < series.size(); ++i)
        lists.push_back(settled(values[i], groups[group[i]]));
    return lists;
}

std::string condition_in_words(const record::NamedList& conditions, std::string_view name) {
    const auto value = record::text(conditions, name);
    return plain(value.empty() ? say<text::store::not_recorded>(with_blanks(name))
                               : fmt::format("{} {}", with_blanks(name), with_blanks(value)));
}

std::string conditions_in_words(const record::NamedList& conditions,
                                const record::NamedList& parameters) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : conditions) {
        const auto* condition = record::find_condition(name);
        const bool usual = condition != nullptr && record::to_string(value) == condition->usual;
        const auto* parameter = record::find(parameters, name);
        if (usual || (parameter != nullptr && *parameter == value)) continue;
        parts.push_back(condition_in_words(conditions, name));
    }
    return join(parts);
}

std::vector<std::string> assumed(const record::NamedList& settled, const decide::Series& series) {
    std::vector<std::string> names;
    for (const auto& [name, value] : settled)
        if (record::find(series.conditions, name) == nullptr && !record::to_string(value).empty())
            names.push_back(name);
    return names;
}

} // namespace assay::store
