// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on nodes, for programs. Names of checks, codes and labels are the same in every language; sentences are not.

#pragma once

#include "base/file.hpp"
#include "judge/judge.hpp"

#include <string>

namespace assay::report {

/// Schema assay.verdict/1 (schema/verdict.json). The checks of a node that passes are there if it is the only one.
std::string to_json(const Judgement& judgement, int exit_code);
/// The same in parts, one check in memory at a time: of 10,000 nodes it has a third of a gigabyte.
bool write_json(const Judgement& judgement, int exit_code, const Sink& sink);
/// One row for each check of every node.
std::string to_csv(const Judgement& judgement);
/// The newest verdict on each check as gauges: assay_check_status (0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 4 ERROR,
/// 5 SKIP; with its cause), assay_check_value_UNIT, assay_check_bound_UNIT; and of each node assay_node_status,
/// assay_node_required_checks, assay_node_run_checks, assay_node_run_time_seconds.
std::string to_openmetrics(const Judgement& judgement);
/// JUnit XML: a test suite for each node, a test case for each check; a failure's type is its cause. What is inconclusive
/// is an error: CI systems take what is skipped for good.
std::string to_junit(const Judgement& judgement);

} // namespace assay::report
