// SPDX-License-Identifier: Apache-2.0
//
// Differences between two snapshots, with warnings. Every warning has a value and says what to do
// about it.

#pragma once

#include "record/model.hpp"
#include "telemetry/snapshot.hpp"

namespace assay::telemetry {

/// Fills in all but energy, temperature and device; disturbances are put before existing ones. Shares of CPU time are
/// those of `cpus`; empty: of the whole machine.
void compare(const Snapshot& begin, const Snapshot& end, const std::set<int>& cpus,
             record::Telemetry& telemetry);

} // namespace assay::telemetry
