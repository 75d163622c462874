// SPDX-License-Identifier: Apache-2.0

#include "model/text.hpp"

#include "language/language.hpp"
#include "record/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace assay::report {
namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr char32_t escape = 0x1B;

/// Takes one character off the front; broken or overlong bytes give U+FFFD and cost one byte.
char32_t take(std::string_view& text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    std::size_t length = 1;
    char32_t code = first;
    if (first >= 0x80) {
        length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        code = first & (0xFFU >> (length + 1));
        bool valid = first >= 0xC2 && first <= 0xF4 && text.size() >= length;
        for (std::size_t i = 1; valid && i < length; ++i) {
            valid = (byte(i) & 0xC0U) == 0x80U;
            code = (code << 6U) | (byte(i) & 0x3FU);
        }
        constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
        valid = valid && code >= smallest.at(length) && code <= 0x10FFFF &&
                (code < 0xD800 || code > 0xDFFF);
        if (!valid) {
            code = replacement;
            length = 1;
        }
    }
    text.remove_prefix(length);
    return code;
}

void append(std::string& out, char32_t code) {
    const auto put = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0U | (code >> 6U));
        put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
        put(0xE0U | (code >> 12U));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    } else {
        put(0xF0U | (code >> 18U));
        put(0x80U | ((code >> 12U) & 0x3FU));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    }
}

bool within(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

/// Marks that reorder or hide text ("Trojan source"), and line separators of Unicode.
bool is_treacherous(char32_t code) {
    return within(code, 0x200B, 0x200F) || within(code, 0x2028, 0x202E) ||
           within(code, 0x2060, 0x206F) || code == 0x061C || code == 0xFEFF ||
           within(code, 0xE0000, 0xE007F) || within(code, 0xFFF9, 0xFFFB) || code == 0xFFFE ||
           code == 0xFFFF;
}
bool is_control(char32_t code) { return code < 0x20 || within(code, 0x7F, 0x9F); }

/// Skips the rest of an escape sequence whose ESC is already taken: ESC [ ... letter, or a string
/// (ESC ] and the like) up to BEL or ESC \, or ESC and one character.
void skip_escape(std::string_view& text) {
    if (text.empty()) return;
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == '[') {
        while (!text.empty() && text.front() >= 0x20 && text.front() <= 0x3F) text.remove_prefix(1);
        if (!text.empty() && text.front() >= 0x40 && text.front() <= 0x7E) text.remove_prefix(1);
    } else if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
        const auto end = text.find_first_of("\a\x1B");
        text.remove_prefix(end == std::string_view::npos ? text.size() : end);
        if (!text.empty() && text.front() == '\a') text.remove_prefix(1);
    }
}

template <class T>
void clean(std::optional<T>& member);
template <class T>
void clean(std::vector<T>& list);
void clean(std::optional<double>& number) {
    if (number && !std::isfinite(*number)) number.reset();
}
void clean(record::Named& named);

/// Makes plain what a text anywhere in a record says, and takes out optional numbers that are not finite.
template <class T>
void clean(T& member) {
    if constexpr (json::Record<T>)
        each_field([](const char*, auto& field) { clean(field); }, member);
    else if constexpr (std::is_same_v<T, std::string>)
        member = plain(member);
}
void clean(record::Named& named) {
    clean(named.name);
    std::visit([](auto& value) { clean(value); }, named.value);
}
template <class T>
void clean(std::optional<T>& member) {
    if (member) clean(*member);
}
template <class T>
void clean(std::vector<T>& list) {
    for (auto& item : list) clean(item);
}

std::size_t width_of(char32_t code) {
    if (within(code, 0x0300, 0x036F) || within(code, 0xFE00, 0xFE0F)) return 0;
    const bool wide = within(code, 0x1100, 0x115F) || within(code, 0x2E80, 0xA4CF) ||
                      within(code, 0xAC00, 0xD7A3) || within(code, 0xF900, 0xFAFF) ||
                      within(code, 0xFE30, 0xFE6F) || within(code, 0xFF00, 0xFF60) ||
                      within(code, 0xFFE0, 0xFFE6) || within(code, 0x1F300, 0x1FAFF) ||
                      within(code, 0x20000, 0x3FFFD);
    return wide ? 2 : 1;
}

/// As much of the front as takes at most `columns`, at least one character.
std::string_view front_of(std::string_view text, std::size_t columns) {
    std::string_view rest = text;
    std::size_t used = 0;
    while (!rest.empty()) {
        std::string_view after = rest;
        used += width_of(take(after));
        if (used > columns && rest.size() != text.size()) break;
        rest = after;
        if (used > columns) break;
    }
    return text.substr(0, text.size() - rest.size());
}

std::string cut(std::string_view text, std::size_t columns) {
    if (columns == 0) return "";
    if (display_width(text) <= columns) return std::string{text};
    if (columns == 1) return "…";
    return std::string{front_of(text, columns - 1)} + "…";
}

