// SPDX-License-Identifier: Apache-2.0
//
// What nodes of a type reach in one test item: their median, how much good ones differ, and by what. Limits and the
// screening of a fleet start from it.

#pragma once

#include "decide/fleet.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::report {

inline constexpr std::size_t fewest_nodes = 5;

/// Of each series its question for one node: without the index of its device, and of its conditions how many machines and
/// ranks it is of.
struct ItemName {
    Series series; ///< so
    std::string name;
};
ItemName item_name(const Series& series);

/// May it say what good nodes reach?
bool is_of_a_level(const Observation& seen, const Series& series);

/// One published value, and numbers of the node, device, day and run that it is of: equal for equal ones.
struct NodeValue {
    std::uint32_t node = 0;
    std::uint32_t place = 0;
    std::uint32_t day = 0;
    std::uint32_t run = 0;
    const Observation* seen = nullptr;
};

struct ItemLevel {
    std::size_t nodes = 0;
    std::size_t places = 0;
    std::size_t runs = 0;
    stats::FleetLevel fleet;
    std::vector<double> kept; ///< logarithms, the worst first, without those left out
    std::vector<stats::VarianceEstimate> parts; ///< replica, run, day, device, node
    double noise = 0;                           ///< of one value at another time
    double error = 0;                           ///< of a node's value
};
/// 0 where nothing is known.
double known(const stats::VarianceEstimate& part);
ItemLevel level_of(std::span<const NodeValue> values, bool higher_is_better);

/// The variance of single values of good nodes in each item of a type, moderated over all of them.
std::vector<stats::VarianceEstimate> variances_of(std::span<const ItemLevel* const> levels);

} // namespace assay::report
