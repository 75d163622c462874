// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/chart.hpp"
#include "document/texts/facts.hpp"
#include "document/texts/list.hpp"
#include "document/texts/report.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "report/answer.hpp"
#include "report/curves.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using document::Cell;
using document::Chart;
using document::Table;
using document::Tone;

constexpr std::size_t data_columns = 6; ///< metric, ceiling, covers, settings

Table table_of(std::string caption, std::string folded) {
    const auto data = [](std::string title) {
        return document::Column{.title = std::move(title), .data = true};
    };
    return {.caption = std::move(caption),
            .columns = {{.title = say<text::report::one_case>()},
                        {.title = say<text::report::library>(), .rank = 2, .key = "library"},
                        {.title = say<text::report::value>(),
                         .numeric = true,
                         .bar = true,
                         .key = "value"},
                        {.title = say<text::report::of_sheet>(),
                         .numeric = true,
                         .rank = 1,
                         .key = "of_sheet"},
                        {.title = say<text::report::of_ceiling>(),
                         .numeric = true,
                         .rank = 3,
                         .key = "of_ceiling"},
                        {.title = say<text::report::status>(), .key = "status"},
                        {.title = say<text::workbook::metric>(), .data = true, .key = "metric"},
                        data(say<text::workbook::ceiling>()),
                        data(say<text::workbook::covers>()),
                        data(say<text::workbook::settings>())},
            .sheet = say<text::workbook::figures>(),
            .folded = std::move(folded)};
}

document::Row row_with(const Section& section, const Row& row) {
    document::Row out{.cells = std::vector<Cell>(data_columns + 4),
                      .group = row.benchmark,
                      .tags = {.family = section.family,
                               .libraries = {row.library},
                               .outcomes = {std::string{record::to_string(row.status)}}}};
    out.cells[0].text = row.short_name;
    out.cells[1].text = row.library;
    out.cells[5] = {.text =
                        std::string{record::is_measured(row.status)
                                        ? knowledge_in_words(row.knowledge, row.higher_is_better)
                                        : status_in_words(row.status)},
                    .tone = tone_of(row)};
    out.cells[data_columns + 3].text = row.settings;
    return out;
}

Cell value_of(const Shown& shown) {
    Cell cell{
        .text = shown.text, .detail = shown.interval, .number = shown.number, .unit = shown.unit};
    if (!shown.interval.empty()) {
        cell.low = shown.low;
        cell.high = shown.high;
    }
    if (shown.wide) {
        cell.text = say<text::facts::about>(shown.text);
        cell.tone = Tone::quiet;
    }
    return cell;
}

/// "94% [1]": the number refers to the notes below the tables.
Cell share_cell(const Row& row, record::CeilingKind kind) {
    const auto* bound = bound_of(row, kind);
    if (bound == nullptr) return {};
    return {.text = bound->share,
            .detail = fmt::format("[{}]", bound->note + 1),
            .number = share_of(row, *bound),
            .unit = document::unit_share};
}

document::Row value_row(const Section& section, const Row& row) {
    const auto shown = shown_of(row);
    auto out = row_with(section, row);
    out.cells[0].notes = row.notes;
    // Cases that are good in spite of their windows need no excuse: workbooks have it.
    if (!row.cause.empty())
        out.cells[is_reliable(row) ? data_columns + 2 : 0].notes.push_back(row.cause);
    out.cells[2] = value_of(shown);
    out.cells[3] = share_cell(row, record::CeilingKind::datasheet);
    out.cells[4] = share_cell(row, record::CeilingKind::measured);
    for (const auto& strip : row.strips) out.cells[5].strips.push_back(strip.values);
    out.cells[data_columns].text = shown.title;
    if (!row.bounds.empty()) {
        const double bound = row.bounds.front().number;
        out.cells[data_columns + 1] = {
            .text = record::human(bound, row.unit), .number = bound, .unit = row.unit};
    }
    out.cells[data_columns + 2].text = row.covers;
    return out;
}

