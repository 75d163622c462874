// SPDX-License-Identifier: Apache-2.0
//
// The limits in force after layering; on a machine of which there are runs those that apply, and how far its values are
// from each.

#pragma once

#include "document/document.hpp"
#include "judge/judge.hpp"
#include "judge/limits.hpp"
#include "judge/lint.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::judge {

struct EffectiveLimit {
    Limit limit;
    std::string replaced; ///< the file whose limit it replaces; empty: none
    bool expired = false;
    std::vector<std::size_t> checks; ///< of the node
};
struct Effective {
    std::vector<std::string> names; ///< of the files, in order
    std::string machine;            ///< in words; empty for every machine
    std::size_t all = 0;            ///< limits in force, of any machine
    std::vector<EffectiveLimit> limits;
    std::vector<Waiver> waivers;
    double now = 0;                     ///< seconds since 1970
    std::optional<Judgement> judgement; ///< by these limits, of the machine's runs
    std::size_t node = 0;               ///< the one of the newest run
};

/// `runs`: of one machine; fails where there are several. `now`: seconds since 1970.
Result<Effective> effective(Limits limits, std::optional<store::Collection> runs, double now);
/// Checks of the limits: those that are missed first, then the closest, those without a bound, those not
/// measured.
std::vector<const Check*> closest_first(const Effective& effective);

document::Document make_document(const Effective& effective);
std::string to_json(const Effective& effective);

/// Document of lint, whose `files` were looked at.
document::Document make_document(const std::vector<document::LintRow>& findings,
                                 const std::vector<std::string>& files, std::size_t limits);
std::string to_json(const std::vector<document::LintRow>& findings,
                    const std::vector<std::string>& files, std::size_t limits);

} // namespace assay::judge
