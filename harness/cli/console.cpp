// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace assay::cli {

Terminal terminal_of(int descriptor) {
    Terminal terminal;
    terminal.present = ::isatty(descriptor) == 1;
    if (!terminal.present) return terminal;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* no_colour = std::getenv("NO_COLOR");
    terminal.colour = no_colour == nullptr || *no_colour == '\0';
    winsize size{};
    constexpr std::size_t narrowest = 40; // columns; below it nothing can be laid out anyway
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = std::max<std::size_t>(size.ws_col, narrowest);
    return terminal;
}

std::string paint(const Terminal& terminal, Paint paint, std::string_view text) {
    static constexpr std::array codes{"1", "2", "31", "33", "32"}; // in the order of Paint
    if (!terminal.colour || text.empty()) return std::string{text};
    return fmt::format("\x1b[{}m{}\x1b[0m", codes.at(static_cast<std::size_t>(paint)), text);
}

std::size_t columns_of(std::string_view text) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

std::string cut(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string{text};
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
        if (begins && ++seen >= columns) break; // one column is for the ellipsis
    }
    return std::string{text.substr(0, end)} + "…";
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        const bool first = column == indent;
        if (!first && column + 1 + columns_of(word) > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out += word;
        column += columns_of(word);
    }
    return out;
}

namespace {

/// Takes from the widest column what is more than the terminal has.
void narrow(std::vector<std::size_t>& widths, std::size_t most) {
    const std::size_t gaps = 2 * (widths.size() - 1);
    const auto total = std::accumulate(widths.begin(), widths.end(), gaps);
    const auto widest = std::ranges::max_element(widths);
    constexpr std::size_t least = 20; // columns; less cannot be read
    if (total > most && *widest > least)
        *widest = std::max(least, *widest - std::min(*widest, total - most));
}

} // namespace

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

ExitCode report(const Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.message.c_str());
    return exit_code(error);
}

Table::Table(std::vector<std::string> head) : right_(head.size(), false) {
    rows_.push_back(std::move(head));
}

std::string Table::text(const Terminal& terminal) const {
    std::vector<std::size_t> widths(right_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], columns_of(row[i]));
    if (terminal.present) narrow(widths, terminal.width);
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last = i + 1 == row.size();
            const bool painted = row[i].find('\x1b') != std::string::npos; // has no width
            const std::string cell = painted ? row[i] : cut(row[i], widths[i]);
            const std::string gap(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
            if (i != 0) line += "  ";
            if (right_[i]) line += gap;
            line += cell;
            if (!right_[i] && !last) line += gap;
        }
        out += &row == rows_.data() ? paint(terminal, Paint::bold, line) : line;
        out += '\n';
    }
    return out;
}

std::string clock_text(double seconds) {
    constexpr double most = 359'999; // 99:59:59
    const auto whole = std::lround(std::clamp(seconds, 0.0, most));
    const auto hours = whole / 3600;
    const auto minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{}:{:02}", minutes, whole % 60);
}

} // namespace assay::cli
