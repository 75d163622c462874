// SPDX-License-Identifier: Apache-2.0
//
// The one parser and writer for JSON the project itself writes small: configs, manifests, worker
// messages. Caps on size and depth are applied before anything is built, so hostile input costs little.
// Result files are read by record/reader.hpp, which is faster and typed.

#pragma once

#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay::json {

/// Objects keep the order in which keys were written, so files diff well.
using Value = nlohmann::ordered_json;

struct Limits {
    std::size_t bytes = std::size_t{16} << 20U;
    std::size_t depth = 64;
};

/// Parses `text`. `source` names it in messages ("configs/suites/quick.json", "message of a worker").
/// A duplicate key is an error; a number that is not finite cannot be written in JSON and is one too.
Result<Value> parse(std::string_view text, std::string_view source, const Limits& limits = {});

/// Reads and parses a file; never more than limits.bytes of it.
Result<Value> read_file(const std::filesystem::path& path, const Limits& limits = {});

/// One line, no blanks; what is not finite is written as null.
std::string to_line(const Value& value);
/// Indented by two, ending in a newline.
std::string to_text(const Value& value);

/// Checks `value` against a JSON Schema (draft 7, parsed). The error names source, key and value, and
/// says what would be right. Implemented on valijson, in one file.
Result<void> check_schema(const Value& value, const Value& schema, std::string_view source);

} // namespace assay::json
