// SPDX-License-Identifier: Apache-2.0
//
// Results of commands as data for programs.

#pragma once

#include "base/file.hpp"
#include "compare/comparison.hpp"
#include "compare/diff.hpp"
#include "judge/judge.hpp"

#include <string>

namespace assay::exchange {

/// Schema assay.comparison/1.
std::string to_json(const compare::Comparison& comparison);
/// One row for each series and side, in SI base units, one header row:
///   basis: library (library by library), question (best library of each side), not_compared
///   table family benchmark case library parameters metric unit higher_is_better
///   side value low high count            the figure, its 95% interval, independent values behind it
///   knowledge                            known, at_least (measured under load), rough
///   delivered fast_share                 of guests: the mean over slow replicas too, and the share that was fast
///   outcome ratio ratio_low ratio_high   against the first side; above 1 is better
///   kind                                 of the ratio: exact, at_least (no high), at_most (no low), about (neither)
///   p detectable paired notes
/// What could not be compared has its name in `case`, its place in `side` and its reason in `notes`.
std::string to_csv(const compare::Comparison& comparison);

std::string to_json(const compare::Diff& diff);

/// Schema assay.verdict/1 (schema/verdict.json). The checks of a node that passes are there if it is the only one.
std::string to_json(const judge::Judgement& judgement, int exit_code);
/// The same in parts, one check in memory at a time: of 10,000 nodes it has a third of a gigabyte.
bool write_json(const judge::Judgement& judgement, int exit_code, const Sink& sink);
/// One row for each check of every node.
std::string to_csv(const judge::Judgement& judgement);
/// The newest verdict on each check as gauges: assay_check_status (0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 4 ERROR,
/// 5 SKIP; with its cause), assay_check_value_UNIT, assay_check_bound_UNIT; and of each node assay_node_status,
/// assay_node_required_checks, assay_node_run_checks, assay_node_run_time_seconds.
std::string to_openmetrics(const judge::Judgement& judgement);
/// JUnit XML: a testsuite for each node, a testcase for each check; a failure's type is its cause. Inconclusive
/// checks are errors: CI systems take skipped ones for good.
std::string to_junit(const judge::Judgement& judgement);

} // namespace assay::exchange
