// SPDX-License-Identifier: Apache-2.0
//
// From what was asked for to a list of cases: which benchmarks of which modules, with which values of
// each parameter. Order and effort are the business of plan.cpp.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "plan/suite.hpp"
#include "registry/catalogue.hpp"

#include <string>
#include <vector>

namespace assay::harness {

struct Selection {
    std::vector<PlannedCase> cases; ///< each once
    std::vector<std::string> notes; ///< what was left out and why
};

/// More cases than this are refused: it is a slip of the finger, and weeks of measuring.
inline constexpr std::size_t most_cases = 100'000;

/// All cases of `suite`, or of the benchmarks in request.what where it is null, after --set and --only.
Result<Selection> select_cases(const Catalogue& catalogue, const PlanRequest& request,
                               const Suite* suite);

} // namespace assay::harness
