// SPDX-License-Identifier: Apache-2.0

#include "model/findings.hpp"

#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

namespace assay::report {
namespace {

using record::Case;
using record::Run;
using record::Status;
using Findings = std::vector<Finding>;

// Above this share other programs change what we measure: a run is worth repeating.
constexpr double foreign_limit = 0.02;
// Steal is time we believed to be ours; 1% is above what timer ticks of a hypervisor cost.
constexpr double steal_limit = 0.01;
// A tenth of a percent above its ceiling is rounding, not a finding.
constexpr double ceiling_tolerance = 1.001;
// Names listed in one sentence before it becomes a wall.
constexpr std::size_t names_shown = 3;

std::vector<std::string> names_where(const Run& run, const std::function<bool(const Case&)>& test) {
    std::vector<std::string> names;
    for (const auto& c : run.cases)
        if (test(c)) names.push_back(record::identity(c));
    return names;
}

/// The largest of a telemetry figure over all cases.
template <class Member>
std::optional<double> worst(const Run& run, Member member) {
    std::optional<double> largest;
    for (const auto& c : run.cases)
        if (const auto& value = c.telemetry.*member; value)
            largest = largest ? std::max(*largest, *value) : *value;
    return largest;
}
template <class Member>
std::size_t windows_above(const Run& run, Member member, double limit) {
    return static_cast<std::size_t>(std::ranges::count_if(
        run.cases, [&](const auto& c) { return (c.telemetry.*member).value_or(0) > limit; }));
}

void wrong_results(const Run& run, Findings& out) {
    const auto names =
        names_where(run, [](const Case& c) { return c.status == Status::incorrect; });
    if (names.empty()) return;
    out.push_back(
        {Severity::serious,
         fmt::format("{}: {}.",
                     count_of(names.size(), "case computed a wrong result and shows no rate",
                              "cases computed wrong results and show no rate"),
                     list_of(names, names_shown)),
         "Do not use this library with this hardware before the cause is known; run the "
         "case again alone, and check memory errors in the kernel log."});
}

void broken_cases(const Run& run, Findings& out) {
    const auto names = names_where(run, [](const Case& c) {
        return c.status == Status::failed || c.status == Status::crashed ||
               c.status == Status::timed_out;
    });
    if (names.empty()) return;
    out.push_back(
        {Severity::serious,
         fmt::format("{} failed, crashed or ran out of time: {}.", count_of(names.size(), "case"),
                     list_of(names, names_shown)),
         "The reasons are under \"Not measured\", the worker's output in the run's folder "
         "logs/; the same run with --resume tries them again."});
}

void not_finished(const Run& run, Findings& out) {
    const auto names =
        names_where(run, [](const Case& c) { return c.status == Status::interrupted; });
    if (names.empty() && run.status != "interrupted") return;
    out.push_back({Severity::caution,
                   names.empty()
                       ? "The run was stopped before its end."
                       : fmt::format("The run was stopped before its end: {} not reached.",
                                     count_of(names.size(), "case was", "cases were")),
                   "Continue it with the same command and --resume."});
}

void above_ceiling(const Run& run, Findings& out) {
    const auto names = names_where(
        run, [](const Case& c) { return ceiling_share(c).value_or(0) > ceiling_tolerance; });
    if (names.empty()) return;
    double largest = 0;
    for (const auto& c : run.cases) largest = std::max(largest, ceiling_share(c).value_or(0));
    out.push_back({Severity::caution,
                   fmt::format("{} above the ceiling, up to {} of it: {}.",
                               count_of(names.size(), "figure is", "figures are"),
                               record::human_percent(largest), list_of(names, names_shown)),
                   "The ceiling was measured too low (a disturbed window, a lower clock) or names "
                   "another thing: do not quote these percentages."});
}

void unstable_cases(const Run& run, Findings& out) {
    const auto names = names_where(run, [](const Case& c) { return c.status == Status::unstable; });
    if (names.empty()) return;
    out.push_back({Severity::caution,
                   fmt::format("{} too noisy or drifting to believe to the target: {}.",
                               count_of(names.size(), "figure is", "figures are"),
                               list_of(names, names_shown)),
                   "Their figures are marked; see the strips of batch values for drift and modes, "
                   "then measure again on a quiet machine or with more time (--budget)."});
}

void disturbed(const Run& run, Findings& out) {
    using record::Telemetry;
    if (const auto share = worst(run, &Telemetry::foreign_cpu); share.value_or(0) > foreign_limit)
        out.push_back(
            {Severity::caution,
             fmt::format("Other programs used up to {} of the CPU while {} measured.",
                         record::human_percent(*share),
                         count_of(windows_above(run, &Telemetry::foreign_cpu, foreign_limit),
                                  "case was", "cases were")),
             "Stop them (top shows who they are) and run again."});
    if (const auto share = worst(run, &Telemetry::steal); share.value_or(0) > steal_limit)
        out.push_back(
            {Severity::caution,
             fmt::format("The hypervisor took up to {} of the CPU time from this machine.",
                         record::human_percent(*share)),
             "The host is shared with others: run at another time of day and compare, or ask for a "
             "dedicated host."});
    if (const auto events = worst(run, &Telemetry::throttle_events); events.value_or(0) > 0)
        out.push_back(
            {Severity::caution,
             fmt::format("The processor throttled itself because of heat or power, in {}.",
                         count_of(windows_above(run, &Telemetry::throttle_events, 0), "case")),
             "Check cooling and power limits; sustained rates are what this machine gives "
             "until then."});
}

void memory_settings(const Run& run, Findings& out) {
    using record::Telemetry;
    if (const auto pages = worst(run, &Telemetry::page_migrations); pages.value_or(0) > 0)
        out.push_back(
            {Severity::note,
             fmt::format("The kernel moved memory pages between NUMA nodes in {}.",
                         count_of(windows_above(run, &Telemetry::page_migrations, 0), "case")),
             "For steady figures switch it off: sysctl kernel.numa_balancing=0."});
    if (run.machine.huge_pages == "never")
        out.push_back(
            {Severity::note,
             "Transparent huge pages are off: large arrays cost more address translation.",
             "Memory and matrix figures may be lower than this machine can do: echo madvise "
             "> /sys/kernel/mm/transparent_hugepage/enabled."});
}

void few_cores(const Run& run, Findings& out) {
    const auto& machine = run.machine;
    if (machine.usable_cores <= 0 || machine.usable_cores >= machine.cores) return;
    out.push_back({Severity::note,
                   fmt::format("Only {} of {} may be used here (affinity or container limit).",
                               machine.usable_cores,
                               count_of(static_cast<std::size_t>(machine.cores), "core")),
                   "\"All threads\" means those; lift the limit to measure the whole machine."});
}

void few_replicas(const Run& run, Findings& out) {
    const auto names = names_where(run, [](const Case& c) {
        const auto* metric = headline(c);
        return metric != nullptr &&
               metric->interval_scope != record::IntervalScope::between_replicas;
    });
    if (names.empty()) return;
    out.push_back({Severity::note,
                   fmt::format("{} on one process: the interval does not cover how much the next "
                               "run may differ.",
                               count_of(names.size(), "figure rests", "figures rest")),
                   "Use at least three replicas before comparing: --replicas 3."});
}

/// Sentences that the harness wrote: the same one from many cases is said once.
void said_by_cases(const Run& run, Findings& out) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::string>> by_text;
    const auto add = [&](const std::string& text, const Case& c) {
        auto [entry, is_new] = by_text.try_emplace(text);
        if (is_new) order.push_back(text);
        entry->second.push_back(record::identity(c));
    };
    for (const auto& c : run.cases) {
        const bool above = ceiling_share(c).value_or(0) > ceiling_tolerance;
        for (const auto& text : c.warnings) {
            // What a case says about being above its ceiling is gathered in above_ceiling().
            if (above && text.find(c.ceiling.source) != std::string::npos) continue;
            add(text, c);
        }
    }
    constexpr std::size_t sentences_shown = 12; // different ones; beyond that nobody reads on
    for (std::size_t i = 0; i < std::min(order.size(), sentences_shown); ++i) {
        const auto& names = by_text.at(order[i]);
        out.push_back(
            {Severity::caution, order[i],
             fmt::format("Concerns {}.", names.size() == run.cases.size() && names.size() > 1
                                             ? "every case"
                                             : list_of(names, names_shown))});
    }
    if (order.size() > sentences_shown)
        out.push_back({Severity::note,
                       fmt::format("{} more warnings are shown beside their cases.",
                                   order.size() - sentences_shown),
                       ""});
}

} // namespace

