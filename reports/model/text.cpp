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

constexpr char32_t escape = 0x1B;

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

/// Marks that reorder or hide text ("Trojan source"), and line separators of Unicode.
bool is_treacherous(char32_t code) {
    const auto within = [&](char32_t first, char32_t last) {
        return code >= first && code <= last;
    };
    return within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) ||
           code == 0x061C || code == 0xFEFF || within(0xE0000, 0xE007F) || within(0xFFF9, 0xFFFB) ||
           code == 0xFFFE || code == 0xFFFF;
}
bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

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
    else if constexpr (std::is_same_v<T, record::Values>)
        clean(static_cast<record::NamedList&>(member));
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
        char32_t code = take_character(text);
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
