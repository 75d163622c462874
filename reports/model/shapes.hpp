// SPDX-License-Identifier: Apache-2.0
//
// Curves over message sizes that do not have the shape they should: a rate that falls as messages grow, a
// time that jumps.

#pragma once

#include "model/view.hpp"

#include <vector>

namespace assay::report {

/// Of curves over bytes of collectives, networks and transfers; of others a fall may be right.
std::vector<Finding> find_shapes(const std::vector<CurveChart>& charts);

} // namespace assay::report
