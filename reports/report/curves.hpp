// SPDX-License-Identifier: Apache-2.0
//
// Finds the cases of a run that are points of one curve: a sweep over sizes, threads or batches. Nobody
// declares sweeps; cases of a benchmark that differ in one number only are one.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::report {

/// A curve needs this many points; fewer are easier to read as bars.
inline constexpr std::size_t fewest_points = 4;

/// Points drawn of one, and curves in one chart; of more than that, every n-th, and the first.
inline constexpr std::size_t most_points = 200;
inline constexpr std::size_t most_curves = 12;

struct FoundCurves {
    std::vector<Sweep> charts;
    std::vector<bool> on_curve; ///< for each case of the run
};
/// Curves of the cases that have a figure. The run is plain (text.hpp).
FoundCurves find_curves(const record::Run& run);

/// The tables of a case, no larger than can be told apart on a page.
std::vector<Matrix> heat_maps(const record::Case& c);

/// "▁▂▄█": a height for each point; logarithmic where the values span two decades.
std::string sparkline(const document::Curve& curve);

/// Drops and jumps of rates as messages grow.
std::vector<document::Finding> find_shapes(const std::vector<Sweep>& charts);

} // namespace assay::report
