// SPDX-License-Identifier: Apache-2.0

#include "report/findings.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/finding.hpp"
#include "document/texts/import.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "reference/links.hpp"
#include "report/curves.hpp"
#include "report/pairs.hpp"
#include "report/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

namespace assay::report {

using namespace document;
namespace {

using record::Case;
using record::Run;
using record::Status;
using Findings = std::vector<Finding>;

// Above this share other programs change what we measure: a run is worth repeating.
constexpr double foreign_limit = 0.02;
// Steal is time we believed to be ours; 1% is above what timer ticks of a hypervisor cost.
constexpr double steal_limit = 0.01;
// Two figures of one machine differ by this much: less above its ceiling is not a finding.
constexpr double ceiling_tolerance = 1.03;
// Names listed in one sentence before it becomes a wall.
constexpr std::size_t names_shown = 3;

/// "FFT fp64, 64 points (fftw)", of a device "GEMM bf16 (cublaslt, cuda:1)".
std::string name_with_place(const Case& c) {
    const auto place = record::words_of(c.place);
    return say<text::words::in_brackets>(case_name(c.benchmark, c.parameters, c.settings),
                                         place == "host"                ? c.library
                                         : place.starts_with(c.library) ? place
                                                                        : join({c.library, place}));
}

/// Three names, of more the benchmarks with their numbers: "Launch of a kernel (4), Host and device copies (3)".
std::string list_cases(const std::vector<const Case*>& cases) {
    std::vector<std::string> names;
    if (cases.size() <= names_shown) {
        for (const auto* c : cases) names.push_back(name_with_place(*c));
        return list_of(names, names_shown);
    }
    std::map<std::string, std::size_t> counts;
    for (const auto* c : cases) ++counts[case_name(c->benchmark, {})];
    std::vector<std::pair<std::string, std::size_t>> kinds{counts.begin(), counts.end()};
    std::ranges::stable_sort(kinds, std::ranges::greater{},
                             &std::pair<std::string, std::size_t>::second);
    for (const auto& [name, count] : kinds)
        names.push_back(count == 1 ? name : say<text::words::in_brackets>(name, count));
    return list_of(names, 2 * names_shown);
}

std::vector<const Case*> cases_where(const Run& run, const std::function<bool(const Case&)>& test) {
    std::vector<const Case*> cases;
    for (const auto& c : run.cases)
        if (test(c)) cases.push_back(&c);
    return cases;
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
        cases_where(run, [](const Case& c) { return c.status == Status::incorrect; });
    if (names.empty()) return;
    out.push_back({Severity::serious,
                   say_count<text::finding::wrong>(names.size(), list_cases(names)),
                   say<text::finding::wrong_do>()});
}

void broken_cases(const Run& run, Findings& out) {
    const auto names = cases_where(run, [](const Case& c) {
        return c.status == Status::failed || c.status == Status::crashed ||
               c.status == Status::timed_out || c.status == Status::not_started;
    });
    if (names.empty()) return;
    out.push_back(
        {Severity::serious, say_count<text::finding::broken>(names.size(), list_cases(names)),
         run.imported ? say<text::import::broken_do>() : say<text::finding::broken_do>()});
}

void not_finished(const Run& run, Findings& out) {
    const auto names =
        cases_where(run, [](const Case& c) { return c.status == Status::interrupted; });
    if (names.empty() && run.status != "interrupted") return;
    out.push_back({Severity::caution,
                   names.empty() ? say<text::finding::stopped>()
                                 : say_count<text::finding::not_reached>(names.size()),
                   say<text::finding::stopped_do>()});
}

/// Do the intervals of a figure and of its measured bound not touch?
bool is_apart(const Case& c, const Case* bound) {
    const auto* figure = headline(c);
    const auto* limit = bound != nullptr ? headline(*bound) : nullptr;
    const double value = c.ceiling.value.value_or(0);
    if (figure->higher_is_better)
        return figure->low.value_or(*figure->value) >
               (limit != nullptr ? limit->high.value_or(value) : value);
    return figure->high.value_or(*figure->value) <
           (limit != nullptr ? limit->low.value_or(value) : value);
}

void above_ceiling(const Run& run, Findings& out) {
    const Bounds bounds{run};
    double largest = 0;
    const auto names = cases_where(run, [&](const Case& c) {
        const double share = ceiling_share(c).value_or(0);
        if (share <= ceiling_tolerance || !is_apart(c, bounds.of(c))) return false;
        largest = std::max(largest, share);
        return true;
    });
    if (names.empty()) return;
    out.push_back({Severity::caution,
                   say_count<text::finding::above_ceiling>(
                       names.size(), record::human_percent(largest), list_cases(names)),
                   say<text::finding::above_ceiling_do>()});
}

void unstable_cases(const Run& run, Findings& out) {
    const auto disturbed =
        cases_where(run, [](const Case& c) { return c.status == Status::disturbed; });
    // Where the cause is known the first finding says it all.
    if (!disturbed.empty() && !record::busy_of(run).cause)
        out.push_back(
            {Severity::caution,
             say_count<text::finding::stay_disturbed>(disturbed.size(), list_cases(disturbed)),
             say<text::finding::stay_disturbed_do>()});
    const auto two_levels = cases_where(
        run, [](const Case& c) { return c.reason_code == record::ReasonCode::two_levels; });
    if (!two_levels.empty())
        out.push_back(
            {Severity::caution,
             say_count<text::finding::two_levels>(two_levels.size(), list_cases(two_levels)),
             say<text::finding::two_levels_do>()});
    const auto names = cases_where(run, [](const Case& c) {
        return c.status == Status::unstable && c.reason_code != record::ReasonCode::two_levels;
    });
    if (names.empty()) return;
    out.push_back({Severity::caution,
                   say_count<text::finding::unstable>(names.size(), list_cases(names)),
                   say<text::finding::unstable_do>()});
}

bool rose(const record::ErrorCounter& counter) {
    return counter.before && counter.after && *counter.after > *counter.before;
}

/// The errors' meaning for the values.
Severity weight(const record::ErrorCounter& counter) {
    const bool is_lost = counter.counter == "ue_count" || counter.counter == "nonfatal" ||
                         counter.counter == "fatal" || counter.source == "driver";
    if (is_lost) return Severity::serious;
    // Packets that nobody wanted are dropped on most networks.
    const bool is_usual = counter.counter == "rx_dropped" || counter.counter == "tx_dropped";
    return is_usual ? Severity::note : Severity::caution;
}

void errors_counted(const Run& run, Findings& out) {
    std::map<Severity, std::vector<std::string>> risen;
    std::vector<std::string> beyond;
    for (const auto& counter : run.error_counters) {
        if (!rose(counter)) continue;
        auto& list = counter.source == "allowance" ? beyond : risen[weight(counter)];
        list.push_back(fmt::format("{} {} {} +{}", counter.source, counter.device, counter.counter,
                                   *counter.after - *counter.before));
    }
    if (!beyond.empty())
        out.push_back({Severity::caution,
                       say<text::finding::allowance>(list_of(beyond, names_shown)),
                       say<text::finding::allowance_do>()});
    for (const auto& [severity, names] : risen)
        out.push_back({severity, say<text::finding::errors_rose>(list_of(names, names_shown)),
                       severity == Severity::serious   ? say<text::finding::errors_serious_do>()
                       : severity == Severity::caution ? say<text::finding::errors_caution_do>()
                                                       : say<text::finding::errors_note_do>()});
}

void memory_settings(const Run& run, Findings& out) {
    using record::Telemetry;
    if (const auto pages = worst(run, &Telemetry::page_migrations); pages.value_or(0) > 0)
        out.push_back({Severity::note,
                       say_count<text::finding::migrations>(
                           windows_above(run, &Telemetry::page_migrations, 0)),
                       say<text::finding::migrations_do>()});
    if (run.machine.huge_pages == "never")
        out.push_back({Severity::note, say<text::finding::no_huge_pages>(),
                       say<text::finding::no_huge_pages_do>()});
}

void burstable(const Run& run, Findings& out) {
    if (run.machine.platform.burstable == true)
        out.push_back({Severity::caution, say<text::finding::burstable>(run.machine.instance),
                       say<text::finding::burstable_do>()});
}

/// Those that `assay check` fails or cannot judge.
void links(const Run& run, Findings& out) {
    using enum reference::LinkFault;
    const auto& hardware = reference::installed_hardware();
    std::vector<std::string> faults;
    for (const auto& link :
         reference::faults_of_links(run.machine, hardware ? &*hardware : nullptr))
        if (link.fault == nvlinks || (link.fault == lanes && link.is_measured))
            faults.push_back(fmt::format("{} {}/{}", link.where, link.found, link.most));
        else if (link.fault == fabric_unready || link.fault == fabric_degraded)
            faults.push_back(fmt::format("{} {}", link.where, link.text));
    if (!faults.empty())
        out.push_back({Severity::serious, say<text::finding::links>(list_of(faults, names_shown)),
                       say<text::finding::links_do>()});
}

void few_cores(const Run& run, Findings& out) {
    const auto& machine = run.machine;
    const int usable = machine.usable_cores.value_or(0);
    const int cores = machine.cores.value_or(0);
    if (usable <= 0 || usable >= cores) return;
    out.push_back({Severity::note,
                   say_count<text::finding::few_cores>(static_cast<std::size_t>(cores), usable),
                   say<text::finding::few_cores_do>()});
}

void few_replicas(const Run& run, Findings& out) {
    const auto names = cases_where(run, [](const Case& c) {
        const auto* metric = headline(c);
        const bool is_stress = record::find(c.parameters, "stress") != nullptr; // by its course
        return metric != nullptr && !is_stress &&
               metric->interval_scope != record::IntervalScope::between_replicas;
    });
    if (names.empty()) return;
    out.push_back({Severity::note, say_count<text::finding::one_process>(names.size()),
                   run.imported ? say<text::import::one_process_do>()
                                : say<text::finding::one_process_do>()});
}

/// Sentences that the harness wrote: the same one from many cases is said once.
void said_by_cases(const Run& run, Findings& out) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Case*>> by_text;
    const auto add = [&](const std::string& text, const Case& c) {
        auto [entry, is_new] = by_text.try_emplace(text);
        if (is_new) order.push_back(text);
        entry->second.push_back(&c);
    };
    for (const auto& c : run.cases)
        for (const auto& text : c.warnings) add(text, c);
    constexpr std::size_t sentences_shown = 12; // different ones; beyond that nobody reads on
    for (std::size_t i = 0; i < std::min(order.size(), sentences_shown); ++i) {
        const auto& names = by_text.at(order[i]);
        const bool all = names.size() == run.cases.size() && names.size() > 1;
        out.push_back({Severity::caution, capitalised(as_sentence(order[i])),
                       all ? say<text::finding::concerns_all>()
                           : say<text::finding::concerns>(list_cases(names))});
    }
    if (order.size() > sentences_shown)
        out.push_back({Severity::note,
                       say<text::finding::more_warnings>(order.size() - sentences_shown), ""});
}

/// Load by other virtual machines, or the hypervisor.
bool is_of_the_host(record::DisturbanceCode code) {
    using Code = record::DisturbanceCode;
    return code == Code::steal || code == Code::neighbours || code == Code::cpus_moved;
}

std::string who_disturbed(record::DisturbanceCode code, const std::string& cause) {
    using Code = record::DisturbanceCode;
    if (is_of_the_host(code)) return say<text::finding::shared_host>(cause);
    if (code == Code::foreign_cpu || code == Code::waiting || code == Code::device_shared)
        return say<text::finding::busy>(cause);
    return say<text::finding::slowed>(cause);
}

/// The first cause of whatever else is found.
void busy_machine(const Run& run, Findings& out) {
    const auto busy = record::busy_of(run);
    if (!busy.cause) return;
    using Code = record::DisturbanceCode;
    const bool shared = is_of_the_host(*busy.cause);
    const bool others = *busy.cause == Code::foreign_cpu || *busy.cause == Code::waiting ||
                        *busy.cause == Code::device_shared;
    out.push_back({busy.disturbed > 0 ? Severity::caution : Severity::note, busy_in_words(busy),
                   shared   ? say<text::finding::steal_do>()
                   : others ? say<text::finding::other_programs_do>()
                            : say<text::finding::throttled_do>()});
}

} // namespace

