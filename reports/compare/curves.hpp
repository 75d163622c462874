// SPDX-License-Identifier: Apache-2.0
//
// Sweeps side by side: rows that differ in one number alone are a curve for each side (report/curves.hpp does the same for
// one run). Text formats have these rows in their tables.

#pragma once

#include "compare/comparison.hpp"
#include "document/chart.hpp"

#include <vector>

namespace assay::report {

std::vector<document::Chart> curves_of(const Comparison& comparison, const ComparedTable& table);

} // namespace assay::report
