// SPDX-License-Identifier: Apache-2.0
//
// Text for terminals. Everything the program says to people is laid out here; only main.cpp and the
// verbs print it.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

void print(std::string_view text); ///< stdout
/// Prints `assay: ...` on stderr and returns the code for it.
ExitCode report(const Error& error);

struct Terminal {
    bool present = false;    ///< the stream is a terminal
    bool colour = false;     ///< and NO_COLOR is not set
    std::size_t width = 100; ///< columns; 100 where the stream is no terminal
};
Terminal terminal_of(int descriptor);

enum class Paint : std::uint8_t { bold, dim, red, yellow, green };
std::string paint(const Terminal& terminal, Paint paint, std::string_view text);

/// Columns that the text takes: one per code point.
std::size_t columns_of(std::string_view text);

/// Cut to `columns`, with an ellipsis where something is missing.
std::string cut(std::string_view text, std::size_t columns);

/// Broken at blanks so that no line is longer than `width`; lines after the first are indented.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

/// Columns as wide as their widest cell; the last one is not padded. Numbers go to the right.
class Table {
public:
    explicit Table(std::vector<std::string> head);
    void align_right(std::size_t column) { right_.at(column) = true; }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::string text(const Terminal& terminal) const;

private:
    std::vector<std::vector<std::string>> rows_; ///< the first is the head
    std::vector<bool> right_;
};

/// "1:05" or "2:03:04": minutes and seconds, with hours where there are any.
std::string clock_text(double seconds);

} // namespace assay::cli
