// SPDX-License-Identifier: Apache-2.0
#include "run/run_folder.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using record::Status;
constexpr const char* journal_name = "journal.ndjson";
constexpr const char* nobody = "unknown/unknown"; ///< provider and instance
constexpr record::ReadOptions as_stored{.values = false, .details = false, .as_stored = true};

/// Runs of a machine that goes by this id. Where neither provider nor instance is known, `host` stands for both.
fs::path machine_folder(const RunOptions& options, const record::Machine& machine,
                        const std::string& id) {
    const auto owner = fs::path{path_word(machine.provider)} / path_word(machine.instance);
    return options.out / path_word(options.campaign) / (owner == nobody ? "host" : owner) /
           path_word(id);
}

/// All folders with its runs, the one for new runs first.
std::vector<fs::path> machine_folders(const RunOptions& options, const record::Machine& machine) {
    std::vector<fs::path> folders;
    const auto add = [&](const std::string& id) {
        folders.push_back(machine_folder(options, machine, id));
        if (folders.back().parent_path().filename() == "host") // of older versions
            folders.push_back(options.out / path_word(options.campaign) / nobody / path_word(id));
    };
    add(machine.id);
    for (const auto& alias : machine.identity.aliases) add(alias);
    return folders;
}

/// Whatever their pairing ids are.
bool same_pairing(std::optional<record::Pairing> a, const std::optional<record::Pairing>& b) {
    if (a && b) a->id = b->id;
    return a == b;
}

bool same_run(const record::JournalHeader& found, const record::JournalHeader& wanted,
              const record::Machine& machine) {
    return found.suite == wanted.suite && found.version == wanted.version &&
           found.digest == wanted.digest && record::is_id_of(machine, found.machine) &&
           same_pairing(found.pairing, wanted.pairing);
}

bool fits(const record::JournalStep& step, const plan::Plan& plan) {
    if (step.case_index >= plan.cases.size()) return false;
    const auto planned = empty_case(plan.cases[step.case_index]);
    return record::identity(planned) == record::identity(step.result);
}

bool is_final(const record::Case& step) {
    if (!step.replicas.empty() && step.replicas.front().soak) return true; // its time was spent
    if (step.replicas.empty()) return record::is_finished(step.status);
    return std::ranges::all_of(step.replicas, record::is_finished, &record::Replica::status);
}

std::vector<record::Case> cases_of(const plan::Plan& plan,
                                   const std::vector<record::JournalStep>& steps) {
    std::vector<record::Case> cases;
    cases.reserve(plan.cases.size());
    for (const auto& planned : plan.cases) cases.push_back(empty_case(planned));
    for (const auto& step : steps) record::add_step(cases[step.case_index], step.result);
    for (auto& c : cases) record::mark_disturbed(c);
    return cases;
}

/// `patient`: cases that stayed disturbed are measured again. `result`:
/// if it is whole, cases may be decided with fewer.
bool is_unfinished(const plan::Plan& plan, const std::vector<record::JournalStep>& steps,
                   bool patient, const record::Run& result) {
    if (plan.soak_seconds) {
        double seconds = 0;
        for (const auto& step : steps)
            for (const auto& replica : step.result.replicas)
                if (const auto& soak = replica.soak)
                    seconds = std::max(seconds, soak->begun_seconds + soak->seconds);
        return seconds < *plan.soak_seconds;
    }
    const bool is_whole = result.status == "done" && result.cases.size() == plan.cases.size();
    for (std::size_t i = 0; auto& c : cases_of(plan, steps)) {
        const auto& wanted = is_whole ? result.cases[i].spread : c.spread;
        const bool is_decided = c.spread && wanted && wanted->replicas < c.spread->replicas;
        const int last = is_decided ? wanted->replicas : plan.replicas;
        for (int replica = 0; replica < last; ++replica)
            if (is_open(c, replica)) return true;
        if (patient && !is_decided && !c.replicas.empty() && c.spread &&
            std::ranges::all_of(c.replicas, record::is_measured, &record::Replica::status) &&
            record::undisturbed(c) < record::needed(c) && !record::fastest_agree(c))
            return true;
        ++i;
    }
    return false;
}

