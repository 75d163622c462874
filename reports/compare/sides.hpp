// SPDX-License-Identifier: Apache-2.0
//
// Words for the sides of a comparison, and notes beside their numbers.

#pragma once

#include "compare/arrange.hpp"
#include "compare/comparison.hpp"
#include "compare/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

std::vector<ComparedSide> describe_sides(const store::Collection& collection,
                                         const Arrangement& arrangement, const Units& units);

/// Is each side of other kinds of place, such as a host beside a device?
bool are_places_apart(const store::Collection& collection, const Arrangement& arrangement);

/// Notes on what the intervals do not cover, and on sides compared with themselves.
std::vector<std::string> notes_of(const store::Collection& collection,
                                  const Arrangement& arrangement, const Units& units);

/// "unstable in 2 of 6 runs", and runs without a figure beside those that have one.
std::vector<std::string> notes_of_cell(const store::Collection& collection,
                                       const record::NamedList& conditions,
                                       const std::vector<std::uint32_t>& observations);

/// Geometric mean over observations that have a ceiling; 1 is the limit reached.
std::optional<double> share_of_ceiling(const store::Collection& collection, const ArrangedRow& row,
                                       const std::vector<std::uint32_t>& observations);

// --- unlike --------------------------------------------------------------------------------------
// What could not be compared, and why: a row that one side lacks, and what that side has instead.

/// `measured[row][side]`: is there a value? Covers the first rows of the arrangement, those that are judged.
std::vector<NotCompared> find_unlike(const store::Collection& collection,
                                     const Arrangement& arrangement,
                                     const std::vector<std::vector<bool>>& measured);

/// "incorrect: error 3.1 is above the bound 0.5 (2 of 3 runs)" of observations without a figure, the
/// most frequent first; empty where each has one.
std::vector<std::string> reasons_of(const store::Collection& collection,
                                    const std::vector<std::uint32_t>& observations);

} // namespace assay::compare
