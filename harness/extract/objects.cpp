// SPDX-License-Identifier: Apache-2.0

#include "extract/objects.hpp"

#include <algorithm>
#include <array>

namespace assay::extract {
namespace {

bool is_start(std::string_view text, std::size_t at) {
    if (text[at] != '{' && text[at] != '[') return false;
    const auto next = text.find_first_not_of(" \t\r\n", at + 1);
    if (next == std::string_view::npos) return text[at] == '{';
    return text[at] == '{' ? text[next] == '"' || text[next] == '}'
                           : text[next] == '{' || text[next] == ']';
}

} // namespace

std::size_t json_begin(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto first = text.find_first_not_of(" \t\r\n", at);
        if (first == std::string_view::npos) return first;
        if (is_start(text, first)) return first;
        const auto end = text.find('\n', first);
        if (end == std::string_view::npos) return end;
        at = end + 1;
    }
    return std::string_view::npos;
}

std::size_t document_end(std::string_view text, std::size_t begin) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return std::string_view::npos;
}

std::string repaired(std::string_view text, bool ascii) {
    static constexpr std::array<std::string_view, 8> words{"-Infinity", "Infinity", "-NaN", "NaN",
                                                           "-nan",      "nan",      "-inf", "inf"};
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t size = text.find_first_of("\"-IiNn"); // where a text or a word may begin
        if (size == 0 && text[0] == '"') {                // a text stays as it is
            for (size = 1; size < text.size() && text[size] != '"';)
                size += text[size] == '\\' ? 2 : 1;
            ++size;
        } else if (size == 0) {
            const auto* const word = std::ranges::find_if(
                words, [&](std::string_view w) { return text.starts_with(w); });
            const bool is_word = word != words.end();
            out += is_word ? std::string_view{"\"nan\""} : text.substr(0, 1);
            text.remove_prefix(is_word ? word->size() : 1);
            continue;
        }
        size = std::min(size, text.size());
        out += text.substr(0, size);
        text.remove_prefix(size);
    }
    if (ascii)
        std::ranges::replace_if(
            out, [](char c) { return static_cast<unsigned char>(c) >= 0x80U; }, '?');
    return out;
}

} // namespace assay::extract