std::vector<Finding> find_findings(const Run& run) {
    Findings found;
    for (const auto& finder :
         {wrong_results, broken_cases, not_finished, above_ceiling, said_by_cases, unstable_cases,
          disturbed, memory_settings, few_cores, few_replicas})
        finder(run, found);
    Findings out;
    for (const auto severity : {Severity::serious, Severity::caution, Severity::note})
        std::ranges::copy_if(found, std::back_inserter(out),
                             [&](const auto& finding) { return finding.severity == severity; });
    return out;
}

std::string quietness(const Run& run) {
    using record::Telemetry;
    const auto foreign = worst(run, &Telemetry::foreign_cpu);
    const auto steal = worst(run, &Telemetry::steal);
    const auto throttled = worst(run, &Telemetry::throttle_events);
    if (!foreign && !steal && !throttled) return "Not known: this run holds no telemetry.";
    std::vector<std::string> parts;
    if (foreign)
        parts.push_back("other programs used at most " + record::human_percent(*foreign) +
                        " of the CPU");
    if (steal)
        parts.push_back(*steal > 0 ? "the hypervisor took at most " + record::human_percent(*steal)
                                   : "no time was taken by a hypervisor");
    if (throttled) parts.push_back(*throttled > 0 ? "the processor throttled" : "no throttling");
    const bool calm = foreign.value_or(0) <= foreign_limit && steal.value_or(0) <= steal_limit &&
                      throttled.value_or(0) <= 0;
    return fmt::format("{}: {}.", calm ? "Quiet" : "Disturbed", list_of(parts, parts.size()));
}

} // namespace assay::report
