// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>

namespace assay {
Terminal terminal_of(int descriptor) {
    Terminal terminal;
    terminal.present = ::isatty(descriptor) == 1;
    constexpr std::size_t narrowest = 40; // columns; below it nothing can be laid out anyway
    if (!terminal.present) {
        const char* columns = std::getenv("COLUMNS"); // NOLINT(concurrency-mt-unsafe)
        constexpr std::int64_t widest = 10'000;       // columns; more is a mistake
        const auto asked = to_number(columns == nullptr ? "" : columns).value_or(0);
        terminal.asked = asked > 0 && asked <= widest;
        if (terminal.asked) terminal.width = std::max(static_cast<std::size_t>(asked), narrowest);
        return terminal;
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* no_colour = std::getenv("NO_COLOR"); // no-color.org: set and not empty
    const char* kind = std::getenv("TERM");          // NOLINT(concurrency-mt-unsafe)
    terminal.colour = (no_colour == nullptr || *no_colour == '\0') && kind != nullptr &&
                      std::string_view{kind} != "dumb";
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = std::max<std::size_t>(size.ws_col, narrowest);
    return terminal;
}

namespace {

constexpr std::array codes{"1", "2", "31", "33", "32"}; // in the order of Paint
constexpr std::string_view unpainted = "\x1b[0m";

std::string sequence(std::string_view code) { return fmt::format("\x1b[{}m", code); }

} // namespace

std::size_t painted_at(std::string_view text) {
    if (text.starts_with(unpainted)) return unpainted.size();
    for (const auto* code : codes)
        if (const auto painted = sequence(code); text.starts_with(painted)) return painted.size();
    return 0;
}

std::string paint(const Terminal& terminal, Paint paint, std::string_view text) {
    if (!terminal.colour || text.empty()) return std::string{text};
    return fmt::format("{}{}{}", sequence(codes.at(static_cast<std::size_t>(paint))), text,
                       unpainted);
}

char32_t take_character(std::string_view& text) {
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
            code = 0xFFFD;
            length = 1;
        }
    }
    text.remove_prefix(length);
    return code;
}

namespace {

bool within(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

std::size_t width_of(char32_t code) {
    if (code >= 0x80 && ascii_only()) return ascii_of(code).size();
    if (within(code, 0x0300, 0x036F) || within(code, 0xFE00, 0xFE0F)) return 0;
    const bool wide = within(code, 0x1100, 0x115F) || within(code, 0x2E80, 0xA4CF) ||
                      within(code, 0xAC00, 0xD7A3) || within(code, 0xF900, 0xFAFF) ||
                      within(code, 0xFE30, 0xFE6F) || within(code, 0xFF00, 0xFF60) ||
                      within(code, 0xFFE0, 0xFFE6) || within(code, 0x1F300, 0x1FAFF) ||
                      within(code, 0x20000, 0x3FFFD);
    return wide ? 2 : 1;
}

/// The longest front of at most `columns`, at least one character.
std::string_view front_of(std::string_view text, std::size_t columns) {
    std::string_view rest = text;
    std::size_t used = 0;
    while (!rest.empty()) {
        std::string_view after = rest;
        used += width_of(take_character(after));
        if (used > columns && rest.size() != text.size()) break;
        rest = after;
        if (used > columns) break;
    }
    return text.substr(0, text.size() - rest.size());
}

constexpr const char* ellipsis = "…";
constexpr std::size_t most_rounds = 20; // of telling texts apart: each finds a further difference

/// Bytes of whole characters that the texts of a group begin with alike.
std::size_t common_front(const std::vector<std::string>& texts,
                         const std::vector<std::size_t>& group) {
    const std::string& first = texts[group.front()];
    std::size_t common = first.size();
    for (const auto i : group) {
        const auto differ = std::ranges::mismatch(first, texts[i]);
        common = std::min(common, static_cast<std::size_t>(differ.in1 - first.begin()));
    }
    const auto continues = [&](std::size_t at) {
        return at < first.size() && (static_cast<unsigned char>(first[at]) & 0xC0U) == 0x80U;
    };
    while (common > 0 && continues(common)) --common;
    return common;
}

/// The front of a text and the word with what is at `from`, in `columns`.
std::string without_middle(std::string_view text, std::size_t from, std::size_t columns) {
    const std::size_t front = columns / 3;
    const auto word = text.rfind(' ', from) + 1; // 0 where there is no blank
    const auto rest = text.substr(word > 0 && from - word < columns / 2 ? word : from);
    const std::size_t taken = front + display_width(ellipsis);
    return std::string{front_of(text, front)} + ellipsis + cut(rest, columns - taken);
}

/// Punctuation that must not begin a line, and that must not end one.
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
        const char32_t code = take_character(after);
        const bool wide = width_of(before) == 2 || width_of(code) == 2;
        if (before != 0 && wide && !is_closing(code) && !is_opening(before)) break;
        rest = after;
        before = code;
    }
    return text.substr(0, text.size() - rest.size());
}

} // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) width += width_of(take_character(text));
    return width;
}

