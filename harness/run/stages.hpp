// SPDX-License-Identifier: Apache-2.0
//
// The stages of an acceptance run: sanity (what --expect asks of the machine), validation (every case once), performance
// (the other replicas), stress (cases of the suite that load the machine for long). Where a stage shows that the node
// fails anyway, the later ones are not begun.

#pragma once

#include "plan/plan.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

/// Replicas first to last - 1 of some of the cases.
struct Rounds {
    record::StageName stage = record::StageName::performance;
    int first = 0;
    int last = 0;
    bool of_stress = false;
    bool has(const PlannedCase& planned) const { return planned.is_stress == of_stress; }
};
/// What a plan measures, in this order; one entry for a plan without stages.
std::vector<Rounds> rounds_of(const Plan& plan);

/// Sanity: done, or part_missing where an expectation is not met.
record::StageEnd sanity_of(const record::Machine& machine,
                           const std::vector<std::string>& expected);
/// Of measured cases: done, or wrong_result where one of them is incorrect.
record::StageEnd end_of(const std::vector<const record::Case*>& cases);

/// For people: why later stages were not begun, with the cases or parts that failed; empty for other ends.
std::string why_stopped(record::StageEnd end, const std::vector<const record::Case*>& cases,
                        const record::Machine& machine, const std::vector<std::string>& expected);

} // namespace assay::harness
