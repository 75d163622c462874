// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a case on a host computed from data sheets: what its cores do in a clock, and what the channels of its
// memory carry.

#pragma once

#include "reference/device_limits.hpp"

namespace assay::harness {

/// Nothing where a benchmark declares no bound, or where its data may stay in a cache.
DeviceLimits host_limits(BoundBy by, const record::Case& c, const record::Machine& machine,
                         const Result<datasheet::Hardware>& hardware);

} // namespace assay::harness
