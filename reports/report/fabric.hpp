// SPDX-License-Identifier: Apache-2.0
//
// What a list of pairs says of a fabric (collective.fabric): who is slow, by how much, how sure that is, and what was not
// measured.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// Its rows are pairs, "node1 to node2", its columns how they played.
bool is_list_of_pairs(const record::Table& table);

/// Who is slow, in sentences; none where nothing is.
std::vector<std::string> slow_in_fabric(const record::Case& c, const record::Table& table);

/// From node to node, for a map: each cell the median of `merged` x `merged` nodes, played at once.
record::Table map_of_pairs(const record::Case& c, const record::Table& table, std::size_t& merged);

std::vector<Finding> find_in_fabrics(const record::Run& run);

} // namespace assay::report
