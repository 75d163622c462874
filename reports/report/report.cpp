// SPDX-License-Identifier: Apache-2.0

#include "report/report.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/check.hpp"
#include "document/texts/device.hpp"
#include "document/texts/facts.hpp"
#include "document/texts/report.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "report/answer.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/roofline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using record::Case;
using record::Run;
using record::Status;

constexpr std::size_t values_per_strip =
    200; // what the record keeps; more would be no record of ours

constexpr std::size_t strips_per_row = 12; // panels that can still be told apart in a table cell

std::string english_title(std::string_view name) {
    const auto* definition = record::find_metric(name);
    return std::string{definition != nullptr ? definition->title : name};
}

/// Questions about a service: how long half of the calls take, and all but one in a hundred.
std::string with_percentiles(const record::Metric& metric, std::string_view unit) {
    std::string value = record::human(*metric.value, unit);
    if (!metric.p99 || !metric.median) return value;
    return say<text::words::percentiles>(value, record::human(*metric.median, unit),
                                         record::human(*metric.p99, unit));
}

/// One process says nothing of the next: an interval is one between processes.
std::string interval_of(const record::Metric& metric) {
    return metric.interval_scope == record::IntervalScope::between_replicas
               ? interval_in_words(metric)
               : "";
}

void add_figures(const Case& c, Row& row) {
    const record::Metric* first = headline(c);
    if (first == nullptr) return;
    row.unit = record::shown_unit(c, *first);
    row.value = record::human(*first->value, row.unit);
    row.title = metric_title(first->name);
    row.interval = interval_of(*first);
    row.covers = covers_in_words(c, *first);
    row.between_processes = first->interval_scope == record::IntervalScope::between_replicas;
    row.number = first->value;
    row.low = first->low;
    row.high = first->high;
    row.higher_is_better = first->higher_is_better;
    for (std::size_t i = 1; i < c.metrics.size(); ++i)
        if (const auto& metric = c.metrics[i]; metric.value) {
            const auto unit = record::shown_unit(c, metric);
            row.figures.push_back({.title = metric_title(metric.name),
                                   .text = with_percentiles(metric, unit),
                                   .key = english_title(metric.name),
                                   .number = metric.value,
                                   .unit = unit,
                                   .low = metric.low,
                                   .high = metric.high,
                                   .interval = interval_of(metric),
                                   .name = metric.name});
        }
}

document::Fact detail(const Entry& name, std::string text) {
    return {.name = std::string{language_in_use() == Language::zh ? name.zh : name.en},
            .text = std::move(text),
            .key = name.en};
}

void add_notes(const Case& c, Row& row) {
    if (c.status == Status::incorrect) {
        const std::string detail = c.verification ? c.verification->detail : "";
        row.notes.push_back(detail.empty() ? say<text::check::no_rate>()
                                           : say<text::check::no_rate_because>(detail));
    }
    row.disturbances = disturbances_in_words(c.telemetry);
    row.cause = causes_in_words(c.telemetry);
    // What disturbed a value says why its replicas differ: their numbers are behind it.
    if (auto reason = reason_in_words(c); !reason.empty()) {
        if (row.cause.empty() || !is_measured(row.status))
            row.notes.push_back(std::move(reason));
        else
            row.details.push_back(detail(text::report::reason, std::move(reason)));
    }
    if (const auto part = record::part_of(c);
        part && c.reason_code != record::ReasonCode::not_measured)
        row.notes.push_back(say<text::check::partial>(part->measured, part->planned));
    std::ranges::move(levels_beside(c), std::back_inserter(row.notes));
    if (c.version > 1 && headline(c) != nullptr)
        row.details.push_back(
            detail(text::facts::note, say<text::check::newer_version>(c.version)));
    for (const auto& warning : c.warnings) row.notes.push_back(warning);
    if (std::string text = device_in_words(c); !text.empty() && headline(c) != nullptr)
        row.details.push_back(detail(text::device::while_measuring, std::move(text)));
}

/// Bytes of its message or footprint; if a symbol stands for the size, those of the setting.
std::optional<double> bytes_of(const Case& c) {
    for (const auto& parameter : c.parameters) {
        if (!is_bytes(parameter.name)) continue;
        if (const auto bytes = record::number(parameter.value)) return bytes;
        if (const auto bytes = record::number(c.settings, parameter.name)) return bytes;
    }
    return std::nullopt;
}

void add_strips(const Case& c, Row& row) {
    if (headline(c) == nullptr) return;
    for (const auto& replica : c.replicas) {
        if (replica.values.empty() || row.strips.size() == strips_per_row) continue;
        const auto count = std::min(replica.values.size(), values_per_strip);
        row.strips.push_back({{replica.values.begin(),
                               replica.values.begin() + static_cast<std::ptrdiff_t>(count)}});
    }
}

std::string brief_name(const Case& c) {
    std::set<std::string, std::less<>> all;
    for (const auto& parameter : c.parameters) all.insert(parameter.name);
    return case_name(c.benchmark, c.parameters, c.settings, all);
}

