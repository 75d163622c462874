// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.hpp"

#include "base/utc.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::cli {
namespace {

using record::Status;

/// The wider half of the interval, relative to the value.
std::optional<double> half_width(const record::Metric& metric) {
    if (!metric.value || !metric.low || !metric.high || *metric.value == 0) return std::nullopt;
    return std::max(*metric.high - *metric.value, *metric.value - *metric.low) /
           std::fabs(*metric.value);
}

bool went_wrong(Status status) {
    return status == Status::incorrect || status == Status::failed || status == Status::timed_out ||
           status == Status::crashed || status == Status::not_started;
}

Paint paint_of(Status status) {
    if (status == Status::ok) return Paint::green;
    return went_wrong(status) ? Paint::red : Paint::yellow;
}

/// Names for the cases of a run without the parameters that are equal in all cases of a benchmark: short
/// enough for a line, and still unique.
class Names {
public:
    explicit Names(const record::Run& run) {
        std::map<Key, record::Value> first;
        std::map<Key, int> count; // with an empty name: of cases
        for (const auto& c : run.cases) {
            ++count[{c.benchmark, c.library, ""}];
            for (const auto& [name, value] : c.parameters) {
                const Key key{c.benchmark, c.library, name};
                if (first.try_emplace(key, value).first->second != value) varying_.insert(key);
                ++count[key];
            }
        }
        for (const auto& [key, cases] : count) // together: not every case has it
            if (cases != count[{std::get<0>(key), std::get<1>(key), ""}]) varying_.insert(key);
    }
    std::string of(record::Case c) const {
        c.replicas.clear();
        std::erase_if(c.parameters, [&](const record::Named& parameter) {
            return !varying_.contains(Key{c.benchmark, c.library, parameter.name});
        });
        return record::identity(c);
    }

private:
    using Key = std::tuple<std::string, std::string, std::string>; // benchmark, library, parameter
    std::set<Key> varying_;
};

/// "2 of 5 replicas"; empty where none is missing.
std::string part_in_words(const record::Case& c) {
    const auto part = record::part_of(c);
    return part ? fmt::format("{} of {} replicas", part->measured, part->planned) : "";
}

bool is_shown(const record::Case& c) { return c.status != Status::interrupted; }

/// "disturbed", "two levels": one cause for all cases that have it.
std::string_view cause_in_words(const record::Case& c) {
    switch (c.reason_code) {
    case record::ReasonCode::disturbed:
        return "disturbed";
    case record::ReasonCode::two_levels:
        return "replicas at two levels";
    case record::ReasonCode::drift:
        return "drifts";
    default:
        return "too noisy";
    }
}

std::string kind_in_words(const record::Case& c) {
    const auto knowledge = record::knowledge_of(c);
    if (knowledge == record::Knowledge::none) return std::string{to_string(c.status)};
    if (knowledge != record::Knowledge::at_least) return std::string{to_string(knowledge)};
    const bool is_upper = !c.metrics.empty() && !c.metrics.front().higher_is_better;
    return is_upper ? "at most" : "at least";
}

/// Why cases are not known: of those with a value once for each cause. And warnings.
std::string remarks(const record::Run& run, const Names& names, const Terminal& terminal) {
    std::map<std::string, std::vector<std::string>> groups;
    std::string out;
    const auto add = [&](const std::string& text) {
        out += indented(text, 2, terminal.width) + '\n';
    };
    for (const auto& c : run.cases) {
        if (!is_shown(c)) continue;
        const auto name = names.of(c);
        if (c.status != Status::ok && record::is_measured(c.status))
            groups[fmt::format("{} ({})", kind_in_words(c), cause_in_words(c))].push_back(name);
        else if (c.status != Status::ok)
            add(fmt::format("{} {}: {}", name,
                            paint(terminal, paint_of(c.status), to_string(c.status)), c.reason));
        for (const auto& warning : c.warnings) add(fmt::format("{}: {}", name, warning));
    }
    for (const auto& [kind, members] : groups)
        add(fmt::format("{}: {}", paint(terminal, Paint::yellow, kind), fmt::join(members, ", ")));
    return out.empty() ? out : '\n' + out;
}

std::string who_was_it(const record::Busy& busy) {
    switch (*busy.cause) {
    case record::DisturbanceCode::foreign_cpu:
    case record::DisturbanceCode::waiting:
        return fmt::format("{} used up to {} of the CPU",
                           busy.programs.empty()
                               ? "other programs"
                               : fmt::format("{}", fmt::join(busy.programs, ", ")),
                           record::human_percent(busy.share));
    case record::DisturbanceCode::steal:
        return "the hypervisor gave CPU time to other machines";
    case record::DisturbanceCode::neighbours:
        return "neighbours used the memory";
    case record::DisturbanceCode::cpus_moved:
        return "the hypervisor moved the CPUs";
    default:
        return "the processor or device slowed down, or others used it";
    }
}

/// " in 58 s", " in 2 min 12 s"
std::string took_in_words(const record::Run& run) {
    const auto begin = seconds_of(run.started);
    const auto end = seconds_of(run.ended);
    if (!begin || !end || !(*end > *begin)) return {};
    const auto seconds = static_cast<int>(*end - *begin);
    return seconds < 120 ? fmt::format(" in {} s", seconds)
                         : fmt::format(" in {} min {} s", seconds / 60, seconds % 60);
}

/// "25 cases verified in 58 s: 9 known, 13 at least, 3 rough. Busy: cc1plus used up to 40% of the CPU."
std::string first_line(const record::Run& run, const Terminal& terminal) {
    std::map<record::Knowledge, int> kinds;
    int measured = 0;
    for (const auto& c : run.cases) {
        if (!record::is_measured(c.status)) continue;
        ++kinds[record::knowledge_of(c)];
        ++measured;
    }
    if (measured == 0) return {};
    std::string list;
    for (const auto& [kind, count] : kinds)
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count,
                            kind == record::Knowledge::at_least ? "at least" : to_string(kind));
    auto line = fmt::format("{} case{} verified{}: {}.", measured, measured == 1 ? "" : "s",
                            took_in_words(run), list);
    if (const auto busy = record::busy_of(run); busy.cause)
        line += fmt::format(" {} {}.", paint(terminal, Paint::yellow, "Busy:"), who_was_it(busy));
    return indented(line, 0, terminal.width) + "\n\n";
}

} // namespace

