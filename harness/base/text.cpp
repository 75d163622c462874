// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

namespace assay {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_word(char c, std::string_view others) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           contains(others, {&c, 1});
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string_view without_mark(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    return text;
}

std::string tidied(std::string_view text) {
    return fmt::format("{}", fmt::join(words(text.substr(0, 200)), " "));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const auto length = std::min(text.find_first_of(" \t\r\n"), text.size());
        found.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return found;
}

std::optional<std::int64_t> to_number(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || stop != end || text.empty()) return std::nullopt;
    return value;
}

std::string_view value_of(std::string_view text, std::string_view key, char separator) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const auto middle = line.find(separator);
        if (middle != std::string_view::npos && trim(line.substr(0, middle)) == key)
            return trim(line.substr(middle + 1));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return {};
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return result;
}

namespace {

struct Likeness {
    char32_t code;
    std::string_view ascii;
};
/// In the order of their codes. Blocks of a bar chart are digits: their heights.
constexpr std::array likenesses{
    Likeness{U'\u00A0', " "},   Likeness{U'\u00B0', ""},   // °
    Likeness{U'\u00B1', "+-"},                             // ±
    Likeness{U'\u00B2', "2"},                              // ²
    Likeness{U'\u00B3', "3"},                              // ³
    Likeness{U'\u00B5', "u"},                              // µ
    Likeness{U'\u00B7', "-"},                              // ·
    Likeness{U'\u00D7', "x"},                              // ×
    Likeness{U'\u03BC', "u"},                              // μ
    Likeness{U'\u2013', "-"},                              // –
    Likeness{U'\u2014', "-"},                              // —
    Likeness{U'\u2018', "'"},                              // ‘
    Likeness{U'\u2019', "'"},                              // ’
    Likeness{U'\u201C', "\""},                             // “
    Likeness{U'\u201D', "\""},                             // ”
    Likeness{U'\u2026', "..."},                            // …
    Likeness{U'\u202F', " "},   Likeness{U'\u2192', "->"}, // →
    Likeness{U'\u2212', "-"},                              // −
    Likeness{U'\u221E', "inf"},                            // ∞
    Likeness{U'\u2248', "~"},                              // ≈
    Likeness{U'\u2264', "<="},                             // ≤
    Likeness{U'\u2265', ">="},                             // ≥
    Likeness{U'\u2500', "-"},                              // ─
    Likeness{U'\u2502', "|"},                              // │
    Likeness{U'\u2581', "1"},                              // ▁
    Likeness{U'\u2582', "2"},                              // ▂
    Likeness{U'\u2583', "3"},                              // ▃
    Likeness{U'\u2584', "4"},                              // ▄
    Likeness{U'\u2585', "5"},                              // ▅
    Likeness{U'\u2586', "6"},                              // ▆
    Likeness{U'\u2587', "7"},                              // ▇
    Likeness{U'\u2588', "8"},                              // █
};
static_assert(std::ranges::is_sorted(likenesses, {}, &Likeness::code));

bool& only_ascii() {
    static bool only = false;
    return only;
}

} // namespace

void use_ascii(bool only) { only_ascii() = only; }
bool ascii_only() { return only_ascii(); }

bool locale_is_ascii() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): read only
        if (value == nullptr || *value == '\0') continue;
        std::string locale;
        for (const char c : std::string_view{value})
            if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                locale += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return locale.find("utf8") == std::string::npos;
    }
    return false;
}

std::string_view ascii_of(char32_t code) {
    const auto* const found = std::ranges::lower_bound(likenesses, code, {}, &Likeness::code);
    return found != likenesses.end() && found->code == code ? found->ascii : "?";
}

namespace {

/// Letters to insert, delete, replace or swap with their neighbour (restricted Damerau-Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

constexpr std::size_t longest_name = 200; // bytes; what is longer was no slip of the finger
constexpr std::size_t short_list = 12;    // names that still fit a message

} // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
    if (name.size() > longest_name) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const std::size_t edits = distance(name, candidate);
        if (edits < least) {
            least = edits;
            best = candidate;
        }
    }
    if (!best.empty() || name.size() < 3) return best;
    // "stream" for "memory.stream".
    const auto holds = [&](const std::string& c) { return c.find(name) != std::string::npos; };
    const auto found = std::ranges::find_if(candidates, holds);
    return found == candidates.end() ? std::string{} : *found;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
    if (const auto best = nearest(name, candidates); !best.empty())
        return fmt::format(" (did you mean \"{}\"?)", best);
    if (candidates.empty() || candidates.size() > short_list) return {};
    return fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

} // namespace assay