/// Forgets the replicas of cases that ended unstable.
void drop_unstable(const plan::Plan& plan, std::vector<record::JournalStep>& steps) {
    auto cases = cases_of(plan, steps);
    for (auto& c : cases) record::conclude(c, plan.replicas);
    std::erase_if(
        steps, [&](const auto& step) { return cases[step.case_index].status == Status::unstable; });
}

/// The folders of earlier runs, newest first: their names begin with the time.
std::vector<fs::path> earlier_runs(const std::vector<fs::path>& folders) {
    std::vector<fs::path> runs;
    std::error_code error;
    for (const auto& folder : folders)
        for (const auto& entry : fs::directory_iterator{folder, error})
            if (fs::is_regular_file(entry.path() / journal_name, error))
                runs.push_back(entry.path());
    std::ranges::sort(runs, std::greater{}, [](const fs::path& run) { return run.filename(); });
    return runs;
}

/// Parts exchanged since the newest run with a result; "" if none or not known.
std::string exchanged_parts(const std::vector<fs::path>& folders, const record::Machine& machine) {
    for (const auto& path : earlier_runs(folders)) {
        const auto run = record::read_run(path / "run.json", as_stored);
        if (!run) continue;
        const auto parts = record::changed_parts(run->machine, machine);
        if (parts.empty()) return {};
        return fmt::format("parts of this machine differ from {}: {}", path.string(),
                           fmt::join(parts, ", "));
    }
    return {};
}

/// A run that can be read, with a header.
struct Found {
    fs::path path;
    record::JournalContent content;
};

/// A run without a readable journal cannot be continued; `problem`: why.
std::optional<Found> find(const fs::path& path, std::string* problem = nullptr) {
    auto content = record::read_journal(path / journal_name);
    if (!content && problem != nullptr) *problem = content.error().message;
    if (!content || !content->header) return std::nullopt;
    return Found{.path = path, .content = std::move(*content)};
}

/// The build ids of its modules.
record::Values modules_of(const plan::Plan& plan) {
    record::Values modules;
    for (const auto& planned : plan.cases)
        if (record::find(modules, planned.module->module) == nullptr)
            modules.push_back({planned.module->module, planned.module->build_id});
    return modules;
}

/// Has a module of both runs another build?
bool other_build(const record::JournalHeader& a, const record::JournalHeader& b) {
    return std::ranges::any_of(a.modules, [&](const record::Named& module) {
        const auto* build = record::find(b.modules, module.name);
        return build != nullptr && *build != module.value;
    });
}

/// Why a run cannot be continued as another: the first cause in the order of their weight.
std::string difference(const record::JournalHeader& there, const record::JournalHeader& here,
                       const record::Machine& machine) {
    if (there.suite != here.suite)
        return fmt::format("its suite is {}, not {}", there.suite, here.suite);
    if (there.version != here.version)
        return fmt::format("it was measured by assay {}, this is {}", there.version, here.version);
    if (!record::is_id_of(machine, there.machine))
        return fmt::format("it was measured on machine {}, this is {}", there.machine,
                           here.machine);
    if (!same_pairing(there.pairing, here.pairing)) {
        if (!here.pairing) return "it is interleaved (--interleave), this one is not";
        return there.pairing ? "its variants (--interleave) or their order differ"
                             : "it is not interleaved, this one is (--interleave)";
    }
    if (other_build(there, here)) return "it was measured with another build of the modules";
    if (there.replicas && here.replicas && *there.replicas != *here.replicas)
        return fmt::format("it has {} replicas of each case, this one {}", *there.replicas,
                           *here.replicas);
    return "its cases, settings or hosts differ";
}

/// Steps lost from a journal that is continued; "" if none.
std::string loss_of(const record::JournalContent& content) {
    if (content.damaged == 0) return {};
    auto text = content.first_damage;
    if (const auto more = content.damaged - 1; more > 0)
        text += fmt::format(", and {} more {}", more, more == 1 ? "line" : "lines");
    return text + "; the line is kept and its replica measured again";
}

