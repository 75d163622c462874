// SPDX-License-Identifier: Apache-2.0
//
// The same data seen in other ways, for a page to switch between: each side as the baseline, rates per core, and values
// per unit of currency. Each is
// compared and tested anew, so that nothing on the page is derived from ratios to another side.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

#include <vector>

namespace assay::report {

struct Scaled {
    Collection collection;
    std::vector<NotCompared> left_out; ///< machines without a price; what is neither rate nor time
};
/// core: rates of the host divided by the cores that the case used, where its settings say how many.
/// currency: X/s becomes X per unit of currency, seconds become currency a call: by what an hour of all its nodes costs.
Scaled scaled(Collection collection, Scale scale, const MachinePrices& prices = {});

/// By values at the scale of the options. Fails as compare() does.
Result<Comparison> compare_scaled(const Collection& collection, const CompareOptions& options);

/// The document of a comparison with its alternatives. Without them, and saying so, where they would make a page too
/// large to open.
document::Document with_alternatives(const Collection& collection, const CompareOptions& options,
                                     const Comparison& comparison);

} // namespace assay::report
