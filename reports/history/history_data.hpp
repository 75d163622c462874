// SPDX-License-Identifier: Apache-2.0
//
// A history as programs read it.

#pragma once

#include "history/history.hpp"

#include <string>

namespace assay::report {

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

} // namespace assay::report
