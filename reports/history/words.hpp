// SPDX-License-Identifier: Apache-2.0
//
// Findings of a history as sentences.

#pragma once

#include "history/history.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// An id, or that none was recorded.
std::string machine_name(std::string_view id);
std::string cause_in_words(Cause cause);
/// "kernel 6.1.0 → 6.8.0".
std::string fact_in_words(const ChangedFact& fact);
/// "7.1% worse", of times as good.
std::string ratio_in_words(double ratio);
/// "+3.1%", "−0.4%".
std::string signed_percent(double share);

std::string step_in_words(const HistoryStep& step);
/// A line for each cause: the same on several machines is said once.
std::vector<std::string> steps_in_words(std::span<const HistoryStep> steps);
std::string event_in_words(const HistoryEvent& event, std::span<const HistoryStep> steps);
std::string change_in_words(const QuarterChange& change);
std::string trend_in_words(const Trend& trend);
std::string spread_in_words(const Spread& spread, std::string_view unit);

} // namespace assay::report
