// SPDX-License-Identifier: Apache-2.0
//
// What could not be compared, and why: a row that one side lacks, and what that side has instead.

#pragma once

#include "compare/arrange.hpp"
#include "compare/comparison.hpp"

#include <vector>

namespace assay::report {

/// `measured[row][side]`: is there a value? Of the first rows of the arrangement, those that are judged.
std::vector<NotCompared> find_unlike(const Collection& collection, const Arrangement& arrangement,
                                     const std::vector<std::vector<bool>>& measured);

/// "incorrect: error 3.1 is above the bound 0.5 (2 of 3 runs)" of observations without a figure, the
/// most frequent first; empty where each has one.
std::vector<std::string> reasons_of(const Collection& collection,
                                    const std::vector<std::uint32_t>& observations);

} // namespace assay::report
