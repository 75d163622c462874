// SPDX-License-Identifier: Apache-2.0
//
// Proves that the judge notices what it must: made-up nodes, each with one fault, go the way of real result files, from
// the text of a run.json to the verdict (`assay check --self-test`).

#pragma once

#include "judge/causes.hpp"
#include "judge/limits.hpp"
#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::report {

struct SelfTest {
    std::string name; ///< "one device 10% slow"
    Outcome expected = Outcome::pass;
    Cause expected_cause = Cause::none; ///< of the worst check
    Outcome outcome = Outcome::pass;
    Cause cause = Cause::none;
    bool passed() const { return outcome == expected && cause == expected_cause; }
};
std::vector<SelfTest> self_test();

/// A healthy node of eight devices as an acceptance run finds it, five replicas a case: for tests, too.
record::Run healthy_node();
/// Verdict and cause of the worst check of a result file with this content, under the limits of the made-up node or
/// others.
SelfTest judged(const std::string& run_json);
SelfTest judged(const std::string& run_json, LimitsFile limits);
SelfTest judged(const record::Run& run);

} // namespace assay::report
