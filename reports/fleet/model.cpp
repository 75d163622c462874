// SPDX-License-Identifier: Apache-2.0

#include "fleet/model.hpp"

#include <algorithm>

namespace assay::report {

std::string_view to_string(NodeState state) {
    switch (state) {
    case NodeState::good:
        return "good";
    case NodeState::not_judged:
        return "not_judged";
    case NodeState::again:
        return "again";
    case NodeState::partial:
        return "partial";
    case NodeState::running:
        return "running";
    case NodeState::unreadable:
        return "unreadable";
    case NodeState::missing:
        return "missing";
    case NodeState::slow:
        return "slow";
    case NodeState::wrong:
        break;
    }
    return "wrong";
}

std::string_view to_string(FaultCode code) {
    switch (code) {
    case FaultCode::one_machine_two_names:
        return "one_machine_two_names";
    case FaultCode::one_name_two_machines:
        return "one_name_two_machines";
    case FaultCode::one_id_two_machines:
        return "one_id_two_machines";
    case FaultCode::runs_overlap:
        return "runs_overlap";
    case FaultCode::same_run_elsewhere:
        return "same_run_elsewhere";
    case FaultCode::reported_twice:
        return "reported_twice";
    case FaultCode::mixed_versions:
        return "mixed_versions";
    case FaultCode::mixed_plans:
        return "mixed_plans";
    case FaultCode::mixed_software:
        return "mixed_software";
    case FaultCode::clock_ahead:
        return "clock_ahead";
    case FaultCode::clock_behind:
        return "clock_behind";
    case FaultCode::clock_not_set:
        return "clock_not_set";
    case FaultCode::clock_went_back:
        return "clock_went_back";
    case FaultCode::half_copied:
        return "half_copied";
    case FaultCode::changed:
        return "changed";
    case FaultCode::unreadable:
        break;
    }
    return "unreadable";
}

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
