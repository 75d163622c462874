// SPDX-License-Identifier: Apache-2.0
//
// Which hosts share a switch, a rail, a rack: --groups and --group. Recorded with the cases of teams, so that reports
// can say which of these is slow. And what it costs to find out.

#pragma once

#include "base/result.hpp"
#include "plan/hosts.hpp"
#include "plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

/// Groups of a host; each kind once.
struct HostGroups {
    std::string host;
    std::vector<Group> groups;
};

/// A line for hosts as --hosts has them: "node1,node2 switch=leaf1 rail=0"; `#` begins a comment. A host may be in
/// several lines, with another kind of group in each. `source` is the file's name in messages.
Result<std::vector<HostGroups>> parse_groups(std::string_view text, std::string_view source);
/// "switch:leaf1=node1,node2", as a line of such a file.
Result<std::string> group_line(std::string_view text);

/// The hosts with their groups, sorted by them, so that neighbours are near each other; those in no group last. An
/// error where none of the hosts is in a group.
Result<std::vector<Host>> in_groups(std::vector<Host> hosts, const std::vector<HostGroups>& groups);

/// "leaf1 leaf1 - leaf2": the groups of a kind, host by host; - where it has none.
std::string words_of_kind(const std::vector<std::vector<Group>>& groups, const std::string& kind);
/// The kinds that any of them has, in alphabetical order.
std::vector<std::string> kinds_of(const std::vector<std::vector<Group>>& groups);

/// Cost and coverage of collective.fabric on so many hosts: shown before a thousand nodes wait for it. Empty for every
/// other benchmark, and without several hosts.
std::string fabric_cost(const PlannedCase& planned, const Job& job);

} // namespace assay::plan
