// SPDX-License-Identifier: Apache-2.0

#include "exchange/comparison_data.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <string_view>

namespace assay::report {
namespace {

using write::CsvLine;

constexpr std::string_view columns =
    "basis,table,family,benchmark,case,library,parameters,metric,unit,higher_is_better,side,value,"
    "low,high,count,outcome,ratio,ratio_low,ratio_high,p,detectable,paired,notes\r\n";

std::string parameters_of(const ComparedRow& row) {
    std::string out;
    for (const auto& [name, value] : row.parameters)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, record::to_string(value));
    return out;
}

void add_table(std::string& out, const Comparison& comparison, const ComparedTable& table,
               std::string_view basis) {
    for (const auto& row : table.rows)
        for (std::size_t side = 0; side < row.cells.size(); ++side) {
            const auto& cell = row.cells[side];
            CsvLine line{out};
            line.cells(basis, table.name, row.family, row.benchmark, row.what,
                       cell.library.empty() ? row.library : cell.library, parameters_of(row),
                       row.metric, row.unit, row.higher_is_better, comparison.sides[side].label,
                       cell.value, cell.low, cell.high, cell.count);
            if (const auto& c = cell.contrast)
                line.cells(c->outcome, c->ratio, c->low, c->high, c->p, c->detectable, c->paired);
            else
                line.empty(7);
            line.text(fmt::format("{}", fmt::join(cell.notes, "; ")));
            line.end();
        }
}

} // namespace

std::string to_csv(const Comparison& comparison) {
    std::string out{columns};
    for (const auto& table : comparison.tables) add_table(out, comparison, table, "library");
    for (const auto& table : comparison.questions) add_table(out, comparison, table, "question");
    for (const auto& table : comparison.others) add_table(out, comparison, table, "other");
    for (const auto& entry : comparison.not_compared) {
        CsvLine line{out};
        line.raw("not_compared").empty(3).text(entry.what).empty(5);
        line.text(fmt::format("{}", fmt::join(entry.where, " "))).empty(11).text(entry.reason);
        line.end();
    }
    return out;
}

} // namespace assay::report
