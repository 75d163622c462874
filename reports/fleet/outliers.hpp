// SPDX-License-Identifier: Apache-2.0
//
// Which values of which nodes are too low for their fleet: screened by the first, accused by retests alone.

#pragma once

#include "fleet/model.hpp"

#include <cstdint>
#include <vector>

namespace assay::fleet {

/// A value of a node in an item on one device: the first of the sweep, and what came after it.
struct NodeItem {
    std::uint32_t node = 0; ///< index into Fleet::nodes
    std::uint32_t place = 0;
    const decide::Observation* first = nullptr;
    std::vector<const decide::Observation*> again;
};

/// Values of each item, by node and device.
struct FleetValues {
    std::vector<std::vector<NodeItem>> of_item;
    std::vector<std::string> places;
};

/// `node_of_run`: index into Fleet::nodes, `no_node` for runs that do not belong to the sweep. Makes types' items and
/// columns.
inline constexpr auto no_node = static_cast<std::uint32_t>(-1);
FleetValues sort_values(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run);

/// The logarithm of a value, above is good.
double log_of(const FleetItem& item, double value);

/// Levels and bounds of items, suspects and columns of nodes.
void judge_values(Fleet& fleet, const FleetValues& values);

} // namespace assay::fleet
