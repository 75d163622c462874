// SPDX-License-Identifier: Apache-2.0
//
// A fleet as a document: the answer, who needs a look, every node beside its fleet, and what else is to be known.

#pragma once

#include "document/document.hpp"
#include "fleet/model.hpp"

#include <string>
#include <vector>

namespace assay::fleet {

document::Document make_document(const Fleet& fleet);

// --- data ----------------------------------------------------------------------------------------
// A fleet for programs. Codes are the same in every language.

/// Schema assay.fleet/1 (schema/fleet.json).
std::string to_json(const Fleet& fleet, int exit_code);
/// A row for each node, benchmark of the map and value.
std::string to_csv(const Fleet& fleet);

// --- words ---------------------------------------------------------------------------------------
// A fleet in words, in the language in use.

std::string state_in_words(NodeState state);
document::Tone tone_of(NodeState state);
/// "−19%" of 0.81 times as good.
std::string ratio_in_words(double ratio);
/// Is any node slow, how sure, who did not report, what is open: sentences.
std::vector<std::string> answer_of(const Fleet& fleet);
/// Nodes in one state that need the same action; each slow or wrong node is a group of its own.
using NodeGroup = std::vector<const FleetNode*>;
/// Groups that need a look, the worst first.
std::vector<NodeGroup> groups_of(const Fleet& fleet);
std::vector<std::string> findings_of(const Fleet& fleet, const NodeGroup& nodes);
std::string next_of(const Fleet& fleet, const NodeGroup& nodes);
/// A case, and the device where it was measured.
std::string item_in_words(const FleetItem& item, const std::string& place);
/// Its values to be decided: "All-reduce 8 B −19%".
std::vector<std::string> open_values_of(const Fleet& fleet, const FleetNode& node);
/// A finding about a node.
std::vector<std::string> findings_of(const Fleet& fleet, const FleetNode& node);
/// The next action; "" if there is nothing to do.
std::string next_of(const Fleet& fleet, const FleetNode& node);
/// A command that measures a screened node again, or what a partial or silent one lacks; empty where no node shows how.
std::string command_for(const Fleet& fleet, const FleetNode& node);
/// The same for all of a group: of a sweep, or for each of them.
std::string command_for(const Fleet& fleet, const NodeGroup& nodes);
std::string fault_in_words(const FleetFault& fault);
/// The right value.
std::string fix_of(const FleetFault& fault);
/// "17 of 23 cases"
std::string progress_in_words(const Unfinished& run);

} // namespace assay::fleet
