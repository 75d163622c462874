// SPDX-License-Identifier: Apache-2.0
//
// A comparison in words: the same ones in every output. All is plain already.

#pragma once

#include "compare/comparison.hpp"
#include "model/view.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// "1.08x [1.05, 1.11]" where a change is called, "~ the same", "~ cannot tell below 4%".
std::string contrast_in_words(const Contrast& contrast);
/// "better", "cannot tell"
std::string outcome_in_words(Outcome outcome);
/// "505 GFLOP/s", "505 GFLOP/s (onednn)" in tables by question; "not measured".
std::string value_in_words(const Cell& cell, const std::string& unit);
/// "±0.4%"; empty without one.
std::string interval_in_words(const Cell& cell);
/// "1.08x [1.05, 1.11]"; empty without a row.
std::string mean_in_words(const MeanRatio& mean);
/// "12 better, 1 worse, 4 the same"
std::string tally_in_words(const Tally& tally);
/// "floating point rate; more is better"
std::string metric_in_words(const ComparedTable& table);
/// How verdicts come about.
std::string method_in_words(const Comparison& comparison);
std::string title_of(const Comparison& comparison);
/// A line for each side, coverage, the extremes, what is left out: for whoever reads no further.
std::vector<Fact> summary_of(const Comparison& comparison);

/// Is there any series that two sides have?
bool has_common(const Comparison& comparison);
/// Rows that at least two sides have; the others are in `not_compared`, with their reasons.
std::vector<const ComparedRow*> compared_rows(const ComparedTable& table);
/// Rows of `questions` that say more than `tables` do: several libraries, or not the same one.
bool has_choice(const ComparedRow& row);

/// Things left out for one reason, in one line.
struct NotComparedGroup {
    std::string reason;
    std::vector<std::string> what;
    std::vector<std::string> where;
};
std::vector<NotComparedGroup> group_not_compared(const Comparison& comparison);

} // namespace assay::report
