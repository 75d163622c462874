// SPDX-License-Identifier: Apache-2.0

#include "render/terminal.hpp"

#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "render/heat_map.hpp"
#include "render/line_chart.hpp"
#include "render/lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace assay::report {
namespace {

constexpr std::size_t longest_library = 12;

using Page = Lines;

Paint colour_of(record::Status status) {
    if (status == record::Status::ok) return Paint::green;
    return is_measured(status) ? Paint::yellow : Paint::red;
}

void print_findings(Page& page, const Report& report) {
    if (report.findings.empty()) return;
    page.heading(say<text::report::findings>());
    for (const auto& finding : report.findings) {
        const bool serious = finding.severity == Severity::serious;
        page.paragraph(serious                                 ? "  !!"
                       : finding.severity == Severity::caution ? "  !"
                                                               : "  -",
                       5, finding.what);
        if (!finding.action.empty()) page.paragraph("", 5, finding.action, true);
    }
}

std::string share_text(const Row& row) {
    if (!row.ceiling_note) return row.share;
    return fmt::format("{} [{}]", row.share.empty() ? "-" : row.share, *row.ceiling_note + 1);
}

/// As wide as the longest state that a row of figures may be in.
std::size_t status_columns() {
    using record::Status;
    std::size_t columns = 0;
    for (const auto status : {Status::ok, Status::unstable, Status::incorrect, Status::failed,
                              Status::timed_out, Status::crashed, Status::disturbed})
        columns = std::max(columns, display_width(status_in_words(status)));
    return columns;
}

/// Widths of the table's columns: as wide as what is in them, the first gets what is left.
struct Columns {
    std::size_t what = display_width(say<text::report::one_case>());
    std::size_t library = display_width(say<text::report::library>());
    std::size_t value = display_width(say<text::report::value>());
    std::size_t interval = display_width(say<text::report::interval>());
    std::size_t share = display_width(say<text::report::ceiling>());
    std::size_t status = status_columns();
    bool stacked = false; ///< too narrow for a table: figures below their case
};

Columns columns_of(const Section& section, std::size_t width) {
    Columns columns;
    const auto widen = [](std::size_t& column, const std::string& text) {
        column = std::max(column, display_width(text));
    };
    for (const auto& row : section.rows) {
        if (row.on_curve) continue;
        widen(columns.what, row.what);
        widen(columns.library, row.library);
        widen(columns.value, row.value);
        widen(columns.interval, row.interval);
        widen(columns.share, share_text(row));
    }
    columns.library = std::min(columns.library, longest_library);
    const std::size_t gaps = 2 + 5 * 2;
    const std::size_t others =
        gaps + columns.library + columns.value + columns.interval + columns.share + columns.status;
    constexpr std::size_t least = 26; // a case takes two lines there, three at most
    columns.stacked = width < others + std::min(least, columns.what);
    if (!columns.stacked) columns.what = std::min(columns.what, width - others);
    return columns;
}

/// Value, interval, share of ceiling and status, as they stand side by side in both layouts.
std::string figures_line(const Columns& columns, std::string_view value, std::string_view interval,
                         std::string_view share, std::string_view status) {
    return fmt::format("{}  {}  {}  {}", fit_right(value, columns.value),
                       fit_right(interval, columns.interval), fit(share, columns.share), status);
}

void print_row(Page& page, const Section& section, const Row& row, const Columns& columns) {
    const std::string figures =
        figures_line(columns, row.value, row.interval, share_text(row),
                     page.paint(colour_of(row.status), status_in_words(row.status)));
    if (columns.stacked) {
        page.paragraph("", 2, say<text::words::in_brackets>(row.what, row.library));
        page.line("    " + figures);
    } else {
        const auto what = wrap(row.what, columns.what);
        page.line(fmt::format("  {}  {}  {}", fit(what.front(), columns.what),
                              fit(row.library, columns.library), figures));
        for (std::size_t i = 1; i < what.size(); ++i) page.line("    " + what[i]);
    }
    if (section.covers.empty() && !row.covers.empty())
        page.paragraph("", 6, say<text::report::interval_covers>(row.covers), true);
    for (const auto& note : row.notes) page.paragraph("", 6, note, true);
}

void print_head(Page& page, const Columns& columns) {
    const std::string figures =
        figures_line(columns, say<text::report::value>(), say<text::report::interval>(),
                     say<text::report::ceiling>(), say<text::report::status>());
    const std::string line =
        columns.stacked
            ? "    " + figures
            : fmt::format("  {}  {}  {}", fit(say<text::report::one_case>(), columns.what),
                          fit(say<text::report::library>(), columns.library), figures);
    page.line(page.paint(Paint::dim, line));
}

void print_curves(Page& page, const Section& section) {
    for (const auto& chart : section.curves) {
        page.line(fmt::format(
            "  {}", say<text::words::labelled>(page.paint(Paint::bold, chart.benchmark),
                                               say<text::chart::by>(chart.title, chart.x_title))));
        if (!chart.common.empty())
            page.paragraph("", 4, say<text::chart::common>(chart.common), true);
        for (const auto& curve : chart.curves) {
            const auto& first = curve.points.front();
            const auto& last = curve.points.back();
            page.paragraph("   ", 4,
                           say<text::chart::curve>(curve.label, first.y_text, first.x_text,
                                                   sparkline(curve), last.y_text, last.x_text));
            for (const auto& level : curve.levels) page.paragraph("", 6, level, true);
        }
    }
}

void print_maps(Page& page, const Section& section) {
    for (const auto& map : section.maps) {
        page.paragraph("  ", 4,
                       say<text::chart::map>(map.benchmark, map.title, map.row_title,
                                             map.column_title, extremes(map)));
        for (const auto& slow : map.slow) page.paragraph("    !", 6, slow);
    }
}

void print_rows(Page& page, const Section& section) {
    if (std::ranges::all_of(section.rows, &Row::on_curve)) return;
    const Columns columns = columns_of(section, page.width());
    print_head(page, columns);
    std::string benchmark;
    for (const auto& row : section.rows) {
        if (row.on_curve) continue;
        if (row.benchmark != benchmark) page.line("  " + page.paint(Paint::bold, row.benchmark));
        benchmark = row.benchmark;
        print_row(page, section, row, columns);
    }
}

void print_section(Page& page, const Section& section) {
    page.heading(section.title);
    if (!section.question.empty()) page.paragraph("  ", 2, section.question, true);
    page.line();
    print_rows(page, section);
    print_curves(page, section);
    print_maps(page, section);
    if (!section.covers.empty())
        page.paragraph("  ", 2, say<text::report::intervals_cover>(section.covers), true);
    for (std::size_t i = 0; i < section.ceilings.size(); ++i)
        page.paragraph(fmt::format("  [{}]", i + 1), 7, section.ceilings[i], true);
}

void print_missing(Page& page, const Report& report) {
    if (report.missing.empty()) return;
    page.heading(say<text::report::not_measured>());
    for (const auto& group : report.missing) {
        page.paragraph("  ", 2,
                       say<text::words::labelled>(
                           status_in_words(group.status),
                           group.reason.empty() ? say<text::report::no_reason>() : group.reason));
        page.paragraph("", 6, list_of(group.cases, 6), true); // cases; the rest is a number
    }
}

void print_checks(Page& page, const Report& report) {
    if (report.checks.empty()) return;
    page.heading(say<text::report::checks>());
    for (const auto& group : report.checks) {
        page.paragraph(
            "  ", 2,
            say<text::words::sentence>(say<text::words::labelled>(group.benchmark, group.outcome)));
        if (!group.method.empty()) page.paragraph("", 6, group.method, true);
        for (const auto& check : group.checks)
            if (!check.passed)
                page.paragraph(
                    "    !!", 7,
                    say<text::report::check>(check.what, check.error, check.bound, check.detail));
    }
}

} // namespace

std::string to_terminal(const Report& report, const Terminal& style) {
    Page page{style};
    const std::string title = report.label.empty()
                                  ? report.title
                                  : say<text::words::labelled>(report.label, report.title);
    page.line(page.paint(Paint::bold, fit(title, std::min(page.width(), display_width(title)))));
    if (!report.cause.empty()) page.paragraph("", 0, report.cause);
    page.heading(say<text::report::five_lines>());
    page.facts(report.summary);
    print_findings(page, report);
    page.heading(say<text::report::machine>());
    page.facts(report.machine);
    if (!report.software.empty()) {
        page.heading(say<text::report::libraries>());
        page.facts(report.software);
    }
    for (const auto& section : report.sections) print_section(page, section);
    print_missing(page, report);
    print_checks(page, report);
    page.heading(say<text::report::run>());
    page.facts(report.run);
    return page.take();
}

} // namespace assay::report
