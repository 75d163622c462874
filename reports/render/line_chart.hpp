// SPDX-License-Identifier: Apache-2.0
//
// Curves as inline SVG: a sweep over sizes, threads or batches. Both axes are logarithmic where the
// values span more than a decade, as sizes always do.

#pragma once

#include "model/view.hpp"

#include <string>

namespace assay::report {

/// `id` starts the ids of titles, and is unique on the page.
std::string line_chart(const CurveChart& chart, const std::string& id);

/// "▁▂▄█": the heights of the points, for terminals and Markdown. On a logarithmic scale where they
/// span more than a decade.
std::string sparkline(const Curve& curve);

} // namespace assay::report
