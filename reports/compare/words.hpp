// SPDX-License-Identifier: Apache-2.0
//
// A comparison in words: the same ones in every output. All is plain already.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

/// The certain part of a ratio: the bound, where it is one.
double sure_ratio(const Contrast& contrast);
/// "6.6%" of 0.066; at least 0.1%.
std::string percent_in_words(double share);
/// Is a ratio said as a change in percent, or as times?
bool is_near(double ratio);
/// Without a sign, as exact as tables have it: "6.6%" of 1.066 and of 0.934, or "3.12".
std::string amount_in_words(double ratio, bool percent);
/// The interval, with or without signs: "+5.1 to +11.2%", "3.05 to 3.19"; empty without one.
std::string ends_in_words(const Contrast& contrast, bool is_signed);
/// How far apart the sides may be by their interval: 0.013 is 1.3%.
double within(const Contrast& contrast);
/// "+8.0% (95%: +5.1 to +11.2%)", "3.12x (95%: 3.05 to 3.19)", "at least 3.10x"; empty without a ratio.
std::string ratio_in_words(const Contrast& contrast);
/// The same with what was found: "same within 0.6%: ...", "not resolved above 4%: ...", "about 1.02x (A: ...)".
std::string contrast_in_words(const Contrast& contrast);
/// For a column of a table: "+8.0% ±3.1%", "= +0.2% ±0.4%" of the same, "~ +2.0% ±4.1%" of what is not resolved.
std::string contrast_in_short(const Contrast& contrast);
/// "faster", "not resolved"
std::string outcome_in_words(ContrastOutcome outcome);
/// "505 GFLOP/s", "505 GFLOP/s (onednn)" in tables by question; "not measured".
std::string value_in_words(const Cell& cell, const std::string& unit);
/// "±0.4%"; empty without one.
std::string interval_in_words(const Cell& cell);
/// "delivered 61.2 GB/s, 94% of replicas on the fast level", where that is something else than the value.
std::string delivered_in_words(const Cell& cell, const std::string& unit);
/// "12 faster, 1 slower, 4 the same"
std::string tally_in_words(const Tally& tally);
/// How verdicts come about.
std::string method_in_words(const Comparison& comparison);
std::string title_of(const Comparison& comparison);
/// From what on a difference counts, and the confidence of intervals.
std::string level_in_words(const Comparison& comparison);
/// What signs and words in the tables mean, with the confidence and the level of the test.
std::string legend_of(const Comparison& comparison);
/// The overall ratios with slow replicas included, where these are something else; else empty.
std::string delivered_overall(const Comparison& comparison);
/// The geometric mean of the values of the rows of `means`, one for each side; empty without such rows.
std::vector<std::optional<double>> means_of_values(const ComparedTable& family);

bool is_compared(const ComparedRow& row);
/// Rows that at least two sides have; the others are in `not_compared`, with their reasons.
std::vector<const ComparedRow*> compared_rows(const ComparedTable& table);
/// Rows of `questions` that say more than `tables` do: several libraries, or not the same one.
bool has_choice(const ComparedRow& row);

/// The contrast of a row without a verdict because of load, levels or moved CPUs; else nullptr.
const Contrast* open_contrast(const ComparedRow& row);

/// Things left out, or without a verdict, for one cause.
struct NotComparedGroup {
    std::string cause;
    std::vector<std::string> where;
    NotComparedCode code = NotComparedCode::other;
    std::vector<NotCompared> entries{};
};
/// The largest first.
std::vector<NotComparedGroup> group_not_compared(const Comparison& comparison);

// --- verdict -------------------------------------------------------------------------------------
// Which side is faster, by how much, and how sure is that: the first sentences of a comparison.

struct VerdictWords {
    std::string text;
    document::Tone tone = document::Tone::plain;
};
/// By the test of the rows, applied to the overall ratio; and what went the other way.
VerdictWords verdict_of(const Comparison& comparison);
/// How many cases have no partner or no verdict, and why: a line each.
std::vector<std::string> gaps_of(const Comparison& comparison);

/// Side `one` against `other`, of contrasts with the first side (nullptr is that side itself). Two others are apart
/// where their intervals are.
Contrast against(const Contrast* one, const Contrast* other);
/// Good for faster, bad for slower, quiet where neither.
document::Tone tone_of(const Contrast& contrast);

} // namespace assay::compare