/// Interleaved runs share it.
const std::string& group_of(const record::JournalHeader& header) {
    return header.pairing ? header.pairing->id : header.run;
}

/// Replicas that need not be measured again, and cases that need none.
std::size_t count_done(const std::vector<record::Case>& cases) {
    const auto is_done = [](const auto& one) {
        return record::is_measured(one.status) || record::is_finished(one.status);
    };
    std::size_t done = 0;
    for (const auto& c : cases)
        done += c.replicas.empty()
                    ? static_cast<std::size_t>(is_done(c))
                    : static_cast<std::size_t>(std::ranges::count_if(c.replicas, is_done));
    return done;
}

/// Every case is finished and in the result. That of an earlier attempt has fewer, where the last one was killed before
/// it wrote its own: going on then writes it.
bool is_finished(const Found& found, const plan::Plan& plan, bool patient) {
    const auto run = record::read_run(found.path / "run.json", as_stored);
    if (!run || is_unfinished(plan, found.content.steps, patient, *run)) return false;
    if (plan.soak_seconds) return run->status == "done"; // its result keeps fewer visits
    return count_done(run->cases) >= count_done(cases_of(plan, found.content.steps));
}

/// Fails if another process has it open.
Result<RunFolder> go_on(Found found) {
    ASSAY_TRY(auto journal, record::Journal::resume(found.path / journal_name, found.content));
    std::error_code error;
    fs::create_directories(found.path / "logs", error);
    auto note = loss_of(found.content);
    return RunFolder{.path = std::move(found.path),
                     .header = std::move(*found.content.header),
                     .journal = std::move(journal),
                     .steps = std::move(found.content.steps),
                     .resumed = true,
                     .note = std::move(note)};
}

/// 20260131T123456Z-5f3a0c1d2e3f4a5b: sorts by time, and those of a fleet that starts in one second differ.
std::string new_run_id(const std::string& started) {
    std::string id;
    for (const char c : started)
        if (c != '-' && c != ':') id += c;
    return id + '-' + random_token(8);
}

Result<RunFolder> create(const fs::path& folder, record::JournalHeader header,
                         const std::optional<record::Machine>& machine) {
    header.run = new_run_id(header.started);
    const auto path = folder / header.run;
    auto made = make_folders(folder);
    std::error_code error; // the run's own folder must be new
    if (made && !fs::create_directory(path, error))
        made = fail(fmt::format("cannot create {}: {}", path.string(), error.message()),
                    Fault::environment);
    if (made) made = make_folders(path / "logs");
    if (!made)
        return fail(made.error().message + "; choose another folder with --out",
                    made.error().fault);
    auto journal = record::Journal::create(path / journal_name, header, machine);
    if (!journal) {
        fs::remove_all(path, error); // nothing half-written stays
        return tl::unexpected{journal.error()};
    }
    return RunFolder{.path = path, .header = std::move(header), .journal = std::move(*journal)};
}

/// A note and tags are of the whole run: half of it cannot have others.
Result<void> same_occasion(const RunFolder& folder, const RunOptions& options) {
    const auto refuse = [&](const char* option) {
        return fail(fmt::format("{} was started with another {}; omit it to continue that run, or "
                                "omit --resume to start a new one",
                                folder.path.string(), option));
    };
    if (!options.note.empty() && options.note != folder.header.note) return refuse("--note");
    if (!options.tags.empty() && options.tags != folder.header.tags) return refuse("--tag");
    return {};
}

/// The runs of one machine, and the requested ones.
class Search {
public:
    /// `folders`: by its id, where new ones are made, then by its aliases.
    Search(std::vector<fs::path> folders, const std::vector<plan::PlannedRun>& wanted,
           std::vector<record::JournalHeader> headers, const record::Machine& machine,
           const std::optional<record::Machine>& shown, const RunOptions& options)
        : folders_{std::move(folders)}, wanted_{wanted}, headers_{std::move(headers)},
          machine_{machine}, shown_{shown}, options_{options} {}

