// SPDX-License-Identifier: Apache-2.0
//
// Bounds by data sheets for results whose run did not come to them: it was interrupted, or died.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "reference/device_limits.hpp"
#include "reference/hardware.hpp"

#include <span>
#include <string_view>

namespace assay::reference {

/// The bound of a benchmark of ours, as its source declares it (Info::bound): results do not record it, and its
/// module need not be installed where they are read.
struct DeclaredBound {
    std::string_view benchmark; ///< "collective.*": all of a family
    plan::BoundBy on_host;
    plan::BoundBy on_device;
};
std::span<const DeclaredBound> declared_bounds();
/// `none` for any other benchmark.
plan::BoundBy declared_bound(std::string_view benchmark, bool on_host);

/// "byte", "FLOP" or "operation": the unit of work of a roof, if a metric in another unit can be scaled by it.
std::string_view work_unit(const record::Metric& roof);
/// Factor from a value of this metric to a bound of the primary one: 1 for the same unit; for a roof the work of the case
/// per byte, FLOP or operation (its arithmetic intensity, or one over it); 0 for anything else.
double per_unit(const record::Case& judged, const record::Metric& metric);

/// The bound of a bandwidth between two processes on two machines, by the network devices that carried their
/// messages. Independent of libraries and benchmarks.
DeviceLimits network_limits(plan::BoundBy by, const record::Case& c);

/// The limits of the hardware at the place of a case. A rate of items is bounded by that of its bytes, FLOP or operations.
DeviceLimits sheet_limits(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                          const Result<reference::Hardware>& hardware);

/// Gives measured cases that have no bound, and no reason why, those of the installed data sheets.
void add_missing_bounds(record::Run& run);

// --- host limits ---------------------------------------------------------------------------------
// The bounds of a case on a host computed from data sheets: what its cores do in a clock, and what the channels of its
// memory carry.

/// Nothing where a benchmark declares no bound, or where its data may stay in a cache.
DeviceLimits host_limits(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                         const Result<reference::Hardware>& hardware);

} // namespace assay::reference
