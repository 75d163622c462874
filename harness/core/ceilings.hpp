// SPDX-License-Identifier: Apache-2.0
//
// The limit that each measured headline is held against: the best figure of the benchmarks that its
// author names as ceilings, in the same unit, measured in the same run under the same parameters.

#pragma once

#include "core/manifest.hpp"
#include "record/model.hpp"

namespace assay::core {

/// Fills in the ceiling of every measured case. More than 100% of a ceiling is a warning about the
/// ceiling: it was not the limit that it was taken for.
void assign_ceilings(record::Run& run, const Catalogue& catalogue);

} // namespace assay::core
