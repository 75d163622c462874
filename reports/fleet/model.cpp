// SPDX-License-Identifier: Apache-2.0

#include "fleet/model.hpp"

#include <algorithm>

namespace assay::report {

bool is_serious(FaultCode code) {
    return code != FaultCode::reported_twice && code != FaultCode::mixed_versions &&
           code != FaultCode::mixed_plans && code != FaultCode::mixed_software &&
           code != FaultCode::one_machine_two_names;
}

std::size_t count_of(const Fleet& fleet, NodeState state) {
    return static_cast<std::size_t>(std::ranges::count(fleet.nodes, state, &FleetNode::state));
}

bool has_slow(const Fleet& fleet) {
    return std::ranges::any_of(fleet.nodes, [](const FleetNode& node) {
        return node.state == NodeState::slow || node.state == NodeState::wrong;
    });
}

bool is_open(const Fleet& fleet) {
    const bool open = std::ranges::any_of(fleet.nodes, [](const FleetNode& node) {
        return node.state != NodeState::good && node.state != NodeState::slow &&
               node.state != NodeState::wrong;
    });
    const bool lost = std::ranges::any_of(
        fleet.faults, [](const FleetFault& fault) { return is_serious(fault.code); });
    return open || lost || fleet.nodes.empty();
}

} // namespace assay::report
