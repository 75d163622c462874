// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/facts.hpp"
#include "document/texts/report.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using document::Document;
using document::Facts;
using document::Paragraph;
using document::Table;
using document::Tone;

constexpr std::size_t cases_listed = 12; // of one reason; the rest is a number

std::string fact_text(const std::vector<Fact>& facts, const Entry& name) {
    const auto found = std::ranges::find(facts, name.en, &Fact::key);
    return found == facts.end() ? "" : found->text;
}

void add_fact(std::vector<Fact>& facts, const std::string& name, const std::string& text) {
    if (!text.empty()) facts.push_back({.name = name, .text = text, .key = name});
}

/// Where, what and when, in one line.
std::string sub_of(const Report& report) {
    std::string sub;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) sub += (sub.empty() ? "" : " · ") + text;
    };
    add(fact_text(report.machine, text::facts::provider));
    add(fact_text(report.machine, text::facts::operating_system));
    if (const auto suite = fact_text(report.run, text::facts::suite); !suite.empty())
        add(say<text::report::suite>(suite));
    auto started = fact_text(report.run, text::facts::started);
    std::ranges::replace(started, 'T', ' ');
    if (started.ends_with('Z')) started.replace(started.size() - 1, 1, " UTC");
    add(started);
    return sub;
}

document::Section facts_of(std::string title, const std::vector<Fact>& facts) {
    return {.title = std::move(title), .blocks = {Facts{.facts = facts}}};
}

document::Section findings_of(const Report& report) {
    return {.title = say<text::report::findings>(),
            .blocks = {document::Findings{.findings = report.findings}}};
}

document::Section roofline_of(const Report& report) {
    document::Section section{.title = say<text::report::roofline>(),
                              .question = say<text::report::roofline_question>()};
    for (const auto& roofline : report.rooflines) {
        document::Chart chart{.title = roofline.place, .caption = {}};
        document::RooflineChart data{.peaks = roofline.peaks,
                                     .bandwidths = roofline.bandwidths,
                                     .levels = roofline.levels,
                                     .points = {roofline.cases.begin(), roofline.cases.end()}};
        for (const auto& roof : roofline.peaks)
            chart.lines.push_back(
                say<text::words::labelled>(roof.name, record::human(roof.value, "FLOP/s")));
        for (const auto* roofs : {&roofline.levels, &roofline.bandwidths})
            for (const auto& roof : *roofs)
                chart.lines.push_back(
                    say<text::words::labelled>(roof.name, record::human(roof.value, "B/s")));
        for (const auto& point : roofline.cases)
            chart.lines.push_back(say<text::report::roofline_point>(
                say<text::words::in_brackets>(point.label, point.library),
                record::human(point.rate, "FLOP/s"), fmt::format("{:.3g}", point.intensity)));
        chart.data = std::move(data);
        section.blocks.emplace_back(std::move(chart));
    }
    return section;
}

document::Section missing_of(const Report& report) {
    Table table{
        .caption = say<text::report::without_figure>(),
        .columns = {{.title = say<text::report::reason>()}, {.title = say<text::report::status>()}},
        .sheet = say<text::report::not_measured>()};
    for (const auto& group : report.missing)
        table.rows.push_back(
            {.cells = {
                 {.text = group.reason.empty() ? say<text::report::no_reason>() : group.reason,
                  .notes = {list_of(group.cases, cases_listed)}},
                 {.text = std::string{status_in_words(group.status)},
                  .tone = group.status == record::Status::skipped ? Tone::quiet : Tone::bad}}});
    document::Section section{.title = say<text::report::not_measured>(),
                              .blocks = {std::move(table)}};
    for (const auto& note : report.left_out) section.blocks.emplace_back(Paragraph{.text = note});
    return section;
}

