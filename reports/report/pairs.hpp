// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of a matrix are slow, and whose fault is it? Sentences for below a heat map, and findings.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// Slow pairs of a table whose rows and columns are the same nodes; none for any other, or where nothing is slow.
std::vector<std::string> slow_pairs(const record::Case& c, const record::Table& table);

/// The names of those that slow all their pairs, the worst first.
std::vector<std::string> slow_nodes(const record::Case& c, const record::Table& table);

/// The same of all tables that a slow cable would show in.
std::vector<document::Finding> find_slow_pairs(const record::Run& run);

/// Standard deviation of the logarithm of a cell's median over replicas, over all cells that several of
/// them measured; 0 without.
double noise_between_replicas(const record::Case& c, const record::Table& table);
/// "45% slower", "12 times slower".
std::string slower_by(double slowdown);

// A list of pairs (collective.fabric): the slow ones, by how much, how sure that is, and what was not measured.

/// Its rows are pairs, "node1 to node2", its columns how they played.
bool is_list_of_pairs(const record::Table& table);

/// Slow nodes and groups; nothing if none is slow.
struct SlowInFabric {
    std::vector<std::string> says;  ///< in sentences
    std::vector<std::string> nodes; ///< that slow all their pairs, the worst first
    std::vector<std::string>
        groups; ///< "switch leaf1", of groups as a whole and of what joins them
};
SlowInFabric slow_in_fabric(const record::Case& c, const record::Table& table);

/// From node to node, for a map: each cell the median of `merged` x `merged` nodes, played at once.
record::Table map_of_pairs(const record::Case& c, const record::Table& table, std::size_t& merged);

std::vector<document::Finding> find_in_fabrics(const record::Run& run);

} // namespace assay::report
