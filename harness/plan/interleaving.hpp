// SPDX-License-Identifier: Apache-2.0
//
// What `assay run --interleave` measures: one plan for each setting, case by case the same questions, so
// that cases with the same index make a pair.

#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "plan/variant.hpp"
#include "registry/catalogue.hpp"

#include <string>
#include <vector>

namespace assay::harness {

/// Ten pairs: with a deviation of 1% between pairs, a 3% difference is found practically always.
inline constexpr int usual_pairs = 10;

struct Interleaving {
    std::vector<Variant> settings;
    std::vector<Plan>
        plans; ///< one for each setting, with as many cases, and a replica for each pair
    double expected_seconds = 0;
    std::vector<std::string> notes;
};

/// request.replicas is the number of pairs; a budget is for all settings together. A setting's library
/// that is not there is a usage error.
Result<Interleaving> interleave(const Catalogue& catalogue, const PlanRequest& request,
                                const std::vector<Variant>& settings);

} // namespace assay::harness
