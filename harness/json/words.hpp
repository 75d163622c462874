// SPDX-License-Identifier: Apache-2.0
//
// The error texts of all readers of JSON, so that messages read the same whichever reader found the
// problem. Input is shortened and escaped before it is shown.

#pragma once

#include "json/json.hpp"

#include <string>
#include <string_view>

namespace assay::json {

/// A value as shown in a message: as JSON, at most 60 bytes of it; an object or array by its kind.
std::string show(const Value& value);
/// Text from an input as shown in a message: printable UTF-8, at most `limit` bytes.
std::string show_text(std::string_view text, std::size_t limit = 60);

/// `cases[2]` and `benchmark` make `cases[2].benchmark`.
std::string join(std::string_view path, std::string_view key);
std::string join(std::string_view path, std::size_t index);

/// `source: path: text`, without `path: ` where that is empty.
std::string located(std::string_view source, std::string_view path, std::string_view text);

} // namespace assay::json
