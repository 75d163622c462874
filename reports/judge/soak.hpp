// SPDX-License-Identifier: Apache-2.0
//
// What a soak says about the node: its results, the speed of each case, and whether it lasted.

#pragma once

#include "judge/causes.hpp"
#include "record/soak.hpp"

#include <string>
#include <vector>

namespace assay::report {

struct SoakFinding {
    Cause cause = Cause::none; ///< none: it is as it should be
    std::string id;            ///< "soak:results", "soak:speed", "soak:time"
    std::string detail;
};
/// One of the results, one of the time, and one for each case's speed, so that what is right counts as well.
std::vector<SoakFinding> findings_of(const record::Soak& soak);

} // namespace assay::report
