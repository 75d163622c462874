// SPDX-License-Identifier: Apache-2.0
//
// What the cases of a run reach against how much they compute for each byte they move (Williams, Waterman
// and Patterson, "Roofline", CACM 52(4), 2009).

#pragma once

#include "model/view.hpp"
#include "record/model.hpp"

#include <vector>

namespace assay::report {

/// One for each place, because a device's roofs are no limits of the host. The roofs are what the run's own
/// cases were held against: measured rates and bandwidths. None where one of the two, or a case that counts
/// both operations and bytes, is missing. The run is plain (text.hpp).
std::vector<Roofline> make_rooflines(const record::Run& run);

} // namespace assay::report
