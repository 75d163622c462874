// SPDX-License-Identifier: Apache-2.0
//
// Under which conditions was a series measured, as far as comparing needs it (decision 0278)? Conditions that were
// recorded and differ keep series apart. One that was not recorded, as in files from before it existed, is taken to
// be the only value that series of the same question and of otherwise equal conditions recorded; where they recorded
// several, the series stays by itself. So two that differ never meet through a third that does not say, and the
// order of the files does not matter.

#pragma once

#include "record/conditions.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::report {

/// For each series its conditions; "" for one that was not recorded and cannot be taken to be any of several.
/// `group`: for each series the number of what it asks, without conditions. `left_out`: conditions that do not count.
std::vector<record::NamedList> settle(const std::vector<Series>& series,
                                      const std::vector<std::uint32_t>& group,
                                      const std::vector<std::string>& left_out);

/// "ecc off", "ecc not recorded".
std::string condition_in_words(const record::NamedList& conditions, std::string_view name);
/// Those that are not as usual: "machines 2, ranks 16, path tcp". What a parameter says is not said again.
std::string conditions_in_words(const record::NamedList& conditions,
                                const record::NamedList& parameters = {});
/// Of settled conditions those that this series did not record: it was taken to be like others.
std::vector<std::string> assumed(const record::NamedList& settled, const Series& series);

} // namespace assay::report
