// SPDX-License-Identifier: Apache-2.0
//
// What happened between two snapshots, and is it worth a warning? Every warning has a figure and says
// what to do about it.

#pragma once

#include "record/model.hpp"
#include "telemetry/snapshot.hpp"

namespace assay::telemetry {

record::Telemetry compare(const Snapshot& begin, const Snapshot& end);

} // namespace assay::telemetry
