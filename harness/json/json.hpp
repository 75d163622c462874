// SPDX-License-Identifier: Apache-2.0
//
// The parser and writer for small JSON: configs, manifests, worker messages. Caps on size and
// depth are applied before anything is built, so hostile input costs little, and
// nothing throws. Values are read with json/fields.hpp. Result files are read by record/reader.hpp,
// which is faster and typed.

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
    std::size_t bytes = std::size_t{16} << 20U; ///< a hundred times the largest config we know
    std::size_t depth = 64;                     ///< configs and messages need eight
    bool repeated_keys = false; ///< other programs' output may have them: the last counts
};

/// Parses `text`. `source` names it in messages ("configs/suites/quick.json", "message of a worker"),
/// which begin with source:line:column. A duplicate key is an error; so is a number that does not fit
/// a double.
Result<Value> parse(std::string_view text, std::string_view source, const Limits& limits = {});

/// Reads and parses a file; never more than limits.bytes of it.
Result<Value> read_file(const std::filesystem::path& path, const Limits& limits = {});

/// One line, no blanks; a number that is not finite is written as null, invalid UTF-8 as U+FFFD.
std::string to_line(const Value& value);
/// Indented by two, arrays of plain values on one line, ending in a newline.
std::string to_text(const Value& value);

/// Checks `value` against a JSON Schema (draft 7, parsed). The error names source, key and value, and
/// says what would be right: `suites/x.json: cases[2].benchmark: got 7, expected a string`. Where a
/// value is wrong in several places, the most deeply nested one is reported.
///
/// A schema may not use `pattern`, `patternProperties` or `format`: they run std::regex, which ends
/// the process on long strings.
Result<void> check_schema(const Value& value, const Value& schema, std::string_view source);

} // namespace assay::json
