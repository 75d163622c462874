// SPDX-License-Identifier: Apache-2.0
//
// A matrix as coloured squares: a dark one is a slow pair.

#pragma once

#include "model/view.hpp"

#include <string>

namespace assay::report {

/// Inline SVG; figures stand in the squares where there is room. `id` is unique on the page.
std::string heat_map(const HeatMap& map, const std::string& id);

/// "6 pairs: fastest 0 to 1 with 61.2 ns, slowest 3 to 8 with 140 ns, median 70 ns".
std::string extremes(const HeatMap& map);

} // namespace assay::report
