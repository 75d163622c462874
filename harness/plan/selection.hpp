// SPDX-License-Identifier: Apache-2.0
//
// From the request to a list of cases: which benchmarks of which modules, with which values of each
// parameter. planner.cpp decides order and effort.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "plan/suite.hpp"

#include <string>
#include <vector>

namespace assay::harness {

struct Selection {
    std::vector<PlannedCase> cases;    ///< each once
    std::vector<PlannedCase> not_here; ///< those that cannot run on this machine
    std::vector<std::string> notes;    ///< what was left out and why
};

/// More cases than this are refused: a typing error, and weeks of measuring.
inline constexpr std::size_t most_cases = 100'000;
/// Of all parameters before they are combined, ranges written out.
inline constexpr std::size_t most_values = 100'000;

/// All cases of `suite`, or of the benchmarks in request.what if it is null, after --set, --only and --exclude.
Result<Selection> select_cases(const Catalogue& catalogue, const PlanRequest& request,
                               const Suite* suite);

} // namespace assay::harness
