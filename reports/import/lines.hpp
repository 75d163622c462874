// SPDX-License-Identifier: Apache-2.0
//
// Lines, words, numbers and dates out of text that nobody promised to be what it says.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

/// Takes one line off the front of `rest`, without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& rest);

std::string_view trimmed(std::string_view text);

/// A launcher's label in front of a line, of mpirun --tag-output, mpiexec -prepend-rank or srun --label.
struct Labelled {
    std::string_view label; ///< "[1,0]", "[0]", "0"; empty: none
    std::string_view rest;
    bool certain = false; ///< nothing else looks like it
};
Labelled take_label(std::string_view line);

/// The lines of a text that are not blank, each with its number as people count, without launchers' labels. Lines of one
/// label stay together: copies of a tool that ran at the same time are read one after the other.
class InputLines {
public:
    explicit InputLines(std::string_view text);

    /// Goes to the next one; false at the end.
    bool next();
    std::string_view content() const { return content_; } ///< trimmed; a very long line is cut
    std::size_t number() const { return number_; }
    std::size_t indent() const { return indent_; } ///< blanks in front of it
    std::string where() const;                     ///< "line 7"

private:
    struct Line {
        std::string_view content;
        std::size_t number;
        std::size_t label;
        std::size_t indent;
    };
    void sort_by_label(std::string_view text, bool by_host, bool only_certain);

    std::string cleaned_; ///< where the text has more than lines
    std::string_view rest_;
    std::vector<Line> sorted_; ///< of a text with labels
    std::size_t at_ = 0;
    std::string_view content_;
    std::size_t number_ = 0;
    std::size_t indent_ = 0;
};

/// Parts between blanks.
std::vector<std::string_view> words_of(std::string_view text);
/// Parts between tabs or two and more blanks: titles of columns, which hold single blanks.
std::vector<std::string_view> columns_of(std::string_view text);
std::vector<std::string_view> split(std::string_view text, std::string_view separator);

/// The whole text as a finite number in decimal notation.
std::optional<double> number_of(std::string_view text);
std::optional<std::int64_t> integer_of(std::string_view text);

/// Small letters, digits and underscores: "Bi-Directional Bandwidth" is "bi_directional_bandwidth".
std::string word_of(std::string_view text);

struct Moment {
    std::string utc;       ///< 2026-01-31T12:34:56Z
    bool has_zone = false; ///< without one the text was taken as UTC
};
/// "2026-01-31T12:34:56+01:00", "2026-01-31 12:34:56", "2026-01-31", with Z or without; "Sat Jan 31 12:34:56 2026".
std::optional<Moment> moment_of(std::string_view text);
/// Of seconds since 1970.
std::string utc_of(std::int64_t seconds);

} // namespace assay::imports