SummaryRow summary_row(const record::Case& c) {
    SummaryRow row{.name = record::identity(c), .status = kind_in_words(c)};
    if (c.metrics.empty() || !c.metrics.front().value) return row;
    const auto& headline = c.metrics.front();
    row.value = record::human(*headline.value, record::shown_unit(c, headline));
    if (const auto half =
            half_width(headline)) // two replicas that differ give almost no information
        row.interval = *half > 1 ? ">±100%" : "±" + record::human_percent(*half);
    if (const auto share = record::share_of_ceiling(c)) row.ceiling = record::human_percent(*share);
    return row;
}

std::string summary_text(const record::Run& run, const Terminal& terminal) {
    const Names names{run};
    TextTable table{{"CASE", "VALUE", "95%", "OF BOUND", "STATUS"}};
    for (const std::size_t column : {1U, 2U, 3U}) table.align_right(column);
    for (const auto& c : run.cases) {
        if (!is_shown(c)) continue;
        auto row = summary_row(c);
        if (auto part = part_in_words(c); !part.empty())
            row.status = c.status == Status::ok ? std::move(part) : row.status + ", " + part;
        table.add({names.of(c), std::move(row.value), std::move(row.interval),
                   std::move(row.ceiling), paint(terminal, paint_of(c.status), row.status)});
    }
    return first_line(run, terminal) + table.text(terminal) + remarks(run, names, terminal);
}

std::string replicas_in_words(const plan::Plan& plan) {
    const int fewest = plan.fewest_replicas.value_or(plan.replicas);
    return fmt::format("{}{} replica{}",
                       fewest < plan.replicas ? fmt::format("{} to ", fewest) : "", plan.replicas,
                       plan.replicas == 1 ? "" : "s");
}

std::size_t not_measured(const record::Run& run) {
    return static_cast<std::size_t>(
        std::ranges::count_if(run.cases, [](const auto& c) { return !is_shown(c); }));
}

json::Value summary_json(const run::Outcome& outcome, const FailOn& fail_on) {
    json::Value document{{"schema", "assay.outcome/1"},
                         {"file", outcome.file.string()},
                         {"suite", outcome.run.suite},
                         {"status", outcome.run.status},
                         {"ended_by", to_string(outcome.run.ended_by)},
                         {"exit_code", static_cast<int>(exit_code(outcome, fail_on))},
                         {"cases", json::Value::array()}};
    for (const auto& c : outcome.run.cases) {
        json::Value item{{"benchmark", c.benchmark},
                         {"library", c.library},
                         {"parameters", record::to_json(c.parameters)},
                         {"status", to_string(c.status)},
                         {"reason", c.reason},
                         {"reason_code", to_string(c.reason_code)},
                         {"reason_values", record::to_json(c.reason_values)},
                         {"headline", nullptr},
                         {"ceiling", record::to_json(c.ceiling)},
                         {"other_ceilings", json::Value::array()},
                         {"warnings", c.warnings}};
        for (const auto& other : c.other_ceilings)
            item["other_ceilings"].push_back(record::to_json(other));
        if (!c.metrics.empty()) item["headline"] = record::to_json(c.metrics.front());
        document["cases"].push_back(std::move(item));
    }
    return document;
}

