// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a fleet answered, which are slow, and what is wrong with what they handed in? A sweep is what was
// measured since a day. The first value of each node and case in the sweep is screened against those of all
// nodes of its type, at 1%; later values are retests, and only their median accuses, at 0.1% over all items
// of a node together, from nine replicas in three runs on. decide/fleet.hpp has the rule and where it is simulated.

#pragma once

#include "base/result.hpp"
#include "fleet/model.hpp"
#include "record/journal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::fleet {

// --- faults -------------------------------------------------------------------------------------- What is wrong with
// what nodes handed in: identities, versions, clocks, files. Each fault has a code and names its nodes.

/// `node_of_run`: index into Fleet::nodes, or more for runs outside the sweep.
void find_faults(Fleet& fleet, const NodeNames& names,
                 const std::vector<std::uint32_t>& node_of_run, double now);

// -------------------------------------------------------------------------------------------------

struct FleetOptions {
    std::vector<std::string> expected; ///< nodes; nobody knows who is missing where it is empty
    std::string by = "instance";       ///< what makes a type
    std::vector<std::string> filter;
    std::optional<double>
        since; ///< of the sweep, seconds since 1970; a week before the newest run otherwise
    std::optional<double> now; ///< seconds since 1970; the clock's otherwise
    decide::FleetRule rule;
};

/// Fails where a filter, a key or a day names nothing.
Result<Fleet> make_fleet(store::Collection collection, const FleetOptions& options);

/// Options for `collect` to read all that it needs.
store::CollectOptions collecting_for_fleet(store::CollectOptions options);

// --- progress ------------------------------------------------------------------------------------
// How far are runs that have a journal and no result yet?

/// Progress of one journal. `cases`: of a finished run of the same plan, where the journal does not say. `now` and
/// `written`: by the same clock, seconds since 1970.
Unfinished progress_of(const record::JournalContent& journal, std::optional<std::size_t> cases,
                       double now, double written);

/// Reads the journals of Collection::unfinished.
void find_unfinished(Fleet& fleet, const NodeNames& names, double now);

} // namespace assay::fleet