std::string cut(std::string_view text, std::size_t columns) {
    if (columns == 0) return "";
    if (display_width(text) <= columns) return std::string{text};
    const std::size_t mark = display_width(ellipsis);
    if (columns <= mark) return std::string{columns < mark ? "." : ellipsis};
    return std::string{front_of(text, columns - mark)} + ellipsis;
}

std::vector<std::string> cut_apart(const std::vector<std::string>& texts, std::size_t columns) {
    std::vector<std::string> out;
    for (const auto& text : texts) out.push_back(cut(text, columns));
    if (out == texts) return out;
    const std::size_t least = 2 * display_width(ellipsis) + 2; // columns
    for (std::size_t round = 0;; ++round) {
        std::map<std::string, std::vector<std::size_t>> equal;
        for (std::size_t i = 0; i < out.size(); ++i) equal[out[i]].push_back(i);
        std::erase_if(equal, [&](const auto& group) {
            return std::ranges::all_of(group.second, [&](std::size_t i) {
                return texts[i] == texts[group.second.front()];
            });
        });
        if (equal.empty()) return out;
        for (const auto& [same, group] : equal) {
            const std::size_t common = common_front(texts, group);
            for (const auto i : group)
                out[i] = round < most_rounds && columns > least
                             ? without_middle(texts[i], common, columns)
                             : texts[i];
        }
    }
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

std::vector<std::string> wrap(std::string_view text, std::size_t columns, bool whole_words) {
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
        while (!whole_words && display_width(word) > columns) {
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

std::string indented(std::string_view text, std::size_t indent, std::size_t width) {
    return fmt::format("{}", fmt::join(wrap(text, width - std::min(width, indent), true),
                                       '\n' + std::string(indent, ' ')));
}

namespace {

/// Shrinks the widest column until the table fits the terminal.
void narrow(std::vector<std::size_t>& widths, std::size_t most) {
    const std::size_t gaps = 2 * (widths.size() - 1);
    const auto total = std::accumulate(widths.begin(), widths.end(), gaps);
    const auto widest = std::ranges::max_element(widths);
    constexpr std::size_t least = 20; // columns; less cannot be read
    if (total > most && *widest > least)
        *widest = std::max(least, *widest - std::min(*widest, total - most));
}

/// Rows that differ in this column alone still differ. Painted cells stay: their colour has no width.
void cut_column(std::vector<std::vector<std::string>>& rows, std::size_t column,
                std::size_t width) {
    std::map<std::vector<std::string>, std::vector<std::size_t>> alike; // by their other columns
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (column >= rows[i].size() || rows[i][column].find('\x1b') != std::string::npos) continue;
        auto others = rows[i];
        others[column].clear();
        alike[std::move(others)].push_back(i);
    }
    for (const auto& [others, group] : alike) {
        std::vector<std::string> texts;
        for (const auto i : group) texts.push_back(rows[i][column]);
        const auto cut = cut_apart(texts, width);
        for (std::size_t k = 0; k < group.size(); ++k) rows[group[k]][column] = cut[k];
    }
}

} // namespace

TextTable::TextTable(std::vector<std::string> head) : right_(head.size(), false) {
    rows_.push_back(std::move(head));
}

std::string TextTable::text(const Terminal& terminal) const {
    std::vector<std::size_t> widths(right_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], display_width(row[i]));
    if (terminal.is_limited()) narrow(widths, terminal.width);
    auto cells = rows_;
    for (std::size_t i = 0; i < widths.size(); ++i) cut_column(cells, i, widths[i]);
    std::string out;
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last = i + 1 == row.size();
            const std::string& cell = row[i];
            const std::string gap(widths[i] - std::min(widths[i], display_width(cell)), ' ');
            if (i != 0) line += "  ";
            if (right_[i]) line += gap;
            line += cell;
            if (!right_[i] && !last) line += gap;
        }
        out += &row == cells.data() ? paint(terminal, Paint::bold, line) : line;
        out += '\n';
    }
    return out;
}

} // namespace assay
