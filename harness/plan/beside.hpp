// SPDX-License-Identifier: Apache-2.0
//
// What a case loses to a neighbour on the same machine: measured alone and beside a load, in turn, on the same CPUs.

#pragma once

#include "base/result.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"

#include <string>

namespace assay::harness {

/// `load`: "memory.stream kernel=triad on other cores" or "... on other devices", one case. request.replicas is the
/// number of pairs; a budget is for both variants together.
Result<Interleaving> beside(const Catalogue& catalogue, const PlanRequest& request,
                            const std::string& load);

} // namespace assay::harness