/// Punctuation that does not begin a line, and that which does not end one.
bool is_closing(char32_t code) {
    return std::u32string_view{U"，。、；：？！）】」』》”’…,.;:?!)]%"}.find(code) !=
           std::u32string_view::npos;
}
bool is_opening(char32_t code) {
    return std::u32string_view{U"（【「『《“‘(["}.find(code) != std::u32string_view::npos;
}

/// The front of a text up to where a line may be broken: at a blank, or beside a wide character
/// (Chinese has no blanks between its words). A small part of Unicode's annex 14.
std::string_view front_word(std::string_view text) {
    std::string_view rest = text;
    char32_t before = 0;
    while (!rest.empty() && rest.front() != ' ') {
        std::string_view after = rest;
        const char32_t code = take(after);
        const bool wide = width_of(before) == 2 || width_of(code) == 2;
        if (before != 0 && wide && !is_closing(code) && !is_opening(before)) break;
        rest = after;
        before = code;
    }
    return text.substr(0, text.size() - rest.size());
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool ends_in_ascii(std::string_view text) { return !text.empty() && is_ascii(text.back()); }

/// " and "; the Chinese one has blanks only towards Latin letters and digits.
std::string last_separator(std::string_view before, std::string_view after) {
    const std::string last = say<text::list::last>();
    if (language_in_use() != Language::zh) return last;
    const bool ascii_follows = !after.empty() && is_ascii(after.front());
    return fmt::format("{}{}{}", ends_in_ascii(before) ? " " : "", last, ascii_follows ? " " : "");
}

} // namespace

std::string plain(std::string_view text, std::size_t limit) {
    std::string out;
    out.reserve(std::min(text.size(), limit));
    std::size_t characters = 0;
    while (!text.empty()) {
        char32_t code = take(text);
        if (code == escape) {
            skip_escape(text);
            continue;
        }
        if (code == '\n' || code == '\r' || code == '\t') code = ' ';
        if (is_control(code) || is_treacherous(code)) continue;
        if (++characters > limit) {
            out += "…";
            break;
        }
        append(out, code);
    }
    return out;
}

record::Run plain(record::Run run) {
    clean(run);
    clean(run.machine);
    clean(run.cases);
    return run;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) width += width_of(take(text));
    return width;
}

std::string fit(std::string_view text, std::size_t columns) {
    std::string out = cut(text, columns);
    const std::size_t width = display_width(out);
    out.append(columns > width ? columns - width : 0, ' ');
    return out;
}

std::string fit_right(std::string_view text, std::size_t columns) {
    const std::string out = cut(text, columns);
    const std::size_t width = display_width(out);
    return std::string(columns > width ? columns - width : 0, ' ') + out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
    columns = std::max<std::size_t>(columns, 1);
    std::vector<std::string> lines;
    std::string line;
    std::size_t width = 0;
    const auto flush = [&] {
        lines.push_back(std::exchange(line, {}));
        width = 0;
    };
    bool blank = false; // before the next word
    while (!text.empty()) {
        if (text.front() == ' ') {
            text.remove_prefix(1);
            blank = true;
            continue;
        }
        std::string_view word = front_word(text);
        text.remove_prefix(word.size());
        const std::size_t gap = std::exchange(blank, false) ? 1 : 0;
        if (width > 0 && width + gap + display_width(word) > columns) flush();
        while (display_width(word) > columns) {
            const std::string_view part = front_of(word, columns);
            line = part;
            flush();
            word.remove_prefix(part.size());
        }
        if (word.empty()) continue;
        if (width > 0) line.append(gap, ' ');
        line += word;
        width = display_width(line);
    }
    if (!line.empty() || lines.empty()) flush();
    return lines;
}

std::string list_of(const std::vector<std::string>& items, std::size_t shown) {
    const std::size_t count = std::min(items.size(), shown);
    const std::size_t left = items.size() - count;
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0 && i + 1 == count && left == 0)
            out += last_separator(out, items[i]);
        else if (i > 0)
            out += say<text::list::separator>();
        out += items[i];
    }
    if (left == 0) return out;
    if (language_in_use() == Language::zh && ends_in_ascii(out)) out += ' ';
    return say<text::list::more>(out, left);
}

std::string join(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, say<text::list::comma>()));
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string as_sentence(std::string text) {
    static constexpr std::array<std::string_view, 6> ends{".", "!", "?", "。", "！", "？"};
    const auto ends_with = [&](std::string_view end) { return text.ends_with(end); };
    if (text.empty() || std::ranges::any_of(ends, ends_with)) return text;
    return text + (language_in_use() == Language::zh && !ends_in_ascii(text) ? "。" : ".");
}

std::string sentences(const std::vector<std::string>& parts) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool chinese = language_in_use() == Language::zh && !ends_in_ascii(out);
        if (i > 0 && !chinese) out += ' ';
        out += parts[i];
    }
    return out;
}

} // namespace assay::report
