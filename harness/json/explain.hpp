// SPDX-License-Identifier: Apache-2.0
//
// Says in our words why a value does not match a schema. The validator finds where; what would be
// right is looked up in the schema itself.

#pragma once

#include "json/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::json {

struct Step {
    std::string key;       ///< of an object; empty for an element of an array
    std::size_t index = 0; ///< of an array
};
using Path = std::vector<Step>;

/// `path` leads to the value that is wrong. `fallback` is the validator's description, used where
/// the schema has nothing simple to say.
std::string explain(const Value& root, const Value& schema, const Path& path,
                    std::string_view fallback, std::string_view source);

} // namespace assay::json
