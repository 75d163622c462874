// SPDX-License-Identifier: Apache-2.0
//
// Which nodes and links slow the others: of the runs of the sweep that measured every pair.

#pragma once

#include "fleet/model.hpp"

#include <cstdint>
#include <vector>

namespace assay::report {

void find_links(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run);

} // namespace assay::report
