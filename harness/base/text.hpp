// SPDX-License-Identifier: Apache-2.0
//
// Splitting and trimming text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

bool is_blank(char c);
/// An ASCII letter, a digit, or one of `others`.
bool is_word(char c, std::string_view others = "_");
std::string_view trim(std::string_view text);
/// Without the byte order mark with which Windows programs begin a UTF-8 file.
std::string_view without_mark(std::string_view text);
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

// Plain ASCII for a terminal whose locale says that it shows nothing else: LC_ALL=C. Texts are laid out with the widths
// of what stands for a character (base/terminal) and replaced where they are printed (base/console).

/// For the whole program; the initial state is off. Chinese has no ASCII: who asks for it switches this off.
void use_ascii(bool only);
bool ascii_only();
/// Do LC_ALL, LC_CTYPE or LANG, the first that is set, name a locale without UTF-8? Not where none is set, as in
/// most containers.
bool locale_is_ascii();

/// "+-" for U+00B1; "?" for what has no likeness.
std::string_view ascii_of(char32_t code);

// "Did you mean ...": the known name that an unknown one was most likely meant to be.

/// The candidate with the fewest edits from `name`; "" if none is close enough to suggest (more than
/// a third of the letters differ).
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// ` (did you mean "x"?)`, or the list of known names when none is near and the list is short.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

} // namespace assay