bool lacks_part(const record::Run& run) {
    return run.schedule && run.schedule->gates &&
           std::ranges::any_of(run.schedule->gates->stages, [](const record::Stage& stage) {
               return stage.end == record::StageEnd::part_missing;
           });
}

ExitCode exit_code(const run::Outcome& outcome, const FailOn& fail_on) {
    if (lacks_part(outcome.run)) return ExitCode::environment;
    // A soak compares results and may have been stopped before any rate.
    const bool is_empty =
        !outcome.run.soak && std::ranges::none_of(outcome.run.cases, [](const auto& c) {
            return record::is_measured(c.status);
        });
    auto code = outcome.signal != 0 || (outcome.out_of_time && !is_empty) ? ExitCode::interrupted
                                                                          : ExitCode::done;
    for (const auto& c : outcome.run.cases) {
        if (c.status == Status::not_started)
            code = worse(code, ExitCode::environment);
        else if (went_wrong(c.status) || std::ranges::count(fail_on, to_string(c.status)) > 0)
            code = worse(code, ExitCode::failed);
    }
    return is_empty ? worse(code, ExitCode::inconclusive) : code;
}

ExitCode worse(ExitCode one, ExitCode other) {
    for (const auto code : {ExitCode::usage, ExitCode::interrupted, ExitCode::failed,
                            ExitCode::environment, ExitCode::inconclusive})
        if (one == code || other == code) return code;
    return ExitCode::done;
}

// --- progress ------------------------------------------------------------------------------------

ProgressLine::ProgressLine(const plan::Interleaving& turns, bool quiet)
    : turns_{turns}, quiet_{quiet}, terminal_{terminal_of(STDERR_FILENO)} {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
    if (std::exchange(shown_, false)) overwrite_line("");
}

void ProgressLine::started(const std::filesystem::path& folder, bool resumed,
                           const std::string& variant) {
    if (quiet_) return;
    const auto& plan = turns_.runs.front().plan;
    if (++started_ == 1)
        print_error(fmt::format("{}: {} cases x {}, about {} (min:s)\n", plan.suite,
                                plan.cases.size(),
                                variant.empty() ? replicas_in_words(plan)
                                                : fmt::format("{} variants x {} pairs",
                                                              turns_.runs.size(), plan.replicas),
                                clock_text(turns_.expected_seconds)));
    print_error(fmt::format("{}{}{} {}\n", variant, variant.empty() ? "" : " ",
                            resumed ? "continuing" : "writing", folder.string()));
}

void ProgressLine::note(const std::string& text) {
    if (!quiet_) print_error(fmt::format("note: {}\n", text));
}

/// In a log, which is nobody's terminal, each line stays.
bool ProgressLine::is_due(const run::Progress& progress) {
    constexpr std::chrono::seconds most{10};
    const auto now = std::chrono::steady_clock::now();
    std::tuple what{progress.case_index, progress.replica, progress.variant};
    if (what == said_ && now - said_at_ < most) return false;
    said_ = std::move(what);
    said_at_ = now;
    return true;
}

void ProgressLine::progress(const run::Progress& progress) {
    const auto& plan = turns_.runs.front().plan;
    if (quiet_ || progress.case_index >= plan.cases.size()) return;
    if (!terminal_.present && !is_due(progress)) return;
    const auto& estimate = progress.estimate;
    const auto name = record::identity(plan::empty_case(plan.cases[progress.case_index]));
    const bool again = progress.replica > plan.replicas; // beyond those that were planned
    const auto turn =
        fmt::format("{} {}{}{}", progress.variant.empty() ? "replica" : "pair", progress.replica,
                    again ? "" : fmt::format(" of {}", plan.replicas),
                    progress.variant.empty() ? "" : " " + progress.variant);
    const auto line =
        fmt::format("{}/{}  {} left  {}  {}  {}", estimate.steps_done, estimate.steps_total,
                    clock_text(estimate.remaining_seconds), turn, progress.phase, name);
    if (!terminal_.present) return print_error(line + '\n');
    overwrite_line(cut(line, terminal_.width - 1)); // a full line would wrap
    shown_ = true;
}

void ProgressLine::finished(const record::Case& result, const std::string& variant) {
    ++finished_;
    if (quiet_ || terminal_.present) return;
    const auto row = summary_row(result);
    print_error(fmt::format("{}/{}  {}{}{}  {} {}  {}\n", finished_,
                            turns_.runs.size() * turns_.runs.front().plan.cases.size(), variant,
                            variant.empty() ? "" : ": ", row.name, row.value, row.interval,
                            row.status));
}

} // namespace assay::cli
