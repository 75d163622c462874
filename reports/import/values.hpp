// SPDX-License-Identifier: Apache-2.0
//
// Entries of JSON that nobody promised to be what it says.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

/// Null where there is no such entry, or it is null, or `object` is none.
const json::Value* find(const json::Value& object, const char* key);
/// "" where it is no text.
std::string text_at(const json::Value& object, const char* key);
std::optional<double> number_at(const json::Value& object, const char* key);
/// What is written there, of a text, a number or a truth value: versions of a tool differ in that. Else "".
std::string printed_at(const json::Value& object, const char* key);

/// Names and what stands there as text: of a row under its titles, or of an object.
using Fields = std::map<std::string, std::string, std::less<>>;
Fields fields_of(const json::Value& object);
std::string_view text_of(const Fields& fields, std::string_view name);

/// The documents of a file: one, a list of them (taken apart), or one on each line.
Result<std::vector<json::Value>> documents_of(std::string_view text, std::string_view source,
                                              std::size_t largest);

/// The array `key` of a document; an error that says of which tool this is no JSON. `hint` follows.
Result<const json::Value*> array_at(const json::Value& document, const char* key,
                                    std::string_view source, std::string_view tool,
                                    std::string_view hint = "");

} // namespace assay::imports
