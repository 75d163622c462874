// SPDX-License-Identifier: Apache-2.0
#include "compare/words.hpp"
#include "exchange/data.hpp"
#include "json/codec.hpp"
#include "record/layout.hpp"
#include "record/same_machine.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay::compare {
namespace {

using json::Value;

/// The source of the variance between times.
std::string source_of(const BetweenRuns& between) {
    return between.history == 0 ? "default" : fmt::format("history of {} runs", between.history);
}

std::optional<NoVerdict> reason_of(const Contrast& contrast) {
    return contrast.no_verdict == NoVerdict::none ? std::nullopt
                                                  : std::optional{contrast.no_verdict};
}

/// The names of a few of thousands of runs are enough; `runs` counts all.
std::vector<std::string> some_of(const std::vector<std::string>& files) {
    constexpr std::size_t named = 50;
    return {files.begin(),
            files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), named))};
}

struct UnitCell {
    const Cell& cell;
    const std::string& unit;
};
ASSAY_FIELDS(UnitCell, (record.cell.value, "value"), (record.cell.low, "low"),
             (record.cell.high, "high"), (record.cell.count, "count"),
             (record.cell.values, "values"), (record.cell.library, "library"),
             (record.cell.share_of_ceiling, "share_of_ceiling"),
             (record.cell.knowledge, "knowledge"), (record.cell.delivered, "delivered"),
             (record.cell.fast_share, "fast_share"),
             (value_in_words(record.cell, record.unit), "text"),
             (interval_in_words(record.cell), "interval"), (record.cell.contrast, "contrast"),
             (record.cell.notes, "notes"))
std::vector<UnitCell> cells_of(const ComparedRow& row) {
    std::vector<UnitCell> cells;
    for (const auto& cell : row.cells) cells.push_back({cell, row.unit});
    return cells;
}

struct Method {
    const Comparison& of;
};
ASSAY_FIELDS(Method, (record.of.alpha, "alpha"), (record.of.correction, "correction"),
             (record.of.tests, "tests"), (record.of.minimum_effect, "minimum_effect"),
             (record.of.unit, "unit"), (record.of.paired, "paired"),
             (method_in_words(record.of), "text"))

} // namespace

ASSAY_FIELDS(BetweenRuns, deviation, (source_of(record), "source"))
ASSAY_FIELDS(Contrast, outcome, kind, ratio, low, high, p, detectable, paired,
             (reason_of(record), "reason_code"), between_runs, (contrast_in_words(record), "text"))
ASSAY_FIELDS(ComparedRow, identity, family, benchmark, what, name, library, libraries, parameters,
             metric, unit, higher_is_better, (cells_of(record), "cells"))
ASSAY_FIELDS(MeanRatio, ratio, low, high, count, outcome, p, detectable,
             (ratio_in_words(record), "text"))
ASSAY_FIELDS(Tally, better, worse, same, cannot_tell, missing)
ASSAY_FIELDS(ComparedTable, name, title, question, rows, means, tallies)
ASSAY_FIELDS(ComparedSide, label, what, runs, machines, measured, campaigns, threads, cores, memory,
             (some_of(record.files), "files"))
ASSAY_FIELDS(Ranked, side, rank)
ASSAY_FIELDS(NotCompared, what, reason, where)
ASSAY_FIELDS(Comparison, ("assay.comparison/1", "schema"), (title_of(record), "title"),
             (verdict_of(record).text, "verdict"), (gaps_of(record), "gaps"), sides, tables,
             questions, others, overall, ranking, tallies, question_tallies, series,
             (Method{record}, "method"), notes, not_compared)

/// The first side is compared with nothing.
static Value encode_value(const std::vector<MeanRatio>& means) {
    Value list = Value::array();
    for (const auto& mean : means) list.push_back(json::encode(mean));
    if (!list.empty()) list.front()["outcome"] = nullptr;
    return list;
}

/// Cases by the code of why.
static Value gaps_of(const Diff& diff) {
    Value counts = Value::object();
    for (const auto& [gap, names] : diff.not_compared) counts[to_string(gap)] = names.size();
    return counts;
}
ASSAY_FIELDS(DiffSide, label, file, (record::own_id(record.run.machine), "machine"),
             (record.run.status, "status"))
ASSAY_FIELDS(Difference, group, key, (record.before, "a"), (record.after, "b"), matters, count)
ASSAY_FIELDS(DifferentValue, name, (record.before, "a"), (record.after, "b"),
             (record.contrast.outcome, "outcome"), (record.contrast.ratio, "ratio"),
             (record.contrast.low, "low"), (record.contrast.high, "high"))
ASSAY_FIELDS(Diff, ("assay.diff/1", "schema"), a, b, (verdict_of(record), "verdict"), same_machine,
             differences, (record.facts, "facts_compared"), by_nature, (record.a.only, "only_a"),
             (record.b.only, "only_b"), (record.compared, "values_compared"),
             (gaps_of(record), "values_not_compared"), values)

} // namespace assay::compare

namespace assay::exchange {

std::string to_json(const compare::Comparison& comparison) {
    return json::to_text(json::encode(comparison));
}

// --- comparison csv ------------------------------------------------------------------------------

namespace {

using write::CsvLine;

constexpr std::string_view columns =
    "basis,table,family,benchmark,case,library,parameters,metric,unit,higher_is_better,side,value,"
    "low,high,count,knowledge,delivered,fast_share,outcome,kind,ratio,ratio_low,ratio_high,p,"
    "detectable,paired,notes\r\n";

std::string parameters_of(const compare::ComparedRow& row) {
    std::string out;
    for (const auto& [name, value] : row.parameters)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, record::to_string(value));
    return out;
}

void add_table(std::string& out, const compare::Comparison& comparison,
               const compare::ComparedTable& table, std::string_view basis) {
    for (const auto& row : table.rows)
        for (std::size_t side = 0; side < row.cells.size(); ++side) {
            const auto& cell = row.cells[side];
            CsvLine line{out};
            line.cells(basis, table.name, row.family, row.benchmark, row.what,
                       cell.library.empty() ? row.library : cell.library, parameters_of(row),
                       row.metric, row.unit, row.higher_is_better, comparison.sides[side].label,
                       cell.value, cell.low, cell.high, cell.count, cell.knowledge, cell.delivered,
                       cell.fast_share);
            if (const auto& c = cell.contrast)
                line.cells(c->outcome, c->kind, c->ratio, c->low, c->high, c->p, c->detectable,
                           c->paired);
            else
                line.empty(8);
            line.text(fmt::format("{}", fmt::join(cell.notes, "; ")));
            line.end();
        }
}

} // namespace

std::string to_csv(const compare::Comparison& comparison) {
    std::string out{columns};
    for (const auto& table : comparison.tables) add_table(out, comparison, table, "library");
    for (const auto& table : comparison.questions) add_table(out, comparison, table, "question");
    for (const auto& table : comparison.others) add_table(out, comparison, table, "other");
    for (const auto& entry : comparison.not_compared) {
        CsvLine line{out};
        line.raw("not_compared").empty(3).text(entry.what).empty(5);
        line.text(fmt::format("{}", fmt::join(entry.where, " "))).empty(15).text(entry.reason);
        line.end();
    }
    return out;
}

// --- diff data -----------------------------------------------------------------------------------

std::string to_json(const compare::Diff& diff) { return json::to_text(json::encode(diff)); }

} // namespace assay::exchange