    /// The newest group that can be continued; else the newest of all, if it is complete; empty if there is neither.
    std::vector<RunFolder> resume() {
        const auto runs = earlier_runs(folders_);
        std::set<std::string> seen;
        std::vector<RunFolder> complete;
        for (const auto& path : runs) {
            const auto found = find(path);
            if (!found || !index_of(*found->content.header)) continue;
            const auto& group = group_of(*found->content.header);
            if (!seen.insert(group).second) continue;
            auto folders = resume_group(group, runs);
            if (!folders.empty() && !folders.front().is_complete) return folders;
            if (seen.size() == 1) complete = std::move(folders);
        }
        return complete;
    }

    /// Why the newest run that is unfinished is not continued; one of this suite if there is any. "" where all are
    /// finished.
    std::string obstacle(const fs::path& campaign) const {
        std::string of_other_suite;
        for (const auto& path : everywhere(campaign)) {
            const auto run =
                record::read_run(path / "run.json", {.details = false, .as_stored = true});
            if (run && run->status == "done") continue;
            std::string why;
            const auto found = find(path, &why);
            if (found && index_of(*found->content.header))
                why = in_use_;
            else if (found)
                why = difference(*found->content.header, nearest(*found->content.header), machine_);
            if (why.empty()) continue; // it died before its first line, or all cases are finished
            auto text =
                fmt::format("{} is not continued: {}; a new run starts", path.string(), why);
            if (!found || found->content.header->suite == headers_.front().suite) return text;
            if (of_other_suite.empty()) of_other_suite = std::move(text);
        }
        return of_other_suite;
    }

private:
    /// Its index among the requested ones.
    std::optional<std::size_t> index_of(const record::JournalHeader& header) const {
        for (std::size_t i = 0; i < headers_.size(); ++i)
            if (same_run(header, headers_[i], machine_)) return i;
        return std::nullopt;
    }

    bool is_patient(const plan::Plan& plan) const {
        return options_.patience_seconds.value_or(plan.patience_seconds.value_or(1)) > 0;
    }

    /// The requested one with its variant, else the first.
    const record::JournalHeader& nearest(const record::JournalHeader& header) const {
        const auto alike = std::ranges::find_if(
            headers_, [&](const auto& mine) { return same_pairing(header.pairing, mine.pairing); });
        return alike == headers_.end() ? headers_.front() : *alike;
    }

    /// Not if a run of the group is not among ours, or if one is in use.
    std::vector<RunFolder> resume_group(const std::string& group,
                                        const std::vector<fs::path>& runs) {
        std::vector<std::optional<Found>> members(wanted_.size());
        for (const auto& path : runs) {
            auto found = find(path);
            if (!found || group_of(*found->content.header) != group) continue;
            const auto index = index_of(*found->content.header);
            if (!index) return {};
            const auto& plan = wanted_[*index].plan;
            std::erase_if(found->content.steps, [&](const auto& step) {
                return !fits(step, plan) || !is_final(step.result);
            });
            if (options_.retry) drop_unstable(plan, found->content.steps);
            members[*index] = std::move(found);
        }
        bool finished = true;
        for (std::size_t i = 0; i < members.size(); ++i)
            finished = finished && members[i] &&
                       is_finished(*members[i], wanted_[i].plan, is_patient(wanted_[i].plan));
        std::vector<RunFolder> folders;
        for (std::size_t i = 0; i < members.size(); ++i) {
            auto header = headers_[i];
            if (header.pairing) header.pairing->id = group;
            auto folder = members[i] ? go_on(std::move(*members[i]))
                                     : create(folders_.front(), std::move(header),
                                              shown_); // killed before it began
            if (!folder) {
                in_use_ = folder.error().message;
                return {};
            }
            folders.push_back(std::move(*folder));
            folders.back().is_complete = finished;
        }
        return folders;
    }

