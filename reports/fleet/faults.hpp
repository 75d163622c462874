// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with what nodes handed in: identities, versions, clocks, files. Each fault has a code and names its nodes.

#pragma once

#include "fleet/model.hpp"
#include "fleet/names.hpp"

#include <cstdint>
#include <vector>

namespace assay::report {

/// `node_of_run`: index into Fleet::nodes, or more for runs outside the sweep.
void find_faults(Fleet& fleet, const NodeNames& names,
                 const std::vector<std::uint32_t>& node_of_run, double now);

} // namespace assay::report
