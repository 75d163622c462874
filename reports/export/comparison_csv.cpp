// SPDX-License-Identifier: Apache-2.0

#include "export/comparison_data.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

namespace assay::report {
namespace {

using write::CsvLine;

constexpr std::array columns{
    "basis",      "table",  "family",     "benchmark",        "case",  "library",
    "parameters", "metric", "unit",       "higher_is_better", "side",  "value",
    "low",        "high",   "count",      "outcome",          "ratio", "ratio_low",
    "ratio_high", "p",      "detectable", "paired",           "notes"};

std::string parameters_of(const ComparedRow& row) {
    std::string out;
    for (const auto& [name, value] : row.parameters)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, record::to_string(value));
    return out;
}

void add_contrast(CsvLine& line, const Contrast* contrast) {
    constexpr int contrast_cells = 7; // outcome ... paired
    if (contrast == nullptr) {
        for (int i = 0; i < contrast_cells; ++i) line.raw("");
        return;
    }
    line.raw(to_string(contrast->outcome));
    line.number(contrast->ratio).number(contrast->low).number(contrast->high);
    line.number(contrast->p).number(contrast->detectable);
    line.raw(contrast->paired ? "true" : "false");
}

void add_table(std::string& out, const Comparison& comparison, const ComparedTable& table,
               std::string_view basis) {
    for (const auto& row : table.rows)
        for (std::size_t side = 0; side < row.cells.size(); ++side) {
            const auto& cell = row.cells[side];
            CsvLine line{out};
            line.raw(basis).text(table.name).text(row.family).text(row.benchmark).text(row.what);
            line.text(cell.library.empty() ? row.library : cell.library).text(parameters_of(row));
            line.text(row.metric).text(row.unit).raw(row.higher_is_better ? "true" : "false");
            line.text(comparison.sides[side].label);
            line.number(cell.value).number(cell.low).number(cell.high);
            line.raw(fmt::format("{}", cell.count));
            add_contrast(line, cell.contrast ? &*cell.contrast : nullptr);
            line.text(fmt::format("{}", fmt::join(cell.notes, "; ")));
            line.end();
        }
}

} // namespace

std::string to_csv(const Comparison& comparison) {
    std::string out;
    CsvLine header{out};
    for (const auto* name : columns) header.raw(name);
    header.end();
    for (const auto& table : comparison.tables) add_table(out, comparison, table, "library");
    for (const auto& table : comparison.questions) add_table(out, comparison, table, "question");
    for (const auto& table : comparison.others) add_table(out, comparison, table, "other");
    for (const auto& entry : comparison.not_compared) {
        CsvLine line{out};
        line.raw("not_compared");
        for (const std::string_view column : std::span{columns}.subspan(1)) {
            if (column == "case")
                line.text(entry.what);
            else if (column == "side")
                line.text(fmt::format("{}", fmt::join(entry.where, " ")));
            else if (column == "notes")
                line.text(entry.reason);
            else
                line.raw("");
        }
        line.end();
    }
    return out;
}

} // namespace assay::report
