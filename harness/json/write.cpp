// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"

#include <algorithm>

namespace assay::json {
namespace {

std::string plain(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

bool is_flat(const Value& value) {
    return value.empty() ||
           std::ranges::none_of(value, [](const Value& v) { return v.is_structured(); });
}

// Recursion is as deep as the value, which we built or which the parser kept within its limit.
// NOLINTNEXTLINE(misc-no-recursion)
void write(const Value& value, std::string& out, std::size_t indent) {
    constexpr std::size_t step = 2;
    const bool object = value.is_object();
    if (!value.is_structured() || value.empty() || (!object && is_flat(value))) {
        out += plain(value);
        return;
    }
    out += object ? '{' : '[';
    bool first = true;
    for (const auto& item : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(indent + step, ' ');
        if (object) out.append(plain(Value(item.key()))).append(": ");
        write(item.value(), out, indent + step);
    }
    out += '\n';
    out.append(indent, ' ');
    out += object ? '}' : ']';
}

} // namespace

std::string to_line(const Value& value) { return plain(value); }

std::string to_text(const Value& value) {
    std::string out;
    write(value, out, 0);
    out += '\n';
    return out;
}

} // namespace assay::json
