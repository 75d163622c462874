// SPDX-License-Identifier: Apache-2.0
#include "core/run_folder.hpp"

#include "base/file.hpp"
#include "base/version.hpp"
#include "core/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

namespace assay::core {
namespace {

namespace fs = std::filesystem;
using record::Status;

constexpr const char* journal_name = "journal.ndjson";

Error cannot_create(const fs::path& path, const std::error_code& error) {
    return {.message = fmt::format("cannot create {}: {}; choose another folder with --out",
                                   path.string(), error.message()),
            .fault = Fault::environment};
}

fs::path machine_folder(const RunOptions& options, const record::Machine& machine) {
    return options.out / path_word(options.campaign) / path_word(machine.provider) /
           path_word(machine.instance) / path_word(machine.id);
}

bool same_run(const record::JournalHeader& a, const record::JournalHeader& b) {
    return a.suite == b.suite && a.version == b.version && a.digest == b.digest &&
           a.machine == b.machine;
}

bool fits(const record::JournalStep& step, const Plan& plan) {
    if (step.case_index >= plan.cases.size()) return false;
    const auto planned = empty_case(plan.cases[step.case_index]);
    return record::identity(planned) == record::identity(step.result);
}

bool is_final(const record::Case& step) {
    if (step.replicas.empty()) return record::is_finished(step.status);
    return std::ranges::all_of(
        step.replicas, [](const auto& replica) { return record::is_finished(replica.status); });
}

bool is_unfinished(const Plan& plan, const std::vector<record::JournalStep>& steps) {
    std::vector<record::Case> cases;
    cases.reserve(plan.cases.size());
    for (const auto& planned : plan.cases) cases.push_back(empty_case(planned));
    for (const auto& step : steps) record::add_step(cases[step.case_index], step.result);
    return std::ranges::any_of(cases, [&](const auto& c) {
        for (int replica = 0; replica < plan.replicas; ++replica)
            if (is_open(c, replica)) return true;
        return false;
    });
}

/// The folders of earlier runs, newest first: their names begin with the time.
std::vector<fs::path> earlier_runs(const fs::path& folder) {
    std::vector<fs::path> runs;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (fs::is_regular_file(entry.path() / journal_name, error)) runs.push_back(entry.path());
    std::ranges::sort(runs, std::greater{});
    return runs;
}

/// Goes on with the run in `path` if it is ours, unfinished, and nobody is at it. A journal that
/// cannot be read belongs to a run that cannot be continued.
std::optional<RunFolder> try_resume(const fs::path& path, const Plan& plan,
                                    const record::JournalHeader& wanted) {
    auto content = record::read_journal(path / journal_name);
    if (!content) return std::nullopt;
    const auto header = content->header.value_or(record::JournalHeader{});
    if (!same_run(header, wanted)) return std::nullopt;
    auto journal = record::Journal::resume(path / journal_name, *content);
    if (!journal) return std::nullopt;
    std::erase_if(content->steps,
                  [&](const auto& step) { return !fits(step, plan) || !is_final(step.result); });
    // Every case finished, but killed before the result was written: that is still to do.
    std::error_code error;
    if (!is_unfinished(plan, content->steps) && fs::exists(path / "run.json", error))
        return std::nullopt;
    fs::create_directories(path / "logs", error);
    return RunFolder{.path = path,
                     .header = header,
                     .journal = std::move(*journal),
                     .steps = std::move(content->steps),
                     .resumed = true};
}

/// 20260131T123456Z-5f3a: sorts by time, and two of one second differ.
std::string new_run_id(const std::string& started) {
    std::string id;
    for (const char c : started)
        if (c != '-' && c != ':') id += c;
    return id + '-' + random_token(2);
}

Result<RunFolder> create(const fs::path& folder, record::JournalHeader header) {
    header.run = new_run_id(header.started);
    const auto path = folder / header.run;
    std::error_code error;
    if (!fs::create_directories(path / "logs", error) || error)
        return tl::unexpected{cannot_create(path, error)};
    auto journal = record::Journal::create(path / journal_name, header);
    if (!journal) {
        fs::remove_all(path, error); // nothing half-written stays
        return tl::unexpected{journal.error()};
    }
    return RunFolder{.path = path, .header = std::move(header), .journal = std::move(*journal)};
}

} // namespace

std::string path_word(std::string_view text) {
    constexpr std::size_t longest = 64; // file systems take 255; people read less
    std::string word;
    for (const char c : text.substr(0, longest)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        if (plain)
            word += c;
        else if (!word.empty() && word.back() != '-')
            word += '-';
    }
    while (!word.empty() && (word.back() == '-' || word.back() == '.')) word.pop_back();
    // Neither hidden nor a way out of the folder.
    word.erase(0, std::min(word.find_first_not_of(".-"), word.size()));
    return word.empty() ? "unknown" : word;
}

bool is_open(const record::Case& c, int replica) {
    if (c.replicas.empty()) return c.status == Status::interrupted;
    for (const auto& done : c.replicas) {
        if (done.index == replica) return false;
        if (done.status != Status::ok && done.status != Status::unstable) return false;
    }
    return true;
}

fs::path RunFolder::state() const { return fs::absolute(path).parent_path() / "state"; }

fs::path RunFolder::log_of(std::size_t index, const PlannedCase& planned) const {
    return path / "logs" /
           fmt::format("{:03}-{}.{}.log", index, path_word(planned.benchmark->id),
                       path_word(planned.module->module));
}

Result<RunFolder> open_run_folder(const Plan& plan, const RunOptions& options,
                                  const record::Machine& machine) {
    record::JournalHeader header{.suite = plan.suite,
                                 .started = utc_now(),
                                 .version = std::string{version()},
                                 .digest = plan.digest,
                                 .machine = machine.id};
    const auto folder = machine_folder(options, machine);
    if (options.resume)
        for (const auto& path : earlier_runs(folder))
            if (auto resumed = try_resume(path, plan, header)) return std::move(*resumed);
    return create(folder, std::move(header));
}

} // namespace assay::core
