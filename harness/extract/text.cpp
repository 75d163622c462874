// SPDX-License-Identifier: Apache-2.0

#include "extract/text.hpp"

#include <charconv>
#include <cmath>

namespace assay::extract {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

template <class Number>
std::optional<Number> whole(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

} // namespace

std::string_view take_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::string_view written_last(std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    const auto turn = line.rfind('\r');
    return line.substr(turn == std::string_view::npos ? 0 : turn + 1);
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t i = 0;
    while (i < text.size()) {
        while (i < text.size() && is_blank(text[i])) ++i;
        const std::size_t begin = i;
        while (i < text.size() && !is_blank(text[i])) ++i;
        if (i > begin) words.push_back(text.substr(begin, i - begin));
    }
    return words;
}

std::vector<std::string_view> columns_of(std::string_view text) {
    std::vector<std::string_view> columns;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const bool end = i == text.size() || text[i] == '\t' ||
                         (is_blank(text[i]) && i + 1 < text.size() && is_blank(text[i + 1]));
        if (!end) continue;
        if (const auto column = trimmed(text.substr(begin, i - begin)); !column.empty())
            columns.push_back(column);
        begin = i;
    }
    return columns;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = separator.empty() ? std::string_view::npos : text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + separator.size());
    }
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
    std::vector<std::string_view> cells;
    const auto add = [&](std::string_view cell) {
        cell = trimmed(cell);
        if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
            cell = trimmed(cell.substr(1, cell.size() - 2));
        cells.push_back(cell);
    };
    bool is_quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') is_quoted = !is_quoted;
        if (line[i] != separator || is_quoted) continue;
        add(line.substr(begin, i - begin));
        begin = i + 1;
    }
    add(line.substr(begin));
    return cells;
}

std::string unquoted(std::string_view cell) {
    std::string text;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (cell.substr(i).starts_with(R"("")")) ++i;
        text += cell[i];
    }
    return text;
}

std::optional<double> number_of(std::string_view text) {
    const auto value = whole<double>(text);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> integer_of(std::string_view text) { return whole<std::int64_t>(text); }

std::string word_of(std::string_view text) {
    std::string word;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (letter)
            word += c;
        else if (c >= 'A' && c <= 'Z')
            word += static_cast<char>(c - 'A' + 'a');
        else if (!word.empty() && word.back() != '_')
            word += '_';
    }
    while (word.ends_with('_')) word.pop_back();
    return word;
}

} // namespace assay::extract
