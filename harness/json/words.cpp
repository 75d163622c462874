// SPDX-License-Identifier: Apache-2.0
#include "json/words.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::json {
namespace {

bool is_plain_name(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) { return is_word(c, "_-"); });
}

/// Longest prefix of at most `limit` bytes that does not end inside a UTF-8 sequence.
std::string_view cut(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

} // namespace

std::string show_text(std::string_view text, std::size_t limit) {
    const std::string_view shown = cut(text, limit);
    // Written as JSON: control characters come out escaped and broken UTF-8 replaced.
    std::string quoted = to_line(Value(std::string{shown}));
    if (shown.size() < text.size()) quoted.insert(quoted.size() - 1, "...");
    return quoted;
}

std::string show(const Value& value) {
    if (value.is_object()) return value.empty() ? "an empty object" : "an object";
    if (value.is_array()) return value.empty() ? "an empty array" : "an array";
    if (value.is_string()) return show_text(value.get_ref<const std::string&>());
    return to_line(value);
}

std::string join(std::string_view path, std::string_view key) {
    const std::string name = is_plain_name(key) ? std::string{key} : show_text(key);
    return path.empty() ? name : fmt::format("{}.{}", path, name);
}

std::string join(std::string_view path, std::size_t index) {
    return fmt::format("{}[{}]", path, index);
}

std::string located(std::string_view source, std::string_view path, std::string_view text) {
    if (path.empty()) return fmt::format("{}: {}", source, text);
    return fmt::format("{}: {}: {}", source, path, text);
}

} // namespace assay::json
