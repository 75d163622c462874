// SPDX-License-Identifier: Apache-2.0
//
// The line that equal values have in common, however they were written: for digests.

#pragma once

#include "json/json.hpp"

#include <string>

namespace assay::json {

/// The keys of an object in the order of their bytes, no blanks, whole numbers without a point, others by the fewest
/// digits that read back as the same double. In Python: json.dumps(value, sort_keys=True, separators=(",", ":"),
/// ensure_ascii=False), with 2.0 as 2.
std::string to_canonical(const Value& value);

} // namespace assay::json
