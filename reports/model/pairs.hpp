// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of a matrix are slow, and whose fault is it? Sentences for below a heat map.

#pragma once

#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// Of a table whose rows and columns are the same nodes; none of any other, or where nothing is slow.
std::vector<std::string> slow_pairs(const record::Case& c, const record::Table& table);

} // namespace assay::report
