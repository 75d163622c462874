// SPDX-License-Identifier: Apache-2.0
//
// Is each of these nodes good? All runs of a machine in a campaign are compared with the limits: a check for every
// limit and case, for the parts that must be there, and for what telemetry saw. Absence never passes. The tests and
// their levels: decide/acceptance.hpp.

#pragma once

#include "base/result.hpp"
#include "document/document.hpp"
#include "judge/judgement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::judge {

struct JudgeOptions {
    std::vector<std::string> filter; ///< of runs and cases, as of comparisons
    std::string campaign;            ///< every one for itself where empty
    PartChoice part = PartChoice::all;
    decide::AcceptanceLevels levels;
    std::optional<double> now; ///< seconds since 1970, for what expires; the clock's otherwise
};

/// Fails where a filter or a campaign names nothing.
Result<Judgement> judge(store::Collection collection, Limits limits,
                        const JudgeOptions& options = {});

/// Options for `collect` to read all that these limits need.
store::CollectOptions collecting_for(const Limits& limits, store::CollectOptions options = {});

// --- document ------------------------------------------------------------------------------------
// A judgement as a document: of one node every check, of many those that are not PASS.

document::Document make_document(const Judgement& judgement);

/// Checks of a node in this order, with values and margins; those that nobody measured come last, with the command.
document::Table table_of(const Judgement& judgement, const Node& node,
                         std::vector<const Check*> checks);

/// Basis of the judgement: waivers, limits and where they come from, files that were not used.
std::vector<document::Section> origins_of(const Judgement& judgement);

} // namespace assay::judge
