// SPDX-License-Identifier: Apache-2.0
//
// Entries of JSON that nobody promised to be what it says.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay::report {

/// Null where there is no such entry, or it is null, or `object` is none.
const json::Value* find(const json::Value& object, const char* key);
/// "" where it is no text.
std::string text_at(const json::Value& object, const char* key);
std::optional<double> number_at(const json::Value& object, const char* key);

/// The array `key` of a document; an error that says of which tool this is no JSON. `hint` follows.
Result<const json::Value*> array_at(const json::Value& document, const char* key,
                                    std::string_view source, std::string_view tool,
                                    std::string_view hint = "");

} // namespace assay::report
