// SPDX-License-Identifier: Apache-2.0
//
// What happened between two snapshots, and is it worth a warning? Every warning has a figure and says
// what to do about it.

#pragma once

#include "record/model.hpp"
#include "telemetry/snapshot.hpp"

namespace assay::telemetry {

/// Fills in all but energy, temperature and device; disturbances come before those that are there.
void compare(const Snapshot& begin, const Snapshot& end, record::Telemetry& telemetry);

} // namespace assay::telemetry
