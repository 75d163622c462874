// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.hpp"

#include "base/text.hpp"
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
#include <sstream>
#include <tuple>
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

/// "2 of 5" replicas; empty where none is missing.
std::string part_in_words(const record::Case& c) {
    const auto part = record::part_of(c);
    return part ? fmt::format("{} of {}", part->measured, part->planned) : "";
}

bool is_shown(const record::Case& c) { return c.status != Status::interrupted; }

/// "disturbed", "two levels": one cause for all cases that have it.
std::string_view cause_in_words(const record::Case& c) {
    switch (c.reason_code) {
    case record::ReasonCode::disturbed:
        return "disturbed";
    case record::ReasonCode::two_levels:
        return "at two levels";
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

/// Why the values of a group are not known: "9 too noisy, 2 at two levels"; empty for known ones.
std::string causes_of(const std::vector<const record::Case*>& group) {
    std::map<std::string_view, std::size_t> causes;
    for (const auto* c : group)
        if (record::knowledge_of(*c) != record::Knowledge::known) ++causes[cause_in_words(*c)];
    std::string list;
    for (const auto& [cause, count] : causes)
        list += (list.empty() ? "" : ", ") +
                (count == group.size() ? std::string{cause} : fmt::format("{} {}", count, cause));
    return list;
}

/// Cases with a value, known ones first; in a group as they were planned.
std::vector<std::vector<const record::Case*>> by_kind(const record::Run& run) {
    std::map<std::pair<record::Knowledge, std::string>, std::vector<const record::Case*>> groups;
    for (const auto& c : run.cases)
        if (record::is_measured(c.status))
            groups[{record::knowledge_of(c), kind_in_words(c)}].push_back(&c);
    std::vector<std::vector<const record::Case*>> out;
    for (auto& [kind, cases] : groups) out.push_back(std::move(cases));
    return out;
}

/// A line for each case, without columns that would be empty. Names that are cut to fit still differ.
std::string case_table(const std::vector<const record::Case*>& cases, const Names& names,
                       const Terminal& terminal) {
    std::vector<std::string> head{"", "VALUE", "95%", "OF BOUND", "REPLICAS"};
    std::vector<std::vector<std::string>> columns(head.size());
    for (const auto* c : cases) {
        const auto row = summary_row(*c);
        std::size_t i = 0;
        for (const auto& cell :
             {"  " + names.of(*c), row.value, row.interval, row.ceiling, part_in_words(*c)})
            columns[i++].push_back(cell);
    }
    for (std::size_t i = head.size(); i-- > 1;)
        if (std::ranges::all_of(columns[i], &std::string::empty)) {
            head.erase(head.begin() + static_cast<std::ptrdiff_t>(i));
            columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
        }
    std::size_t others = 0;
    for (std::size_t i = 1; i < head.size(); ++i) {
        std::size_t widest = display_width(head[i]);
        for (const auto& cell : columns[i]) widest = std::max(widest, display_width(cell));
        others += widest + 2;
    }
    constexpr std::size_t least = 20; // columns
    if (terminal.is_limited())
        columns[0] = cut_apart(columns[0],
                               std::max(least, terminal.width - std::min(terminal.width, others)));
    TextTable table{head};
    for (std::size_t i = 1; i < head.size(); ++i) table.align_right(i);
    for (std::size_t row = 0; row < cases.size(); ++row) {
        std::vector<std::string> cells;
        for (const auto& column : columns) cells.push_back(column[row]);
        table.add(std::move(cells));
    }
    return table.text(terminal);
}

/// Without its numbers and their units: equal for remarks that differ in these alone.
std::string wording_of(std::string_view text) {
    std::string out;
    bool after_number = false;
    for (const auto word : split(text, ' ')) {
        const bool has_digit =
            std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
        if (!has_digit && !after_number) out += fmt::format("{} ", word);
        after_number = has_digit;
    }
    return out;
}

/// Why cases have no value, and warnings: a sentence for all cases that it is about.
std::string remarks(const record::Run& run, const Names& names, const Terminal& terminal) {
    struct Remark {
        std::string status; ///< of cases without a value
        std::string text;
        std::vector<std::string> of;
    };
    std::vector<Remark> all;
    const auto add = [&](const std::string& name, std::string status, const std::string& text) {
        const auto alike = std::ranges::find_if(all, [&](const Remark& one) {
            return one.status == status && wording_of(one.text) == wording_of(text);
        });
        if (alike == all.end())
            all.push_back({.status = std::move(status), .text = text, .of = {name}});
        else if (alike->of.back() != name)
            alike->of.push_back(name);
    };
    for (const auto& c : run.cases) {
        if (!is_shown(c)) continue;
        if (!record::is_measured(c.status))
            add(names.of(c), paint(terminal, paint_of(c.status), to_string(c.status)), c.reason);
        for (const auto& warning : c.warnings) add(names.of(c), "", warning);
    }
    std::string out;
    for (const auto& [status, text, of] : all) {
        const auto others = of.size() > 1 ? fmt::format(" and {} more", of.size() - 1) : "";
        out += indented(fmt::format("{}{}{}{}: {}", of.front(), others, status.empty() ? "" : " ",
                                    status, text),
                        2, terminal.width) +
               '\n';
    }
    return out.empty() ? out : '\n' + out;
}

std::string who_was_it(const record::Busy& busy) {
    constexpr double least = 0.005; // rounds to no percent
    switch (*busy.cause) {
    case record::DisturbanceCode::foreign_cpu:
    case record::DisturbanceCode::waiting:
        return fmt::format(
            "{} used {}the CPU",
            busy.programs.empty() ? "other programs"
                                  : fmt::format("{}", fmt::join(busy.programs, ", ")),
            busy.share < least ? ""
                               : fmt::format("up to {} of ", record::human_percent(busy.share)));
    case record::DisturbanceCode::steal:
        return "the hypervisor gave CPU time to other machines";
    case record::DisturbanceCode::neighbours:
        return "neighbours used the memory";
    case record::DisturbanceCode::cpus_moved:
        return "the hypervisor moved the CPUs";
    default:
        return "the processor or device slowed down, or other programs used it";
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
    std::map<std::pair<record::Knowledge, std::string>, int> kinds;
    int measured = 0;
    for (const auto& c : run.cases) {
        if (!record::is_measured(c.status)) continue;
        ++kinds[{record::knowledge_of(c), kind_in_words(c)}];
        ++measured;
    }
    if (measured == 0) return {};
    std::string list;
    for (const auto& [kind, count] : kinds)
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, kind.second);
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
    const auto knowledge = record::knowledge_of(c);
    row.value = (knowledge == record::Knowledge::rough ? "about " : "") +
                record::human(*headline.value, record::shown_unit(c, headline));
    // A bound has no interval; two replicas that differ give almost no information.
    if (const auto half = half_width(headline); half && knowledge != record::Knowledge::at_least)
        row.interval = *half > 1 ? ">±100%" : "±" + record::human_percent(*half);
    if (const auto share = record::share_of_ceiling(c)) row.ceiling = record::human_percent(*share);
    return row;
}

std::string summary_text(const record::Run& run, const Terminal& terminal) {
    const Names names{run};
    const auto groups = by_kind(run);
    std::vector<const record::Case*> cases;
    for (const auto& group : groups) cases.insert(cases.end(), group.begin(), group.end());
    auto uncoloured = terminal;
    uncoloured.colour = false;
    std::istringstream lines{case_table(cases, names, uncoloured)};
    auto out = first_line(run, terminal);
    for (std::string head; const auto& group : groups) {
        auto title = kind_in_words(*group.front());
        if (const auto causes = causes_of(group); !causes.empty()) title += ": " + causes;
        // The first title and the names of the columns share a line where there is room.
        if (&group == &groups.front()) {
            std::getline(lines, head);
            const auto width = std::min(head.find_first_not_of(' '), head.size());
            if (title.size() + 2 <= width)
                head.erase(0, title.size());
            else
                out += std::exchange(head, "") + '\n';
        }
        out += paint(terminal, paint_of(group.front()->status), title) + std::exchange(head, "") +
               '\n';
        for (std::size_t i = 0; i < group.size(); ++i) {
            std::string line;
            std::getline(lines, line);
            out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        }
    }
    return out + remarks(run, names, terminal);
}

TimeRange time_of(const plan::Interleaving& turns) {
    TimeRange time{.least = turns.expected_seconds, .most = turns.expected_seconds};
    for (const auto& run : turns.runs)
        time.most += run.plan.patience_seconds.value_or(run.plan.expected_seconds);
    if (const auto limit = turns.runs.front().plan.most_seconds) // patience is within it
        time.most = std::max(time.least, std::min(time.most, *limit));
    return time;
}

std::string size_in_words(const plan::Interleaving& turns) {
    const auto& plan = turns.runs.front().plan;
    const int fewest = plan.fewest_replicas.value_or(plan.replicas);
    const auto each = turns.runs.size() > 1
                          ? fmt::format("{} variants, {} pair{}", turns.runs.size(), plan.replicas,
                                        plan.replicas == 1 ? "" : "s")
                          : fmt::format("{}{} replica{} each",
                                        fewest < plan.replicas ? fmt::format("{} to ", fewest) : "",
                                        plan.replicas, plan.replicas == 1 ? "" : "s");
    const auto time = time_of(turns);
    return fmt::format("{} case{}, {}, {}", plan.cases.size(), plan.cases.size() == 1 ? "" : "s",
                       each, duration_range(time.least, time.most));
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
        print_error(plan.soak_seconds
                        ? fmt::format("{}: {} case{}, repeated for {}\n", plan.suite,
                                      plan.cases.size(), plan.cases.size() == 1 ? "" : "s",
                                      duration_text(*plan.soak_seconds))
                        : fmt::format("{}: {}\n", plan.suite, size_in_words(turns_)));
    print_error(fmt::format("{}{}{} {}\n", variant, variant.empty() ? "" : " ",
                            resumed ? "continuing" : "writing to", folder.string()));
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
                    duration_text(estimate.remaining_seconds), turn, progress.phase, name);
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
