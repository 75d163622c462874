// SPDX-License-Identifier: Apache-2.0

#include "history/document.hpp"
#include "history/history_data.hpp"
#include "json/codec.hpp"

namespace assay::report {

ASSAY_FIELDS(ChangedFact, cause, name, before, after, without_effect)
ASSAY_FIELDS(HistoryPoint, seconds, value, low, high, runs, machine, files)
ASSAY_FIELDS(ChangePoint, seconds, earliest, latest, machine, before, after, ratio, low, high, p,
             cause, facts, text)
ASSAY_FIELDS(HistoryEvent, seconds, until, cause, facts, machines, better, worse, measured, text)
ASSAY_FIELDS(SeriesBreak, seconds, machine, text)
ASSAY_FIELDS(Quarter, name, value, low, high, machines, runs)
ASSAY_FIELDS(QuarterChange, from, to, ratio, low, high, machines, found, text)
ASSAY_FIELDS(Trend, per_year, low, high, text)
ASSAY_FIELDS(Spread::SlowestOf, machines, value)
ASSAY_FIELDS(Spread, machines, p05, p50, p95, tolerance, slowest, text)
ASSAY_FIELDS(HistorySeries, identity, family, benchmark, what, name, library, metric, unit,
             higher_is_better, points, (record.change_points, "steps"), detectable, breaks,
             quarters, change, trend, spread)
ASSAY_FIELDS(HistoryGroup, name, what, runs, machines, from, to, events, series)
ASSAY_FIELDS(Problem, where, reason)
ASSAY_FIELDS(History, ("assay.history/1", "schema"), (verdict_of(record), "verdict"), cause, groups,
             notes, not_used, runs)

std::string to_json(const History& history) { return json::to_text(json::encode(history)); }

} // namespace assay::report
