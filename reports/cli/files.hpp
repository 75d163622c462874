// SPDX-License-Identifier: Apache-2.0
//
// What every verb does with its output: to a file whole or not at all, or to stdout.

#pragma once

#include "base/result.hpp"
#include "render/terminal.hpp"

#include <filesystem>
#include <string_view>

namespace assay::report {

/// To stdout, whole or with the reason why not: a full disk behind a redirection is an error.
Result<void> print(std::string_view text);

/// To a file, or to stdout where the path is "-".
Result<void> write(const std::filesystem::path& path, std::string_view content);

/// Of the terminal on stdout, as wide as is easy to read; without colour where there is none.
TerminalStyle terminal_style();

} // namespace assay::report
