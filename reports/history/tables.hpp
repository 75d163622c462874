// SPDX-License-Identifier: Apache-2.0
//
// The tables of one group.

#pragma once

#include "document/document.hpp"
#include "history/history.hpp"

#include <vector>

namespace assay::report {

/// Those that changed come first.
std::vector<const HistorySeries*> in_order(const HistoryGroup& group);

/// A row for each series: its value, sparkline, change, trend.
document::Table series_table(const HistoryGroup& group);
/// The last quarter first, and all before it. The quarter of a change point is marked, no other.
document::Table quarters_table(const HistoryGroup& group);
document::Table spread_table(const HistoryGroup& group);
/// For workbooks, as the next one.
document::Table change_points_table(const HistoryGroup& group);
document::Table points_table(const HistoryGroup& group);

} // namespace assay::report