/// Figures of a case beside its value: the other metrics, or the primary one where that is not shown first.
std::vector<document::Row> further_rows(const Section& section, const Row& row) {
    std::vector<document::Row> rows;
    const auto shown = shown_of(row);
    const auto add = [&](const std::string& title, Cell value) {
        if (title == shown.title) return;
        auto out = row_with(section, row);
        out.cells[2] = std::move(value);
        out.cells[data_columns].text = title;
        rows.push_back(std::move(out));
    };
    if (row.number && !shown.is_primary)
        add(row.title, {.text = row.value,
                        .detail = row.interval,
                        .number = row.number,
                        .low = row.interval.empty() ? std::nullopt : row.low,
                        .high = row.interval.empty() ? std::nullopt : row.high,
                        .unit = row.unit});
    // The values of single pairs are medians of their own: next to those of the matrix they would be two answers.
    const auto is_extreme = [&](const Figure& figure) {
        static constexpr std::array<std::string_view, 4> ends{"fastest_", "slowest_", "best_",
                                                              "worst_"};
        return row.has_matrix && std::ranges::any_of(ends, [&](std::string_view end) {
                   return figure.name.starts_with(end);
               });
    };
    for (const auto& figure : row.figures)
        if (!is_extreme(figure))
            add(figure.title, {.text = figure.text,
                               .detail = figure.interval,
                               .number = figure.number,
                               .low = figure.interval.empty() ? std::nullopt : figure.low,
                               .high = figure.interval.empty() ? std::nullopt : figure.high,
                               .unit = figure.unit});
    for (const auto& detail : row.details) add(detail.name, {.text = detail.text});
    return rows;
}

Chart chart_of(const Sweep& sweep) {
    Chart chart{.title =
                    say<text::words::labelled>(case_name(sweep.benchmark, {}),
                                               say<text::chart::by>(sweep.y_title, sweep.x_title)),
                .data = static_cast<const document::CurveChart&>(sweep)};
    if (!sweep.common.empty()) chart.caption = say<text::chart::common>(sweep.common);
    for (const auto& curve : sweep.curves) {
        const auto& first = curve.points.front();
        const auto& last = curve.points.back();
        chart.lines.push_back(say<text::chart::curve>(curve.label, first.y_text, first.x_text,
                                                      sparkline(curve), last.y_text, last.x_text));
        if (!curve.levels.empty())
            chart.notes.push_back(say<text::words::labelled>(
                curve.label,
                fmt::format("{}", fmt::join(curve.levels, say<text::list::semicolon>()))));
    }
    return chart;
}

Chart chart_of(const Matrix& map) {
    Chart chart{.title = say<text::words::labelled>(
                    case_name(map.benchmark, {}),
                    say<text::chart::map>(map.title, map.row_title, map.column_title)),
                .caption = map.what,
                .lines = {map.extremes},
                .data = static_cast<const document::HeatMap&>(map)};
    chart.notes = map.slow;
    if (map.merged > 1) chart.notes.push_back(say<text::chart::merged>(map.merged));
    return chart;
}

document::Section section_of(const Section& section) {
    document::Section out{.title = section.title, .question = section.question};
    const auto on_curves =
        static_cast<std::size_t>(std::ranges::count_if(section.rows, &Row::on_curve));
    std::vector<document::Row> further;
    auto values =
        table_of(section.common.empty() ? "" : say<text::chart::all_share>(section.common), "");
    auto points = table_of("", say_count<text::report::points>(on_curves));
    for (const auto& row : section.rows) {
        (row.on_curve ? points : values).rows.push_back(value_row(section, row));
        std::ranges::move(further_rows(section, row), std::back_inserter(further));
    }
    auto others = table_of("", say_count<text::report::further>(further.size()));
    others.rows = std::move(further);
    for (const std::size_t i : {3U, 4U, 5U}) others.columns[i].data = true;
    for (const std::size_t i : {data_columns, data_columns + 3}) others.columns[i].data = false;
    const auto add = [&](Table& table) {
        table.columns[1].data = !section.library.empty(); // said once
        if (!table.rows.empty()) out.blocks.emplace_back(std::move(table));
    };
    add(values);
    for (const auto& sweep : section.curves) out.blocks.emplace_back(chart_of(sweep));
    add(points);
    for (const auto& map : section.maps)
        if (map.differs) out.blocks.emplace_back(chart_of(map));
    add(others);
    if (std::ranges::any_of(section.rows, &Row::between_processes))
        out.blocks.emplace_back(document::Paragraph{
            .text = say<text::report::intervals_cover>(
                section.covers.empty() ? say<text::words::between_processes_of_each>()
                                       : section.covers),
            .tone = Tone::quiet});
    for (std::size_t i = 0; i < section.ceilings.size(); ++i)
        out.blocks.emplace_back(document::Paragraph{
            .text = section.ceilings[i], .tone = Tone::quiet, .mark = fmt::format("[{}]", i + 1)});
    return out;
}

} // namespace

std::vector<document::Section> scorecard(const Report& report) {
    std::vector<document::Section> sections;
    for (const auto& section : report.sections) sections.push_back(section_of(section));
    return sections;
}

} // namespace assay::report
