// SPDX-License-Identifier: Apache-2.0

#include "compare/verdict.hpp"
#include "compare/words.hpp"
#include "exchange/comparison_data.hpp"
#include "json/codec.hpp"
#include "record/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

using json::Value;

/// What stands for other times than those measured is known from this.
std::string source_of(const BetweenRuns& between) {
    return between.history == 0 ? "default" : fmt::format("history of {} runs", between.history);
}

std::optional<NoVerdict> reason_of(const Contrast& contrast) {
    return contrast.no_verdict == NoVerdict::none ? std::nullopt
                                                  : std::optional{contrast.no_verdict};
}

/// Of thousands of runs the names of a few are enough; `runs` counts all.
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
             (value_in_words(record.cell, record.unit), "text"),
             (interval_in_words(record.cell), "interval"), (record.cell.contrast, "contrast"),
             (record.cell.notes, "notes"))
std::vector<UnitCell> cells_of(const ComparedRow& row) {
    std::vector<UnitCell> cells;
    for (const auto& cell : row.cells) cells.push_back({cell, row.unit});
    return cells;
}

Value summary_facts(const Comparison& comparison) {
    Value summary = Value::array();
    for (const auto& fact : summary_of(comparison))
        summary.push_back({{"name", fact.name}, {"text", fact.text}});
    return summary;
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
ASSAY_FIELDS(Contrast, outcome, ratio, low, high, p, detectable, paired,
             (reason_of(record), "reason_code"), between_runs, (contrast_in_words(record), "text"))
ASSAY_FIELDS(ComparedRow, identity, family, benchmark, what, name, library, libraries, parameters,
             metric, unit, higher_is_better, (cells_of(record), "cells"))
ASSAY_FIELDS(MeanRatio, ratio, low, high, count, outcome, p, detectable,
             (ratio_in_words(record), "text"))
ASSAY_FIELDS(Tally, better, worse, same, cannot_tell, missing)
ASSAY_FIELDS(ComparedTable, name, title, question, rows, means, tallies)
ASSAY_FIELDS(ComparedSide, label, what, runs, machines, measured, threads, cores, memory,
             (some_of(record.files), "files"))
ASSAY_FIELDS(Ranked, side, rank)
ASSAY_FIELDS(NotCompared, what, reason, where)
ASSAY_FIELDS(Comparison, ("assay.comparison/1", "schema"), (title_of(record), "title"),
             (verdict_of(record).text, "verdict"), sides, (summary_facts(record), "summary"),
             tables, questions, others, overall, ranking, means, tallies, question_means,
             question_tallies, series, (Method{record}, "method"), notes, not_compared)

/// The first side is held against nothing.
static Value encode_value(const std::vector<MeanRatio>& means) {
    Value list = Value::array();
    for (const auto& mean : means) list.push_back(json::encode(mean));
    if (!list.empty()) list.front()["outcome"] = nullptr;
    return list;
}

std::string to_json(const Comparison& comparison) {
    return json::to_text(json::encode(comparison));
}

} // namespace assay::report
