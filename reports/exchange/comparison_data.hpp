// SPDX-License-Identifier: Apache-2.0
//
// A comparison as data: every verdict of its document follows from what the JSON holds.

#pragma once

#include "base/terminal.hpp"
#include "compare/comparison.hpp"

#include <string>

namespace assay::report {

/// Schema assay.comparison/1.
std::string to_json(const Comparison& comparison);
/// One row for each series and side, in SI base units, one header row:
///   basis: library (library by library), question (best library of each side), not_compared
///   table family benchmark case library parameters metric unit higher_is_better
///   side value low high count            the figure, its 95% interval, independent values behind it
///   outcome ratio ratio_low ratio_high   against the first side; above 1 is better
///   p detectable paired notes
/// What could not be compared has its name in `case`, its place in `side` and its reason in `notes`.
std::string to_csv(const Comparison& comparison);

} // namespace assay::report
