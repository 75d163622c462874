// SPDX-License-Identifier: Apache-2.0

#include "compare/words.hpp"
#include "language/language.hpp"
#include "render/workbook.hpp"
#include "render/workbook_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::report {
namespace {

constexpr std::size_t fixed_columns = 6; // of a series, before those of the sides

std::vector<std::string> titles_of(const Comparison& comparison, bool by_question) {
    std::vector<std::string> titles{
        say<text::workbook::family>(),   say<text::workbook::benchmark>(),
        say<text::workbook::one_case>(), say<text::workbook::library>(),
        say<text::workbook::metric>(),   say<text::workbook::unit>()};
    for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
        const auto& label = comparison.sides[i].label;
        titles.push_back(say<text::workbook::side_value>(label));
        titles.push_back(say<text::workbook::side_low>(label));
        titles.push_back(say<text::workbook::side_high>(label));
        titles.push_back(say<text::workbook::side_count>(label));
        if (by_question) titles.push_back(say<text::workbook::side_library>(label));
        if (i > 0) {
            titles.push_back(say<text::workbook::side_ratio>(label));
            titles.push_back(say<text::workbook::side_ratio_low>(label));
            titles.push_back(say<text::workbook::side_ratio_high>(label));
            titles.push_back(say<text::workbook::side_outcome>(label));
            titles.push_back(say<text::workbook::side_p>(label));
            titles.push_back(say<text::workbook::side_detectable>(label));
        }
        titles.push_back(say<text::workbook::side_notes>(label));
    }
    return titles;
}

void add_cell(Sheet& sheet, const ComparedRow& row, const Cell& cell, bool first,
              bool by_question) {
    sheet.number(cell.value, row.unit).number(cell.low, row.unit).number(cell.high, row.unit);
    sheet.count(cell.count);
    if (by_question) sheet.text(cell.library);
    if (!first) {
        const auto contrast = cell.contrast.value_or(Contrast{});
        sheet.ratio(contrast.ratio).ratio(contrast.low).ratio(contrast.high);
        sheet.text(outcome_in_words(contrast.outcome));
        sheet.probability(contrast.p).share(contrast.detectable);
    }
    sheet.text(fmt::format("{}", fmt::join(cell.notes, "; ")));
}

std::size_t add_tables(WorkbookFile& file, const std::string& name, const Comparison& comparison,
                       const std::vector<ComparedTable>& tables, bool by_question) {
    const auto titles = titles_of(comparison, by_question);
    auto& sheet = file.sheet(name, titles, fixed_columns);
    for (const auto& table : tables)
        for (const auto& row : table.rows) {
            sheet.text(table.title).text(row.benchmark).text(row.what).text(row.library);
            sheet.text(row.metric).text(row.unit);
            for (std::size_t i = 0; i < row.cells.size(); ++i)
                add_cell(sheet, row, row.cells[i], i == 0, by_question);
            sheet.end_row();
        }
    for (std::size_t i = 1; i < comparison.sides.size(); ++i) {
        const auto title = say<text::workbook::side_outcome>(comparison.sides[i].label);
        const auto column = std::ranges::find(titles, title) - titles.begin();
        sheet.colour(static_cast<std::size_t>(column), outcome_in_words(Outcome::better),
                     outcome_in_words(Outcome::worse));
    }
    return sheet.rows_left_out();
}

} // namespace

Result<std::string> to_workbook(const Comparison& comparison) {
    WorkbookFile file{title_of(comparison), std::nullopt};
    auto& summary = file.sheet(say<text::workbook::summary>(),
                               {say<text::workbook::item>(), say<text::workbook::content>()});
    for (const auto& fact : summary_of(comparison)) {
        summary.text(fact.name).text(fact.text);
        summary.end_row();
    }
    for (const auto& side : comparison.sides) {
        summary.text(side.label).text(side.what);
        summary.end_row();
    }
    auto cut =
        add_tables(file, say<text::workbook::series>(), comparison, comparison.tables, false);
    cut += add_tables(file, say<text::workbook::best_library>(), comparison, comparison.questions,
                      true);
    auto& rest = file.sheet(
        say<text::workbook::not_compared>(),
        {say<text::workbook::what>(), say<text::workbook::reason>(), say<text::workbook::where>()});
    for (const auto& entry : comparison.not_compared) {
        rest.text(entry.what).text(entry.reason);
        rest.text(fmt::format("{}", fmt::join(entry.where, "; ")));
        rest.end_row();
    }
    auto& method = file.sheet(say<text::workbook::method>(), {say<text::workbook::content>()});
    method.text(method_in_words(comparison));
    method.end_row();
    for (const auto& note : comparison.notes) {
        method.text(note);
        method.end_row();
    }
    if (cut > 0) {
        summary.text(say<text::workbook::series>()).text(say<text::workbook::cut>(cut));
        summary.end_row();
    }
    return file.finish();
}

} // namespace assay::report
