// SPDX-License-Identifier: Apache-2.0
//
// Differences between two snapshots, with warnings. Every warning has a value and says what to do
// about it.

#pragma once

#include "record/model.hpp"
#include "telemetry/snapshot.hpp"

namespace assay::telemetry {

/// Fills in all but energy, temperature and device; disturbances are put before existing ones.
void compare(const Snapshot& begin, const Snapshot& end, record::Telemetry& telemetry);

} // namespace assay::telemetry
