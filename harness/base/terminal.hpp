// SPDX-License-Identifier: Apache-2.0
//
// Text laid out for terminals, in columns: a Chinese character takes two, a combining one none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

struct Terminal {
    std::size_t width =
        100; ///< columns; 100 if the stream is not a terminal and the user sets no width
    bool colour = false;  ///< unless NO_COLOR is set or the terminal is dumb
    bool present = false; ///< the stream is a terminal
    bool asked = false;   ///< it is not, and COLUMNS gives the width
    bool is_limited() const { return present || asked; }
};
Terminal terminal_of(int descriptor);

enum class Paint : std::uint8_t { bold, dim, red, yellow, green };
std::string paint(const Terminal& terminal, Paint paint, std::string_view text);

/// Bytes of the colour sequence that `text` begins with, if it is one of paint(); 0: none.
std::size_t painted_at(std::string_view text);

/// Takes one character off the front; broken or overlong bytes give U+FFFD and cost one byte.
char32_t take_character(std::string_view& text);

std::size_t display_width(std::string_view text);
/// Cut to `columns` with an ellipsis.
std::string cut(std::string_view text, std::size_t columns);
/// Each cut to `columns`, at another place where different texts would
/// become equal; one is whole if nothing else helps.
std::vector<std::string> cut_apart(const std::vector<std::string>& texts, std::size_t columns);
/// `text` cut to `columns`, or filled with blanks up to it.
std::string fit(std::string_view text, std::size_t columns);
std::string fit_right(std::string_view text, std::size_t columns);
/// Lines of at most `columns`, broken at blanks or beside a Chinese character, or inside a word that is longer than
/// a line unless `whole_words`.
std::vector<std::string> wrap(std::string_view text, std::size_t columns, bool whole_words = false);
/// Lines of at most `width` columns in one text, words whole; those after the first are indented.
std::string indented(std::string_view text, std::size_t indent, std::size_t width);

/// Columns as wide as their widest cell; the last one is not padded. Numbers go to the right.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> head);
    void align_right(std::size_t column) { right_.at(column) = true; }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::string text(const Terminal& terminal) const;

private:
    std::vector<std::vector<std::string>> rows_; ///< the first is the head
    std::vector<bool> right_;
};

} // namespace assay
