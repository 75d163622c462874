// SPDX-License-Identifier: Apache-2.0
//
// A comparison as people and programs read it. All draw from the same model, and every verdict that is
// shown follows from what the JSON holds.

#pragma once

#include "compare/comparison.hpp"
#include "render/terminal.hpp"

#include <string>

namespace assay::report {

std::string to_terminal(const Comparison& comparison, const Terminal& style = {});
std::string to_markdown(const Comparison& comparison);
/// Schema assay.comparison/1; its shape stands in page/src/data.ts.
std::string to_json(const Comparison& comparison);
/// One static, self-contained page without a script: tables, and ratios with intervals drawn.
std::string to_html(const Comparison& comparison);
/// One row for each series and side, in SI base units, one header row:
///   basis: library (library by library), question (best library of each side), not_compared
///   table family benchmark case library parameters metric unit higher_is_better
///   side value low high count            the figure, its 95% interval, independent values behind it
///   outcome ratio ratio_low ratio_high   against the first side; above 1 is better
///   p detectable paired notes
/// What could not be compared has its name in `case`, its place in `side` and its reason in `notes`.
std::string to_csv(const Comparison& comparison);

} // namespace assay::report
