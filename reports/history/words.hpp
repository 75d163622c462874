// SPDX-License-Identifier: Apache-2.0
//
// Findings of a history as sentences.

#pragma once

#include "history/history.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::history {

/// An id, or that none was recorded.
std::string machine_name(std::string_view id);
std::string cause_in_words(ChangeCause cause);
/// "kernel 6.1.0 → 6.8.0".
std::string fact_in_words(const ChangedFact& fact);
/// All of them, or a note that there are no facts.
std::string facts_in_words(const std::vector<ChangedFact>& facts);
/// "106 → 95.8 GFLOP/s".
std::string from_to_in_words(double before, double after, std::string_view unit);
/// "+3.1%", "−0.4%".
std::string signed_percent(double share);
/// "2024-10-01 to 2024-10-06", or the only day.
std::string period_in_words(double first, double last);

std::string change_point_in_words(const ChangePoint& change);

/// The same change of one series, which several machines can show.
struct SameChange {
    std::vector<ChangePoint> points; ///< by time; never empty
    std::string text;
};
/// In the order of time.
std::vector<SameChange> same_changes(std::span<const ChangePoint> points);
/// The largest: "−7.4%".
std::string size_in_short(const SameChange& change);

/// "2 of 3 cases became 6.7% to 7.4% slower".
std::string sizes_in_words(const HistoryEvent& event);
/// "GEMM fp64 and FFT became 6.7% to 7.4% slower"; of many cases their number.
std::string named_in_words(const HistoryGroup& group, const HistoryEvent& event);
/// "−21% to −8.8%": the range over its cases.
std::string range_in_short(const HistoryEvent& event);
/// When: "2024-10-01", "between 2025-07-05 and 2025-08-05".
std::string when_in_words(const HistoryEvent& event);
std::string event_in_words(const HistoryEvent& event);
std::string change_in_words(const QuarterChange& change);
std::string trend_in_words(const Trend& trend);
std::string spread_in_words(const Spread& spread, std::string_view unit);

} // namespace assay::history
