// SPDX-License-Identifier: Apache-2.0
//
// Curves over message sizes that do not have the shape they should: a rate that falls as messages grow, a
// time that jumps.

#pragma once

#include "model/view.hpp"

#include <string_view>
#include <vector>

namespace assay::report {

/// Collectives, networks, transfers: what a slow cable would show in.
bool is_about_links(std::string_view benchmark);

/// Of curves over bytes of collectives, networks and transfers; of others a fall may be right.
std::vector<Finding> find_shapes(const std::vector<CurveChart>& charts);

} // namespace assay::report
