// SPDX-License-Identifier: Apache-2.0
//
// Result files travel between people and companies: a text in one may hold escape sequences, control characters or
// broken UTF-8. The reader makes every text plain, so nothing behind it shows any other.

#pragma once

#include "record/model.hpp"

namespace assay::record {

/// Every text as plain() of base/console.hpp makes it; optional numbers that are not finite are taken out.
void make_plain(Run& run);

} // namespace assay::record