std::vector<Finding> find_findings(const Run& run, const std::vector<Sweep>& charts) {
    Findings found = find_slow_pairs(run);
    std::ranges::move(find_in_fabrics(run), std::back_inserter(found));
    std::ranges::move(find_shapes(charts), std::back_inserter(found));
    for (const auto& finder : {wrong_results, broken_cases, not_finished, busy_machine,
                               above_ceiling, said_by_cases, unstable_cases, links, errors_counted,
                               burstable, memory_settings, few_cores, few_replicas})
        finder(run, found);
    Findings out;
    for (const auto severity : {Severity::serious, Severity::caution, Severity::note})
        std::ranges::copy_if(found, std::back_inserter(out),
                             [&](const auto& finding) { return finding.severity == severity; });
    return out;
}

namespace {

std::string cause_of(const record::Busy& busy) {
    record::Disturbance cause{.code = *busy.cause, .values = {}};
    if (busy.share > 0 && *busy.cause == record::DisturbanceCode::foreign_cpu)
        cause.values.push_back(
            {"share", say<text::finding::up_to>(record::human_percent(busy.share))});
    if (!busy.programs.empty()) cause.values.push_back({"programs", join(busy.programs)});
    return who_disturbed(*busy.cause, cause_in_words(cause));
}

} // namespace

