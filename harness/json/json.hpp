// SPDX-License-Identifier: Apache-2.0
//
// The parser and writer for small JSON: configs, manifests, worker messages. Caps on size and
// depth are applied before anything is built, so hostile input costs little, and
// nothing throws. Values are read with json/fields.hpp. Result files are read by record/reader.hpp,
// which is faster and typed.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// A JSON Schema (draft 7, parsed), prepared once for any number of values. The error of a check names
/// source, key and value, and says what would be right: `suites/x.json: cases[2].benchmark: got 7, expected a string`. Where a
/// value is wrong in several places, the most deeply nested one is reported.
///
/// A schema may not use `pattern`, `patternProperties` or `format`: they run std::regex, which ends
/// the process on long strings.
class Schema {
public:
    explicit Schema(const Value& schema);
    ~Schema();
    Schema(const Schema&) = delete;
    Schema& operator=(const Schema&) = delete;
    Result<void> check(const Value& value, std::string_view source) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;
};
/// For one value.
Result<void> check_schema(const Value& value, const Value& schema, std::string_view source);

// --- canonical -----------------------------------------------------------------------------------
// The line that equal values have in common, however they were written: for digests.

/// The keys of an object in the order of their bytes, no blanks, whole numbers without a point, others by the fewest
/// digits that read back as the same double. In Python: json.dumps(value, sort_keys=True, separators=(",", ":"),
/// ensure_ascii=False), with 2.0 as 2.
std::string to_canonical(const Value& value);

// --- members -------------------------------------------------------------------------------------
// An object made of many members: Value's own insertion reads all keys each time, which takes hours for a million.

class Members {
public:
    /// The first place and the last value of equal keys count.
    void set(std::string_view key, Value value) {
        auto& members = object_.get_ref<Value::object_t&>();
        const auto [place, is_new] = places_.try_emplace(std::string{key}, members.size());
        if (is_new)
            members.emplace_back(std::string{key}, std::move(value));
        else
            std::next(members.begin(), static_cast<std::ptrdiff_t>(place->second))->second =
                std::move(value);
    }
    Value take() { return std::move(object_); }

private:
    Value object_ = Value::object();
    std::unordered_map<std::string, std::size_t> places_;
};

// --- stream --------------------------------------------------------------------------------------
// What to_text() would write of a document that is too long to be held: its parts are made one after the other.

/// Keys, values and brackets in the order of the document. Goes on in vain where the sink wants no more.
class Stream {
public:
    explicit Stream(const Sink& sink) : sink_{sink} {}

    void open_object();
    void open_array(); ///< of objects or arrays: to_text() has plain values on one line
    void key(std::string_view name);
    void value(const Value& value);
    void close();
    /// The last line break; false: the sink wanted no more.
    bool finish();

private:
    struct Level {
        bool is_object;
        bool is_empty;
    };
    void open(bool is_object);
    void begin_item();
    void flush(std::size_t least);

    const Sink& sink_;
    std::vector<Level> levels_;
    std::string text_;
    bool is_wanted_ = true;
};

} // namespace assay::json
