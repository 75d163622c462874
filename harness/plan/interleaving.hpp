// SPDX-License-Identifier: Apache-2.0
//
// What `assay run` measures: one run, or with --interleave a run for each variant with corresponding
// cases, so that cases with the same index make a pair.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "plan/variant.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

/// Ten pairs: with a standard deviation of 1% between pairs, a 3% difference is practically always found.
inline constexpr int usual_pairs = 10;

struct PlannedRun {
    Plan plan;
    Variant variant{}; ///< empty in a single run
    std::optional<record::Pairing>
        pairing{}; ///< with the others; its id is chosen when they are opened
};

struct Interleaving {
    std::vector<PlannedRun> runs; ///< with equally many cases, and a replica for each pair
    double expected_seconds = 0;
    std::vector<std::string> notes;
};

/// The plan for each of the variants.
std::vector<PlannedRun> in_turns(const Plan& plan, const std::vector<Variant>& variants);

/// request.replicas is the number of pairs; a budget is for all variants together. An unknown library of a
/// variant is a usage error.
Result<Interleaving> interleave(const Catalogue& catalogue, const PlanRequest& request,
                                const std::vector<Variant>& variants);

} // namespace assay::harness
