// SPDX-License-Identifier: Apache-2.0
//
// What to_text() would write of a document that is too long to be held: its parts are made one after the other.

#pragma once

#include "base/file.hpp"
#include "json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::json {

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