Row make_row(const Case& c) {
    const auto name = case_name(c.benchmark, c.parameters, c.settings);
    Row row{.benchmark = c.benchmark,
            .name = name,
            .brief = brief_name(c),
            .short_name = name,
            .place = record::words_of(c.place),
            .bytes = bytes_of(c),
            .what = parameters_in_words(c),
            .parts = parameter_parts(c),
            .identity = record::identity(c),
            .library = c.library,
            .status = c.status,
            .settings = settings_in_words(c)};
    for (const auto& parameter : c.parameters) row.parameters.push_back(parameter.name);
    // A case that says ok beside a failed check is wrong all the same.
    if (c.verification && !c.verification->passed && (is_measured(c.status)))
        row.status = Status::incorrect;
    if (is_measured(row.status)) row.knowledge = record::knowledge_of(c);
    add_figures(c, row);
    add_notes(c, row);
    return row;
}

/// The sections' order is that in which families come first in the run.
class SectionBuilder {
public:
    explicit SectionBuilder(Report& report) : report_{report} {}

    void add(const Case& c, bool on_curve, bool with_strips) {
        const std::size_t index = section_of(family_of(c.benchmark));
        Row row = make_row(c);
        row.on_curve = on_curve;
        if (with_strips) add_strips(c, row);
        if (row.number) add_bounds(c, index, row);
        const bool has_value = row.number.has_value();
        row.has_matrix = has_value && !c.tables.empty();
        if (!on_curve) cases_[index].push_back(&c);
        report_.sections[index].rows.push_back(std::move(row));
        if (has_value)
            std::ranges::move(heat_maps(c), std::back_inserter(report_.sections[index].maps));
    }

    /// Says once, for the table, which parameters all its rows share; names say the others.
    void share_parameters() {
        for (const auto& [index, cases] : cases_) {
            if (cases.size() < 2) continue;
            std::map<std::pair<std::string_view, std::string>, std::size_t> cases_with;
            for (const auto* c : cases) {
                const auto parts = parameter_parts(*c);
                for (std::size_t i = 0; i < parts.size(); ++i)
                    ++cases_with[{c->parameters[i].name, parts[i]}];
            }
            std::set<std::string, std::less<>> said;
            std::vector<std::string> common;
            const auto parts = parameter_parts(*cases.front());
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const auto& name = cases.front()->parameters[i].name;
                if (cases_with[{name, parts[i]}] != cases.size()) continue;
                said.insert(name);
                common.push_back(parts[i]);
            }
            auto& section = report_.sections[index];
            section.common = join(common);
            auto next = cases.begin();
            for (auto& row : section.rows)
                if (!row.on_curve) {
                    const auto& c = **next++;
                    row.short_name = case_name(c.benchmark, c.parameters, c.settings, said);
                }
        }
    }

private:
    /// A row shows its share of the first bound of each kind, and by number what that is.
    void add_bounds(const Case& c, std::size_t section, Row& row) {
        std::vector<record::Ceiling> all{c.ceiling};
        all.insert(all.end(), c.other_ceilings.begin(), c.other_ceilings.end());
        std::ranges::stable_partition(all, [](const auto& ceiling) {
            return ceiling.kind == record::CeilingKind::datasheet;
        });
        for (const auto& ceiling : all) {
            const auto share = record::share_of_ceiling(c, ceiling);
            const std::string text = ceiling_in_words(c, ceiling);
            if (!share || text.empty()) {
                if (!text.empty()) row.details.push_back(detail(text::report::bound, text));
                continue;
            }
            const auto* first = bound_of(row, ceiling.kind);
            if (first != nullptr)
                row.details.push_back(
                    detail(text::report::bound,
                           say<text::report::of_other_bound>(record::human_percent(*share), text)));
            row.bounds.push_back({.kind = ceiling.kind,
                                  .share = record::human_percent(*share),
                                  .note = first != nullptr ? first->note : note_of(section, text),
                                  .number = *ceiling.value});
        }
    }
    std::size_t section_of(const std::string& family) {
        const auto [entry, is_new] = sections_.try_emplace(family, report_.sections.size());
        if (is_new) {
            auto words = family_words(family);
            report_.sections.push_back(Section{.family = family,
                                               .title = std::move(words.title),
                                               .question = std::move(words.question)});
        }
        return entry->second;
    }
    std::size_t note_of(std::size_t section, const std::string& text) {
        auto& notes = report_.sections[section].ceilings;
        const auto [entry, is_new] = notes_.try_emplace({section, text}, notes.size());
        if (is_new) notes.push_back(text);
        return entry->second;
    }

    Report& report_;
    std::map<std::string, std::size_t> sections_;
    std::map<std::size_t, std::vector<const Case*>> cases_; ///< of a section's table
    std::map<std::pair<std::size_t, std::string>, std::size_t> notes_;
};

/// A remark among the findings, with the cases it concerns, is not repeated in every row.
void drop_repeated_notes(Report& report) {
    std::set<std::string> said;
    for (const auto& finding : report.findings) said.insert(finding.what);
    for (auto& section : report.sections)
        for (auto& row : section.rows)
            std::erase_if(row.notes, [&](const auto& note) {
                return said.contains(capitalised(as_sentence(note)));
            });
}

