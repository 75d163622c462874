// SPDX-License-Identifier: Apache-2.0
//
// Values as they were measured, per core, or per unit of currency: divided before anything is tested, so that no verdict
// is derived from another one.

#pragma once

#include "compare/comparison.hpp"

#include <vector>

namespace assay::report {

struct Scaled {
    Collection collection;
    std::vector<NotCompared> left_out; ///< machines without a price; what is neither rate nor time
};
/// core: rates of the host divided by the cores that the case used, where its settings say how many.
/// currency: X/s becomes X per unit of currency, seconds become currency a call: by what an hour of all its nodes costs.
Scaled scaled(Collection collection, Scale scale, const MachinePrices& prices = {});

} // namespace assay::report
