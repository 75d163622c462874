// SPDX-License-Identifier: Apache-2.0
//
// The limit that each measured headline is held against: the best figure of the benchmarks that its
// author names as ceilings, in the same unit, measured in the same run at the same place under the same
// parameters. On a device, what data sheets say stands beside it, or in its place where there is none.

#pragma once

#include "base/result.hpp"
#include "machine/hardware.hpp"
#include "record/model.hpp"
#include "registry/catalogue.hpp"
#include "roofline/device_limits.hpp"

namespace assay::harness {

/// Fills in the ceilings of every measured case. More than 100% of a ceiling is a warning about the
/// ceiling: it was not the limit that it was taken for.
void assign_ceilings(record::Run& run, const Catalogue& catalogue);
/// The same with a given configs/hardware, or the reason why it could not be read.
void assign_ceilings(record::Run& run, const Catalogue& catalogue,
                     const Result<machine::Hardware>& hardware);

/// What the network between two machines can carry, of a bandwidth between two processes, by the devices that their
/// messages went through. Knows no library and no benchmark.
DeviceLimits network_limits(BoundBy by, const record::Case& c);

} // namespace assay::harness
