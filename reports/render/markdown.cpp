// SPDX-License-Identifier: Apache-2.0

#include "render/markdown.hpp"

#include "document/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"
#include "render/heat_map.hpp"
#include "render/line_chart.hpp"
#include "render/markdown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

using markdown::quote;
using markdown::row;

void heading(std::string& out, std::string_view text) {
    out += fmt::format("\n## {}\n\n", quote(text));
}

/// The head of a table; the columns at `right` hold numbers.
void head(std::string& out, std::initializer_list<std::string> names, std::size_t first_right,
          std::size_t last_right) {
    row(out, names);
    out += '|';
    for (std::size_t i = 0; i < names.size(); ++i)
        out += i >= first_right && i <= last_right ? " ---: |" : " --- |";
    out += '\n';
}

void facts(std::string& out, std::string_view title, const std::vector<Fact>& facts) {
    if (facts.empty()) return;
    out += fmt::format("\n| {} | |\n| --- | --- |\n", title);
    for (const auto& fact : facts) row(out, {quote(fact.name), quote(fact.text)});
}

void findings(std::string& out, const Report& report) {
    if (report.findings.empty()) return;
    heading(out, say<text::report::findings>());
    for (const auto& finding : report.findings) {
        std::vector<std::string> said{quote(finding.what)};
        if (!finding.action.empty()) said.push_back(quote(finding.action));
        out += fmt::format("- {}\n", say<text::words::labelled>(
                                         fmt::format("**{}**", severity_in_words(finding.severity)),
                                         sentences(said)));
    }
}

std::string row_notes(const Section& section, const Row& row) {
    std::vector<std::string> notes;
    if (section.covers.empty() && !row.covers.empty())
        notes.push_back(quote(say<text::report::interval_covers>(row.covers)));
    for (const auto& note : row.notes) notes.push_back(quote(note));
    for (const auto& figure : row.figures) notes.push_back(quote(figure.title + " " + figure.text));
    if (!row.settings.empty()) notes.push_back(quote(row.settings));
    return fmt::format("{}", fmt::join(notes, say<text::list::semicolon>()));
}

void curves(std::string& out, const Section& section) {
    for (const auto& chart : section.curves) {
        std::string title = say<text::words::labelled>(
            chart.benchmark, say<text::chart::by>(chart.title, chart.x_title));
        if (!chart.common.empty())
            title = say<text::words::in_brackets>(title, say<text::chart::common>(chart.common));
        out += fmt::format("\n{}\n\n", quote(title));
        for (const auto& curve : chart.curves) {
            const auto& first = curve.points.front();
            const auto& last = curve.points.back();
            out += fmt::format("- {}\n", quote(say<text::chart::curve>(
                                             curve.label, first.y_text, first.x_text,
                                             sparkline(curve), last.y_text, last.x_text)));
            for (const auto& level : curve.levels) out += fmt::format("  - {}\n", quote(level));
        }
    }
}

void maps(std::string& out, const Section& section) {
    constexpr std::size_t most_columns = 16; // wider tables are unreadable as text
    for (const auto& map : section.maps) {
        out += fmt::format("\n{}\n", quote(say<text::chart::map_of_case>(
                                         map.benchmark, map.what, map.title, extremes(map))));
        for (const auto& slow : map.slow) out += fmt::format("\n- {}\n", quote(slow));
        if (map.columns.size() > most_columns) continue;
        out += fmt::format("\n| {} \\ {} |", quote(map.row_title), quote(map.column_title));
        for (const auto& column : map.columns) out += fmt::format(" {} |", quote(column));
        out += "\n| --- |";
        for (std::size_t i = 0; i < map.columns.size(); ++i) out += " ---: |";
        for (std::size_t i = 0; i < map.values.size(); ++i) {
            if (i % map.columns.size() == 0)
                out += fmt::format("\n| {} |", quote(map.rows[i / map.columns.size()]));
            out += fmt::format(" {} |",
                               map.values[i] ? quote(record::human(*map.values[i], map.unit)) : "");
        }
        out += '\n';
    }
}

void section(std::string& out, const Section& section) {
    heading(out, section.title);
    if (!section.question.empty()) out += quote(section.question) + "\n\n";
    if (!std::ranges::all_of(section.rows, &Row::on_curve))
        head(out,
             {say<text::report::benchmark>(), say<text::report::one_case>(),
              say<text::report::library>(), say<text::report::value>(),
              say<text::report::interval>(), say<text::report::of_ceiling>(),
              say<text::report::status>(), say<text::report::notes>()},
             3, 5);
    for (const auto& entry : section.rows) {
        if (entry.on_curve) continue;
        const std::string note =
            entry.ceiling_note ? fmt::format(" ({})", *entry.ceiling_note + 1) : "";
        row(out, {quote(entry.benchmark), quote(entry.what), quote(entry.library),
                  quote(entry.value), quote(entry.interval), quote(entry.share) + note,
                  std::string{status_in_words(entry.status)}, row_notes(section, entry)});
    }
    curves(out, section);
    maps(out, section);
    if (!section.covers.empty())
        out += fmt::format("\n{}\n", quote(say<text::report::intervals_cover>(section.covers)));
    if (!section.ceilings.empty()) out += fmt::format("\n{}\n\n", say<text::report::ceilings>());
    for (std::size_t i = 0; i < section.ceilings.size(); ++i)
        out += fmt::format("{}. {}\n", i + 1, quote(section.ceilings[i]));
}

void missing(std::string& out, const Report& report) {
    if (report.missing.empty()) return;
    heading(out, say<text::report::not_measured>());
    head(out,
         {say<text::report::status>(), say<text::report::reason>(), say<text::report::cases>()}, 3,
         3);
    for (const auto& group : report.missing)
        row(out, {std::string{status_in_words(group.status)}, quote(group.reason),
                  quote(list_of(group.cases, 6))}); // the rest is a number
}

void checks(std::string& out, const Report& report) {
    if (report.checks.empty()) return;
    heading(out, say<text::report::checks>());
    for (const auto& group : report.checks) {
        const std::string outcome =
            say<text::words::sentence>(say<text::words::labelled>(group.benchmark, group.outcome));
        out += fmt::format("- {}\n", quote(sentences({outcome, group.method})));
        for (const auto& check : group.checks)
            if (!check.passed)
                out += fmt::format("  - {}\n",
                                   say<text::words::labelled>(
                                       fmt::format("**{}**", say<text::report::wrong>()),
                                       quote(say<text::report::check>(check.what, check.error,
                                                                      check.bound, check.detail))));
    }
}

} // namespace

std::string to_markdown(std::span<const Report> reports) {
    std::string out;
    for (const auto& report : reports) {
        if (!out.empty()) out += '\n';
        out += fmt::format("# {}\n", quote(report.label.empty() ? report.title
                                                                : say<text::words::labelled>(
                                                                      report.label, report.title)));
        if (!report.cause.empty()) out += fmt::format("\n{}\n", quote(report.cause));
        facts(out, say<text::report::five_lines>(), report.summary);
        findings(out, report);
        facts(out, say<text::report::machine>(), report.machine);
        facts(out, capitalised(say<text::report::library>()), report.software);
        for (const auto& entry : report.sections) section(out, entry);
        missing(out, report);
        checks(out, report);
        facts(out, say<text::report::run>(), report.run);
    }
    return out;
}

} // namespace assay::report