std::string busy_cause(const record::Busy& busy) {
    return busy.cause ? say<text::words::sentence>(cause_of(busy)) : "";
}

std::string busy_in_words(const record::Busy& busy) {
    if (!busy.cause) return "";
    std::string text = cause_of(busy);
    const auto count = [](int number) { return static_cast<std::size_t>(std::max(number, 0)); };
    if (busy.measured_again > 0 && busy.disturbed > 0)
        text = say_count<text::finding::again_and_stay>(count(busy.disturbed), text,
                                                        busy.measured_again, busy.cases);
    else if (busy.measured_again > 0)
        text = say<text::finding::again>(text, busy.measured_again, busy.cases);
    else if (busy.disturbed > 0)
        text = say_count<text::finding::stay>(count(busy.disturbed), text, busy.cases);
    else
        text = say<text::finding::in_windows>(text, busy.disturbed_windows, busy.windows);
    return say<text::words::sentence>(text);
}

bool lost_data(const Run& run) {
    return std::ranges::any_of(run.error_counters, [](const auto& counter) {
        return rose(counter) && weight(counter) == Severity::serious;
    });
}

std::string quietness(const Run& run) {
    using record::Telemetry;
    const auto foreign = worst(run, &Telemetry::foreign_cpu);
    const auto steal = worst(run, &Telemetry::steal);
    const auto throttled = worst(run, &Telemetry::throttle_events);
    if (!foreign && !steal && !throttled) return say<text::finding::no_telemetry>();
    std::vector<std::string> parts;
    if (foreign)
        parts.push_back(say<text::finding::foreign_at_most>(record::human_percent(*foreign)));
    if (steal)
        parts.push_back(*steal > 0
                            ? say<text::finding::steal_at_most>(record::human_percent(*steal))
                            : say<text::finding::no_steal>());
    if (throttled)
        parts.push_back(*throttled > 0 ? say<text::finding::did_throttle>()
                                       : say<text::finding::no_throttling>());
    const bool calm = foreign.value_or(0) <= foreign_limit && steal.value_or(0) <= steal_limit &&
                      throttled.value_or(0) <= 0;
    // These are clauses: Chinese puts commas between them, as between the parts of one thing.
    const std::string list =
        language_in_use() == Language::zh ? join(parts) : list_of(parts, parts.size());
    return calm ? say<text::finding::quiet>(list) : say<text::finding::disturbed>(list);
}

} // namespace assay::report
