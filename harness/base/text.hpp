// SPDX-License-Identifier: Apache-2.0
//
// Splitting and trimming text.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

bool is_blank(char c);
/// An ASCII letter, a digit, or one of `others`.
bool is_word(char c, std::string_view others = "_");
std::string_view trim(std::string_view text);
/// At most 200 characters of `text`, its words one blank apart: some vendors pad their names.
std::string tidied(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
/// Blank-separated words, without empty ones.
std::vector<std::string_view> words(std::string_view text);
/// The whole of `text` as a number.
std::optional<std::int64_t> to_number(std::string_view text);
/// The value of the first line "key<blanks><separator><blanks>value".
std::string_view value_of(std::string_view text, std::string_view key, char separator);
bool contains(std::string_view text, std::string_view part);
std::string lower(std::string_view text);

} // namespace assay
