// SPDX-License-Identifier: Apache-2.0
//
// The one way to stdout and stderr. A stream that is closed, full or has lost its reader never ends a program.

#pragma once

#include "base/result.hpp"

#include <string_view>

namespace assay {

/// First thing in main(): opens descriptors 0 to 2 where they are closed, so that no file of ours becomes one of them,
/// and ignores SIGPIPE.
void open_standard_streams();

/// To stdout. A full disk behind a redirection is an error; a reader that has read enough (`| head`) is none.
Result<void> print(std::string_view text);
/// The first error of print() in this process.
Result<void> printed();

/// To stderr; what cannot be written there is lost.
void print_error(std::string_view text);
/// One line on the terminal at stderr that the next one replaces; empty: cleared.
void overwrite_line(std::string_view line);

} // namespace assay
