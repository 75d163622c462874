// SPDX-License-Identifier: Apache-2.0
//
// What the cases of a run reach against how much they compute for each byte they move (Williams, Waterman
// and Patterson, "Roofline", CACM 52(4), 2009).

#pragma once

#include "model/view.hpp"
#include "record/model.hpp"

#include <optional>

namespace assay::report {

/// The roofs are what the run's own cases were held against: measured rates and bandwidths. Nothing where
/// one of the two, or a case that counts both operations and bytes, is missing. The run is plain (text.hpp).
std::optional<Roofline> make_roofline(const record::Run& run);

} // namespace assay::report
