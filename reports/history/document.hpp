// SPDX-License-Identifier: Apache-2.0
//
// A history as a document: what changed, since when and why; then each instance type.

#pragma once

#include "document/document.hpp"
#include "history/history.hpp"

#include <string>
#include <vector>

namespace assay::history {

document::Document make_document(const History& history);

/// The answer, a sentence each: the most serious change that was found, what else changed, how many cases did not and
/// how well that is known; or that nothing changed.
std::vector<std::string> answer_of(const History& history);

/// A change, and where it was found.
struct FoundEvent {
    const HistoryGroup* group;
    const HistoryEvent* event;
};
/// The most serious first: any loss before any gain.
std::vector<FoundEvent> events_of(const History& history);

/// A case that drifts, and where.
struct FoundDrift {
    const HistoryGroup* group;
    const HistorySeries* series;
};
/// The steepest first.
std::vector<FoundDrift> drifts_of(const History& history);

/// What changed: the chart of the most serious change, a row for each cause, a chart of each other cause, drifts.
document::Section changes_section(const History& history);

// --- history data --------------------------------------------------------------------------------
// A history as programs read it.

/// Schema assay.history/1.
std::string to_json(const History& history);
/// One header row, then, in SI base units, rows of these kinds:
///   point     a value with its 95% interval, of `runs` runs on `machine`
///   quarter   the mean over `machines`; `date` is its name
///   step      values before (`before`) and after (`value`), their ratio (above 1 is better) with interval and
///             p, its cause and what changed; the data put it between `date` and `until`
///   spread    between `machines`: `value` is the median, `low` what one in twenty is worse than, `high`
///             what one in twenty is better than
///   not_used  what takes no part, in `series`, and why, in `text`
std::string to_csv(const History& history);

// --- tables --------------------------------------------------------------------------------------
// The tables of one group.

/// Those that changed come first.
std::vector<const HistorySeries*> in_order(const HistoryGroup& group);

/// A row for each series: its value, sparkline, change, trend.
document::Table series_table(const HistoryGroup& group);
/// "▁▂▄█" over the time of the series, up is better; at least 5% from bottom to top, so that noise looks flat. Of these
/// machines only, or of all.
std::string sparkline(const HistorySeries& series, const std::vector<std::string>& machines = {});
/// The last quarter first, and all before it. The quarter of a change point is marked, no other.
document::Table quarters_table(const HistoryGroup& group);
document::Table spread_table(const HistoryGroup& group);
/// For workbooks, as the next one.
document::Table change_points_table(const HistoryGroup& group);
document::Table points_table(const HistoryGroup& group);

} // namespace assay::history
