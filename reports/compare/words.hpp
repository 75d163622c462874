// SPDX-License-Identifier: Apache-2.0
//
// A comparison in words: the same ones in every output. All is plain already.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"
#include "report/types.hpp"

#include <string>
#include <vector>

namespace assay::compare {

/// "1.08x [1.05, 1.11]"; empty without a ratio.
std::string ratio_in_words(const Contrast& contrast);
/// What the interval of the same lies within: "0.6%".
std::string within_in_words(const Contrast& contrast);
/// "1.08x [1.05, 1.11]", "same within 0.6%: 1.002x [0.998, 1.006]", "not resolved below 4%: ...", "disturbed (A: ...)".
std::string contrast_in_words(const Contrast& contrast);
/// The same for a column of a table: "1.08x ±3%", "= 1.002x ±0.4%" of the same, "~ 1.02x ±4%" of what is not resolved.
std::string contrast_in_short(const Contrast& contrast);
/// In front of ratios: "~ " of what is not resolved, "= " of the same.
std::string sign_of(ContrastOutcome outcome);
/// "faster", "not resolved"
std::string outcome_in_words(ContrastOutcome outcome);
/// "505 GFLOP/s", "505 GFLOP/s (onednn)" in tables by question; "not measured".
std::string value_in_words(const Cell& cell, const std::string& unit);
/// "±0.4%"; empty without one.
std::string interval_in_words(const Cell& cell);
/// "12 faster, 1 slower, 4 the same"
std::string tally_in_words(const Tally& tally);
/// "floating point rate; more is better"
std::string metric_in_words(const ComparedTable& table);
/// How verdicts come about.
std::string method_in_words(const Comparison& comparison);
std::string title_of(const Comparison& comparison);
/// What was disturbed, the extremes, coverage, what is left out.
std::vector<document::Fact> summary_of(const Comparison& comparison);

/// Test cases that no side shares because their parameters differ: nobody looks for them at the end.
document::Findings unlike_findings(const Comparison& comparison);

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

// --- verdict -------------------------------------------------------------------------------------
// Which side is faster, by how much, and how sure is that: the first sentences of a comparison.

struct VerdictWords {
    std::string text;
    document::Tone tone = document::Tone::plain;
};
/// By the test of the rows, applied to the overall ratio.
VerdictWords verdict_of(const Comparison& comparison);

/// Good for faster, bad for slower, quiet where neither.
document::Tone tone_of(const Contrast& contrast);

} // namespace assay::compare