/// What failed; the methods and what passed are out of the way.
document::Section checks_of(const Report& report) {
    document::Section section{.title = say<text::report::checks>()};
    Table passed{.caption = "",
                 .columns = {{.title = say<text::report::one_case>()},
                             {.title = say<text::report::error>(), .numeric = true},
                             {.title = say<text::report::bound>(), .numeric = true},
                             {.title = say<text::report::result>()}},
                 .sheet = say<text::report::checks>()};
    Table methods{.caption = "",
                  .columns = {{.title = say<text::report::one_case>()},
                              {.title = say<text::report::result>()},
                              {.title = say<text::report::method>()}}};
    std::size_t right = 0;
    std::size_t all = 0;
    double largest = 0;
    for (const auto& group : report.checks) {
        right += group.passed;
        all += group.total;
        largest = std::max(largest, group.largest);
        methods.rows.push_back({.cells = {{.text = case_name(group.benchmark, {})},
                                          {.text = group.outcome},
                                          {.text = group.method}}});
        for (const auto& check : group.checks) {
            if (!check.passed)
                section.blocks.emplace_back(
                    Paragraph{.text = say<text::report::check>(check.what, check.error, check.bound,
                                                               check.detail),
                              .tone = Tone::bad,
                              .mark = "!!"});
            passed.rows.push_back({.cells = {{.text = check.what},
                                             {.text = check.error},
                                             {.text = check.bound},
                                             {.text = check.passed ? say<text::report::passed>()
                                                                   : say<text::report::wrong>(),
                                              .detail = check.detail,
                                              .tone = check.passed ? Tone::good : Tone::bad}},
                                   .group = group.benchmark});
        }
    }
    section.blocks.insert(section.blocks.begin(), Paragraph{.text = say<text::words::sentence>(
                                                                outcome_of(right, all, largest))});
    methods.folded = say_count<text::report::methods>(methods.rows.size());
    section.blocks.emplace_back(std::move(methods));
    passed.folded = say_count<text::report::all_checks>(passed.rows.size());
    section.blocks.emplace_back(std::move(passed));
    return section;
}

} // namespace

Document make_document(const Report& report) {
    Document document{.kind = "report",
                      .kicker = say<text::report::benchmark_report>(),
                      .title = report.label.empty()
                                   ? report.title
                                   : say<text::words::labelled>(report.label, report.title),
                      .sub = sub_of(report),
                      .verdict = report.verdict,
                      .tone = report.tone,
                      .date = report.date};
    if (report.soak) document.sections.push_back(*report.soak);
    if (!report.tiles.empty() && !report.soak)
        document.sections.push_back(
            {.title = say<text::report::key_values>(),
             .blocks = {Facts{.facts = report.tiles, .look = Facts::Look::tiles}},
             .heading = false});
    if (!report.findings.empty()) document.sections.push_back(findings_of(report));
    std::ranges::move(scorecard(report), std::back_inserter(document.sections));
    if (auto serving = serving_section(report.serving))
        document.sections.push_back(*std::move(serving));
    if (!report.rooflines.empty()) document.sections.push_back(roofline_of(report));
    if (!report.missing.empty() || !report.left_out.empty())
        document.sections.push_back(missing_of(report));
    if (!report.checks.empty()) document.sections.push_back(checks_of(report));
    document.sections.push_back(facts_of(say<text::report::machine>(), report.machine));
    if (!report.software.empty())
        document.sections.push_back(facts_of(say<text::report::libraries>(), report.software));
    if (!report.errors.empty())
        document.sections.push_back(facts_of(say<text::report::error_counters>(), report.errors));
    auto run = report.run;
    add_fact(run, say<text::facts::cases>(), fact_text(report.summary, text::facts::cases));
    add_fact(run, say<text::report::other_load>(),
             fact_text(report.summary, text::facts::quietness));
    document.sections.push_back(facts_of(say<text::report::run>(), run));
    for (const auto& cap : report.caps) document.foot.push_back({.text = cap, .tone = Tone::quiet});
    document.foot.push_back({.text = say<text::report::how_to_read>(), .tone = Tone::quiet});
    return document;
}

} // namespace assay::report
