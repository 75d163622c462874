// SPDX-License-Identifier: Apache-2.0
//
// The one way to stdout and stderr, and what makes text safe to show there. A stream that is closed, full or has lost
// its reader never ends a program.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace assay {

/// Valid UTF-8 on one line: terminal escape sequences, control characters and marks that reorder or
/// hide text are gone, line breaks and tabs are blanks, broken bytes are U+FFFD. Cut at `limit`
/// characters with an ellipsis.
std::string plain(std::string_view text, std::size_t limit = 1000);
/// Is it short and of printable ASCII, so that plain() is the same?
bool is_plain(std::string_view text);
/// The same of several lines, whole. Colours of paint() stay where the terminal has them; see use_ascii().
std::string shown(std::string_view text, bool colour);

/// First thing in main(): opens descriptors 0 to 2 where they are closed, so that no file of ours becomes one of them,
/// ignores SIGPIPE and SIGXFSZ, and shows ASCII alone where the locale says so. False where `ulimit -s` leaves no room for
/// a program, which it has said.
[[nodiscard]] bool open_standard_streams();

/// Prints to stdout, made safe. A full disk behind a redirection is an error,
/// but not a reader that has read enough (`| head`).
Result<void> print(std::string_view text);
/// One JSON document: \u escapes where the locale is ASCII.
Result<void> print_json(std::string_view json);
/// The same in parts of whole lines.
Result<void> print_json(const Produce& produce);
/// The content of a file: byte for byte, unless stdout is a terminal.
Result<void> print_file(std::string_view content);
/// The same in parts of whole lines; they end when the reader has read enough.
Result<void> print_file(const Produce& produce);
/// The first error of these in this process.
Result<void> printed();

/// For main(): out of memory, no thread, and the like. Whatever else is expected comes as a Result.
Error error_from(const std::exception& exception);

/// To stderr, made safe; what cannot be written there is lost.
void print_error(std::string_view text);
/// One line on the terminal at stderr that the next one replaces; empty: cleared.
void overwrite_line(std::string_view line);

} // namespace assay
