// SPDX-License-Identifier: Apache-2.0
//
// Ratios with their intervals as inline SVG: how many times as good is each side, and how sure is that?

#pragma once

#include "compare/comparison.hpp"

#include <string>

namespace assay::report {

/// A dot and a whisker for each row and side on a logarithmic axis, with the line at 1. Empty where no
/// row has a ratio.
std::string ratio_chart(const Comparison& comparison, const ComparedTable& table,
                        const std::string& id);

} // namespace assay::report
