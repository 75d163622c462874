// SPDX-License-Identifier: Apache-2.0
//
// Words, cells and numbers out of text that nobody promised to be what it says.
// Parts are views into the text, so that their places are known.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::extract {

/// Takes one line off the front of `rest`, without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& rest);
/// Progress is overwritten in place: the part of a line that was written last.
std::string_view written_last(std::string_view line);

std::string_view trimmed(std::string_view text);

/// Parts between blanks.
std::vector<std::string_view> words_of(std::string_view text);
/// Parts between tabs or two and more blanks: titles of columns, which hold
/// single blanks.
std::vector<std::string_view> columns_of(std::string_view text);
std::vector<std::string_view> split(std::string_view text, std::string_view separator);
/// Values between separators, without blanks and quotes around them; a
/// separator within quotes is part of its value.
std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');
/// A quote that was written twice within quotes is one.
std::string unquoted(std::string_view cell);

/// The whole text as a finite number in decimal notation of the C locale.
std::optional<double> number_of(std::string_view text);
std::optional<std::int64_t> integer_of(std::string_view text);

/// Small letters, digits and underscores: "Bi-Directional Bandwidth" is
/// "bi_directional_bandwidth".
std::string word_of(std::string_view text);

} // namespace assay::extract
