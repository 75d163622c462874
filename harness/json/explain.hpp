// SPDX-License-Identifier: Apache-2.0
//
// Explains why a value does not match a schema. The validator finds the location; what would be right
// is looked up in the schema itself.

#pragma once

#include "json/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::json {

/// Into an object by key, or into an array by index.
struct Step {
    std::string key;
    std::optional<std::size_t> index;
};
using Path = std::vector<Step>;

/// `path` leads to the wrong value. `fallback` is the validator's description, used where the schema
/// has no simple explanation.
std::string explain(const Value& root, const Value& schema, const Path& path,
                    std::string_view fallback, std::string_view source);

} // namespace assay::json
