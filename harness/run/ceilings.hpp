// SPDX-License-Identifier: Apache-2.0
//
// The roofline bound of each measured primary metric: the best value of the benchmarks that its author
// names as bounds, in the same unit or as a bandwidth or rate times the work per byte or FLOP, measured in the same run at
// the same place with the same
// parameters. Bounds from data sheets are added, or used if there is no other.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "reference/device_limits.hpp"
#include "reference/hardware.hpp"

namespace assay::run {

/// Fills in the bounds of every measured case. More than 100% of a bound is a warning about the bound: it
/// was not the actual limit.
void assign_ceilings(record::Run& run, const plan::Catalogue& catalogue);
/// The same with a given configs/hardware, or the reason why it could not be read.
void assign_ceilings(record::Run& run, const plan::Catalogue& catalogue,
                     const Result<reference::Hardware>& hardware);

} // namespace assay::run
