// SPDX-License-Identifier: Apache-2.0

#include "render/markdown.hpp"

#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"
#include "render/heat_map.hpp"
#include "render/line_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace assay::report {
namespace {

/// Text that Markdown shows as it is: nothing in it starts a link, HTML, emphasis, code or a cell.
std::string quote(std::string_view text) {
    static constexpr std::string_view special = R"(\`*_{}[]<>#|~!&$@)";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // A scheme would be made a link by itself.
        const bool scheme = c == ':' && text.substr(i, 3) == "://";
        if (scheme)
            out += "&#58;";
        else {
            if (special.find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

void row(std::string& out, std::initializer_list<std::string> cells) {
    out += '|';
    for (const auto& cell : cells) out += " " + cell + " |";
    out += '\n';
}

void facts(std::string& out, const char* title, const std::vector<Fact>& facts) {
    if (facts.empty()) return;
    out += fmt::format("\n| {} | |\n| --- | --- |\n", title);
    for (const auto& fact : facts) row(out, {quote(fact.name), quote(fact.text)});
}

void findings(std::string& out, const Report& report) {
    if (report.findings.empty()) return;
    out += "\n## Findings, and what to do\n\n";
    for (const auto& finding : report.findings)
        out += fmt::format("- **{}**: {}{}{}\n", to_string(finding.severity), quote(finding.what),
                           finding.action.empty() ? "" : " ", quote(finding.action));
}

std::string row_notes(const Section& section, const Row& row) {
    std::string out;
    const auto add = [&](const std::string& text) {
        out += (out.empty() ? "" : "; ") + quote(text);
    };
    if (section.covers.empty() && !row.covers.empty()) add("interval " + row.covers);
    for (const auto& note : row.notes) add(note);
    for (const auto& figure : row.figures) add(figure.title + " " + figure.text);
    if (!row.settings.empty()) add(row.settings);
    return out;
}

void curves(std::string& out, const Section& section) {
    for (const auto& chart : section.curves) {
        out += fmt::format("\n{}: {} by {}{}\n\n", quote(chart.benchmark), quote(chart.title),
                           quote(chart.x_title),
                           chart.common.empty() ? "" : " (all: " + quote(chart.common) + ")");
        for (const auto& curve : chart.curves) {
            out +=
                fmt::format("- {}: {} at {} {} {} at {}\n", quote(curve.label),
                            quote(curve.points.front().y_text), quote(curve.points.front().x_text),
                            sparkline(curve), quote(curve.points.back().y_text),
                            quote(curve.points.back().x_text));
            for (const auto& level : curve.levels) out += fmt::format("  - {}\n", quote(level));
        }
    }
}

void maps(std::string& out, const Section& section) {
    constexpr std::size_t most_columns = 16; // wider tables are unreadable as text
    for (const auto& map : section.maps) {
        out += fmt::format("\n{}, {}: {} {}\n", quote(map.benchmark), quote(map.what),
                           quote(map.title), quote(extremes(map)));
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
    out += fmt::format("\n## {}\n\n", quote(section.title));
    if (!section.question.empty()) out += quote(section.question) + "\n\n";
    if (!std::ranges::all_of(section.rows, &Row::on_curve))
        out +=
            "| benchmark | case | library | value | 95% interval | of ceiling | status | notes |\n"
            "| --- | --- | --- | ---: | ---: | ---: | --- | --- |\n";
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
        out += fmt::format("\n95% intervals: {}.\n", quote(section.covers));
    if (!section.ceilings.empty()) out += "\nCeilings:\n\n";
    for (std::size_t i = 0; i < section.ceilings.size(); ++i)
        out += fmt::format("{}. {}\n", i + 1, quote(section.ceilings[i]));
}

void missing(std::string& out, const Report& report) {
    if (report.missing.empty()) return;
    out += "\n## Not measured, and why\n\n| status | reason | cases |\n| --- | --- | --- |\n";
    for (const auto& group : report.missing)
        row(out, {std::string{status_in_words(group.status)}, quote(group.reason),
                  quote(list_of(group.cases, 6))}); // the rest is a number
}

void checks(std::string& out, const Report& report) {
    if (report.checks.empty()) return;
    out += "\n## How the results were checked\n\n";
    for (const auto& group : report.checks) {
        out += fmt::format("- {}: {}. {}\n", quote(group.benchmark), quote(group.outcome),
                           quote(group.method));
        for (const auto& check : group.checks)
            if (!check.passed)
                out += fmt::format("  - **wrong**: {}: error {}, bound {}. {}\n", quote(check.what),
                                   check.error, check.bound, quote(check.detail));
    }
}

} // namespace

std::string to_markdown(std::span<const Report> reports) {
    std::string out;
    for (const auto& report : reports) {
        if (!out.empty()) out += '\n';
        out += fmt::format("# {}{}\n", report.label.empty() ? "" : quote(report.label) + ": ",
                           quote(report.title));
        facts(out, "In five lines", report.summary);
        findings(out, report);
        facts(out, "Machine", report.machine);
        facts(out, "Library", report.software);
        for (const auto& entry : report.sections) section(out, entry);
        missing(out, report);
        checks(out, report);
        facts(out, "Run", report.run);
    }
    return out;
}

} // namespace assay::report
