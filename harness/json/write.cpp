// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace assay::json {
namespace {

std::string plain(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

/// Writes the same as plain(). Nearly all texts are ASCII that needs no
/// escape, and making a serializer costs more than they do.
void write_string(std::string_view text, std::string& out) {
    const auto is_simple = [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; };
    if (std::ranges::all_of(text, is_simple))
        out.append(1, '"').append(text) += '"';
    else
        out += plain(Value(text));
}
/// Writes the same as plain(), but by the fewest digits, as in the canonical
/// form: one number in a thousand gets one more there.
void write_real(double number, std::string& out) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    const auto begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", number);
    if (out.find_first_of(".e", begin) == out.npos) out += ".0";
}
void write_plain(const Value& value, std::string& out) {
    if (value.is_string())
        write_string(value.get_ref<const std::string&>(), out);
    else if (value.is_number_float())
        write_real(value.get<double>(), out);
    else if (value.is_null())
        out += "null";
    else if (value.is_boolean())
        out += value.get<bool>() ? "true" : "false";
    else
        out += plain(value);
}
void write_flat(const Value& list, std::string& out) {
    out += '[';
    for (const Value& item : list) {
        if (out.back() != '[') out += ',';
        write_plain(item, out);
    }
    out += ']';
}

bool is_flat(const Value& value) {
    return value.empty() ||
           std::ranges::none_of(value, [](const Value& v) { return v.is_structured(); });
}

constexpr std::size_t step = 2; // blanks of a level

// Recursion is as deep as the value, which we built or which the parser kept within its limit.
// NOLINTNEXTLINE(misc-no-recursion)
void write(const Value& value, std::string& out, std::size_t indent) {
    const bool object = value.is_object();
    if (!value.is_structured() || value.empty()) return write_plain(value, out);
    if (!object && is_flat(value)) return write_flat(value, out);
    out += object ? '{' : '[';
    bool first = true;
    for (const auto& item : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(indent + step, ' ');
        if (object) {
            write_string(item.key(), out);
            out += ": ";
        }
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

void Stream::begin_item() {
    if (levels_.empty() || text_.ends_with(": ")) return; // behind its key
    text_ += std::exchange(levels_.back().is_empty, false) ? "\n" : ",\n";
    text_.append(levels_.size() * step, ' ');
}

void Stream::open(bool is_object) {
    begin_item();
    text_ += is_object ? '{' : '[';
    levels_.push_back({.is_object = is_object, .is_empty = true});
}
void Stream::open_object() { open(true); }
void Stream::open_array() { open(false); }

void Stream::key(std::string_view name) {
    begin_item();
    write_string(name, text_);
    text_ += ": ";
}

void Stream::value(const Value& value) {
    begin_item();
    write(value, text_, levels_.size() * step);
    constexpr std::size_t part = std::size_t{64} << 10U; // bytes
    flush(part);
}

void Stream::close() {
    const Level level = levels_.back();
    levels_.pop_back();
    if (!level.is_empty) {
        text_ += '\n';
        text_.append(levels_.size() * step, ' ');
    }
    text_ += level.is_object ? '}' : ']';
}

bool Stream::finish() {
    text_ += '\n';
    flush(0);
    return is_wanted_;
}

/// Up to the last line break: the sink takes whole lines.
void Stream::flush(std::size_t least) {
    if (text_.size() < least) return;
    const auto end = text_.rfind('\n') + 1;
    if (is_wanted_) is_wanted_ = sink_(std::string_view{text_}.substr(0, end));
    text_.erase(0, end);
}

} // namespace assay::json