    /// The runs of all machines, newest first.
    static std::vector<fs::path> everywhere(const fs::path& campaign) {
        constexpr int deepest = 3; // provider, instance, machine; then the run
        std::vector<fs::path> runs;
        std::error_code error;
        for (auto entry = fs::recursive_directory_iterator{campaign, error};
             !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
            const bool is_run = fs::is_regular_file(entry->path() / journal_name, error);
            if (is_run) runs.push_back(entry->path());
            if (is_run || entry.depth() == deepest) entry.disable_recursion_pending();
        }
        std::ranges::sort(runs, std::greater{}, [](const fs::path& run) { return run.filename(); });
        return runs;
    }

    std::vector<fs::path> folders_;
    const std::vector<plan::PlannedRun>& wanted_;
    std::vector<record::JournalHeader> headers_;
    const record::Machine& machine_;
    const std::optional<record::Machine>& shown_;
    const RunOptions& options_;
    std::string in_use_; ///< why the last one that fits could not be opened
};

} // namespace

std::string path_word(std::string_view text) {
    constexpr std::size_t longest = 64; // file systems allow 255; people read less
    std::string word;
    for (const char c : text.substr(0, longest)) {
        if (is_word(c, "_.-"))
            word += c;
        else if (!word.empty() && word.back() != '-')
            word += '-';
    }
    while (!word.empty() && (word.back() == '-' || word.back() == '.')) word.pop_back();
    // Neither a hidden folder nor one outside.
    word.erase(0, std::min(word.find_first_not_of(".-"), word.size()));
    return word.empty() ? "unknown" : word;
}

std::vector<fs::path> earlier_runs(const RunOptions& options, const record::Machine& machine) {
    return earlier_runs(machine_folders(options, machine));
}

fs::path RunFolder::state() const { return fs::absolute(path).parent_path() / "state"; }

fs::path RunFolder::log_of(std::size_t index, const plan::PlannedCase& planned) const {
    return path / "logs" /
           fmt::format("{:03}-{}.{}.log", index, path_word(planned.benchmark->id),
                       path_word(planned.module->module));
}

Result<std::vector<RunFolder>> open_run_folders(const std::vector<plan::PlannedRun>& wanted,
                                                const RunOptions& options,
                                                const record::Machine& machine,
                                                const std::optional<record::Machine>& shown) {
    const auto started = utc_now();
    const auto id = new_run_id(started);
    const auto seed = options.seed.value_or(std::stoll(random_token(4), nullptr, 16));
    std::vector<record::JournalHeader> headers;
    for (const auto& run : wanted) {
        headers.push_back({.suite = run.plan.suite,
                           .started = started,
                           .version = std::string{version()},
                           .digest = run.plan.digest,
                           .machine = machine.id,
                           .replicas = run.plan.replicas,
                           .modules = modules_of(run.plan),
                           .pairing = run.pairing,
                           .note = options.note,
                           .tags = options.tags,
                           .cases = static_cast<int>(run.plan.cases.size())});
        if (!options.planned_order) headers.back().seed = seed;
        if (options.campaign != default_campaign) headers.back().campaign = options.campaign;
        if (headers.back().pairing) headers.back().pairing->id = id;
    }
    auto of_machine = machine_folders(options, machine);
    const auto folder = of_machine.front();
    std::vector<RunFolder> folders;
    auto note = exchanged_parts(of_machine, machine);
    if (options.resume) {
        Search search{std::move(of_machine), wanted, headers, machine, shown, options};
        if (folders = search.resume(); !folders.empty()) {
            const auto same = same_occasion(folders.front(), options);
            if (same) return folders;
            if (!folders.front().is_complete) return tl::unexpected{same.error()};
            folders.clear(); // another occasion is another run
        }
        auto why = search.obstacle(options.out / path_word(options.campaign));
        if (!why.empty() || note.empty())
            note = why.empty() ? "no run of this plan to continue; a new run starts" : why;
    }
    for (auto& header : headers) {
        ASSAY_TRY(auto created, create(folder, std::move(header), shown));
        folders.push_back(std::move(created));
    }
    folders.front().note = std::move(note);
    return folders;
}

} // namespace assay::run
