// SPDX-License-Identifier: Apache-2.0
#include "json/canonical.hpp"
#include "json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

std::string canonical_number(const Value& value) {
    constexpr double beyond = 0x1p63; // 64-bit integers end here
    const double number = value.get<double>();
    if (!value.is_number_float() || !std::isfinite(number)) return plain(value);
    if (std::trunc(number) == number && std::abs(number) < beyond)
        return fmt::format("{}", static_cast<std::int64_t>(number));
    return fmt::format("{}", number);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
void write_canonical(const Value& value, std::string& out) {
    auto separate = [&, first = true]() mutable {
        if (!std::exchange(first, false)) out += ',';
    };
    if (value.is_object()) {
        std::vector<const Value::object_t::value_type*> members;
        for (const auto& member : value.get_ref<const Value::object_t&>())
            members.push_back(&member);
        std::ranges::sort(members, {},
                          [](const auto* member) -> const std::string& { return member->first; });
        out += '{';
        for (const auto* member : members) {
            separate();
            out.append(plain(Value(member->first))) += ':';
            write_canonical(member->second, out);
        }
        out += '}';
    } else if (value.is_array()) {
        out += '[';
        for (const Value& item : value) {
            separate();
            write_canonical(item, out);
        }
        out += ']';
    } else {
        out += value.is_number() ? canonical_number(value) : plain(value);
    }
}

} // namespace

std::string to_canonical(const Value& value) {
    std::string out;
    write_canonical(value, out);
    return out;
}

std::string to_line(const Value& value) { return plain(value); }

std::string to_text(const Value& value) {
    std::string out;
    write(value, out, 0);
    out += '\n';
    return out;
}

} // namespace assay::json
