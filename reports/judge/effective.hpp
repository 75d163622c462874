// SPDX-License-Identifier: Apache-2.0
//
// The limits in force after layering, for every machine or for one of a run, with what their shares resolve to there.

#pragma once

#include "document/document.hpp"
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
    /// What the bound is in the machine's run, lowest and highest over its cases; the unit of these.
    std::optional<double> low;
    std::optional<double> high;
    std::string unit;
};
struct Effective {
    std::vector<std::string> names; ///< of the files, in order
    std::string machine;            ///< in words; empty for every machine
    std::size_t all = 0;            ///< limits in force, of any machine
    std::vector<EffectiveLimit> limits;
    std::vector<Waiver> waivers;
    double now = 0; ///< seconds since 1970
};

/// `run`: of one machine; fails where there are several. `now`: seconds since 1970.
Result<Effective> effective(const Limits& limits, const store::Collection* run, double now);

document::Document make_document(const Effective& effective);
std::string to_json(const Effective& effective);

/// Of lint, whose `files` were looked at.
document::Document make_document(const std::vector<document::LintRow>& findings,
                                 const std::vector<std::string>& files, std::size_t limits);
std::string to_json(const std::vector<document::LintRow>& findings,
                    const std::vector<std::string>& files, std::size_t limits);

} // namespace assay::judge
