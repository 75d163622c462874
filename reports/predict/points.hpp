// SPDX-License-Identifier: Apache-2.0
//
// Which measured times belong together? Those of one collective on one kind of machine and place, by one
// library with the same parameters; only message size, ranks and nodes may differ.

#pragma once

#include "predict/formulas.hpp"
#include "store/collection.hpp"
#include "store/keys.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace assay::report {

struct TimedPoint {
    double bytes = 0;
    double seconds = 0;
    double nodes = 1;
    double ranks_per_node = 1;
    double log_error = 0; ///< standard error of the logarithm of `seconds`; 0 where not known
};

struct MeasuredCurve {
    std::string machine; ///< instance type, or its processor
    std::string place;
    std::string library;
    std::string what; ///< the other parameters, in words
    std::vector<TimedPoint> points;
    std::set<std::uint32_t> runs;      ///< indices into Collection::runs
    std::set<std::string> machine_ids; ///< that the runs were started on
};

struct MeasuredCurves {
    std::vector<MeasuredCurve> curves;
    std::vector<Problem> not_used;
};
MeasuredCurves measured_curves(const Collection& collection, Collective collective,
                               const std::vector<Filter>& filters);

} // namespace assay::report
