// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of a matrix are slow, and whose fault is it? Sentences for below a heat map, and findings.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <string>
#include <vector>

namespace assay::report {

/// Of a table whose rows and columns are the same nodes; none of any other, or where nothing is slow.
std::vector<std::string> slow_pairs(const record::Case& c, const record::Table& table);

/// The names of those that slow all their pairs, the worst first.
std::vector<std::string> slow_nodes(const record::Case& c, const record::Table& table);

/// The same of all tables that a slow cable would show in.
std::vector<Finding> find_slow_pairs(const record::Run& run);

/// Standard deviation of the logarithm of a cell's median over replicas, over all cells that several of
/// them measured; 0 without.
double noise_between_replicas(const record::Case& c, const record::Table& table);
/// "45% slower", "12 times slower".
std::string slower_by(double slowdown);

} // namespace assay::report
