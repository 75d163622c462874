// SPDX-License-Identifier: Apache-2.0
//
// The same data seen in other ways, for a page to switch between: each side as the baseline, rates per core, and values
// per unit of currency. Each is
// compared and tested anew, so that nothing on the page is derived from ratios to another side.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

namespace assay::report {

/// The document of a comparison with its alternatives. Without them, and saying so, where they would make a page too
/// large to open.
document::Document with_alternatives(const Collection& collection, const CompareOptions& options,
                                     const Comparison& comparison);

} // namespace assay::report
