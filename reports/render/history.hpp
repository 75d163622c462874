// SPDX-License-Identifier: Apache-2.0
//
// A history as people and programs read it. All draw from the same model.

#pragma once

#include "history/history.hpp"
#include "render/terminal.hpp"

#include <string>
#include <vector>

namespace assay::report {

std::string to_terminal(const History& history, const Terminal& style = {});
std::string to_markdown(const History& history);
/// Schema assay.history/1; its shape stands in page/src/data.ts.
std::string to_json(const History& history);
/// One static, self-contained page without a script.
std::string to_html(const History& history);
/// One header row, then, in SI base units, rows of these kinds:
///   point     a value with its 95% interval, of `runs` runs on `machine`
///   quarter   the mean over `machines`; `date` is its name
///   step      values before (`before`) and after (`value`), their ratio (above 1 is better) with interval and
///             p, its cause and what changed; the data put it between `date` and `until`
///   spread    between `machines`: `value` is the median, `low` what one in twenty is worse than, `high`
///             what one in twenty is better than
///   not_used  what takes no part, in `series`, and why, in `text`
std::string to_csv(const History& history);

/// How a history is read at the end of every output for people.
std::string history_method();
/// "HISTORY: 402 runs on 12 machines, ..." of one group.
std::string group_in_words(const HistoryGroup& group);
/// Reasons why something is not used, each with what it is true of.
struct NotUsed {
    std::string reason;
    std::vector<std::string> where;
};
std::vector<NotUsed> not_used_by_reason(const History& history);
/// "~ +0.3%" where the interval holds no change, "+3.1%" otherwise; empty without an interval and a ratio.
std::string change_in_short(const HistorySeries& series);
std::string trend_in_short(const HistorySeries& series);
/// The last quarter's value: "105 GFLOP/s".
std::string present_value(const HistorySeries& series);
std::string spread_in_short(const HistorySeries& series);
/// "▁▂▄█" over the time of the group, up is better; at least 5% from bottom to top, so that noise looks flat.
std::string history_sparkline(const HistorySeries& series, std::size_t columns);

} // namespace assay::report
