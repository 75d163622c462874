// SPDX-License-Identifier: Apache-2.0
//
// Output of the program; only main.cpp and the verbs print.

#pragma once

#include "base/console.hpp"
#include "base/result.hpp"
#include "base/terminal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Prints `assay: ...` on stderr and returns the code for it.
ExitCode report(const Error& error);

/// "50 s", "14 min", "2.5 h": two or three digits.
std::string duration_text(double seconds);

/// "14 to 28 min", in the unit of the longer time; "about 14 min" if they are the same.
std::string duration_range(double least, double most);

/// A table whose last column has the heading `name` and `texts`, wrapped to the terminal instead of cut.
std::string table_with_texts(const TextTable& table, std::string_view name,
                             const std::vector<std::string>& texts, const Terminal& terminal);

/// The sentence for a table that the terminal's width cut; "" if it is whole.
std::string cut_note(std::string_view table, std::string_view how_to_see_all);

} // namespace assay::cli
