// SPDX-License-Identifier: Apache-2.0
//
// What a case was concluded from.

#pragma once

#include "record/summary.hpp"

#include <vector>

namespace assay::record {

inline double value_of(const Case& c) { return c.metrics.at(0).value.value_or(0); }

inline std::vector<int> counted_indexes(const Case& c) {
    std::vector<int> indexes;
    for (const Replica* replica : counted(c)) indexes.push_back(replica->index);
    return indexes;
}

} // namespace assay::record