/// Says once, for the section, the library of all its rows: nothing of the host's or the device's own.
void share_library(Section& section) {
    const auto& first = section.rows.front();
    if (!std::ranges::all_of(section.rows,
                             [&](const Row& row) { return row.library == first.library; }))
        return;
    section.library = first.library;
    if (!first.place.starts_with(first.library))
        section.common =
            section.common.empty() ? first.library : join({section.common, first.library});
}

/// Says once, for the section, what all intervals cover.
void share_covers(Section& section) {
    std::string common;
    for (const auto& row : section.rows) {
        if (row.value.empty()) continue;
        if (common.empty()) common = row.covers;
        if (row.covers != common) return;
    }
    section.covers = common;
}

void add_missing(const Run& run, Report& report) {
    std::map<std::pair<Status, std::string>, std::size_t> groups;
    for (const auto& c : run.cases) {
        if (headline(c) != nullptr || c.status == Status::incorrect) continue;
        if (c.verification && !c.verification->passed) continue;
        auto reason = reason_in_words(c);
        const auto [entry, is_new] = groups.try_emplace({c.status, reason}, report.missing.size());
        if (is_new) report.missing.push_back({.status = c.status, .reason = std::move(reason)});
        report.missing[entry->second].cases.push_back(record::identity(c));
    }
    // The commonest reason first.
    std::ranges::sort(report.missing, [](const auto& a, const auto& b) {
        return std::tuple{b.cases.size(), a.status, a.reason} <
               std::tuple{a.cases.size(), b.status, b.reason};
    });
}

std::string number_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.3g}", *value) : "";
}

double share_of_bound(const record::Verification& check) {
    return check.error && check.bound && *check.bound > 0 ? *check.error / *check.bound : 0;
}

void add_checks(const Run& run, std::size_t listed, Report& report) {
    std::map<std::pair<std::string, std::string>, std::size_t> groups;
    for (const auto& c : run.cases) {
        if (!c.verification) continue;
        const auto& check = *c.verification;
        const auto [entry, is_new] =
            groups.try_emplace({c.benchmark, check.method}, report.checks.size());
        if (is_new) report.checks.push_back({.benchmark = c.benchmark, .method = check.method});
        auto& group = report.checks[entry->second];
        ++group.total;
        if (check.passed) {
            ++group.passed;
            group.largest = std::max(group.largest, share_of_bound(check));
            if (listed == 0) continue;
        }
        if (check.passed) --listed;
        group.checks.push_back(
            {.what = say<text::words::in_brackets>(parameters_in_words(c), c.library),
             .error = number_text(check.error),
             .bound = number_text(check.bound),
             .passed = check.passed,
             .detail = check.detail});
    }
    for (auto& group : report.checks)
        group.outcome = outcome_of(group.passed, group.total, group.largest);
}

} // namespace

std::string outcome_of(std::size_t passed, std::size_t total, double largest) {
    std::string text = say<text::check::passed>(passed, total);
    if (!(largest > 0)) return text;
    return say<text::check::largest_error>(text, record::human_percent(largest));
}

Report make_report(const Run& original, const ReportOptions& options) {
    Run run = original;
    record::make_plain(run);
    Report report{.label = plain(options.label),
                  .source = plain(options.source),
                  .title = title_of(run),
                  .date = seconds_of(std::string_view{run.started}.substr(0, 10)),
                  .machine = machine_facts(run.machine),
                  .software = software_facts(run.machine),
                  .errors = error_facts(run),
                  .cause = busy_in_words(record::busy_of(run))};
    report.soak = soak_section(run);
    report.rooflines = make_rooflines(run);
    report.serving = find_serving(run, options.p99);
    settle_ceilings(run);
    translate(run);
    for (const auto& left : run.left_out) report.left_out.push_back(as_sentence(left.note));
    report.run = run_facts(run, report.source);
    SectionBuilder sections{report};
    const auto curves = find_curves(run);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < run.cases.size(); ++i) {
        const auto& c = run.cases[i];
        // Cases that do not apply to this machine are listed with the reason, not among the figures.
        if (c.status == Status::skipped || c.status == Status::interrupted ||
            c.status == Status::not_started)
            continue;
        const bool on_curve = curves.on_curve[i];
        sections.add(c, on_curve, !on_curve && rows++ < options.strip_rows);
    }
    sections.share_parameters();
    for (auto& section : report.sections)
        for (const auto& chart : curves.charts)
            if (family_of(chart.benchmark) == section.family) section.curves.push_back(chart);
    if (rows > options.strip_rows)
        report.caps.push_back(say<text::check::strips_capped>(options.strip_rows, rows));
    add_missing(run, report);
    add_checks(run, options.listed_checks, report);
    report.findings = find_findings(run, curves.charts);
    drop_repeated_notes(report);
    for (auto& section : report.sections) {
        share_library(section);
        share_covers(section);
    }
    report.tiles = tiles_of(report);
    report.summary = summarise(run, report);
    judge(run, report);
    return report;
}

} // namespace assay::report
