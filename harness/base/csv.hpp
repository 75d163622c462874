// SPDX-License-Identifier: Apache-2.0
//
// Rows of CSV as RFC 4180 has it, from whatever wrote it: cells in quotes that hold separators, quotes and line ends;
// LF or CRLF; a comma, semicolon or tab between cells, whichever the first line has most of.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class CsvRows {
public:
    /// Refers to `text`, which must outlive it.
    explicit CsvRows(std::string_view text);

    /// Goes to the next row that is not blank; false at the end, and at a problem.
    bool next();
    const std::vector<std::string>& cells() const { return cells_; }
    std::size_t line() const { return line_; } ///< of the row's first character, from 1
    /// What ended the reading early: "a quote that begins in line 7 has no end"; empty otherwise.
    const std::string& problem() const { return problem_; }
    char separator() const { return separator_; }

private:
    bool quoted(std::string& cell);

    std::string_view rest_;
    std::vector<std::string> cells_;
    std::size_t line_ = 0;
    std::size_t lines_ = 0; ///< before rest_
    std::string problem_;
    char separator_ = ',';
};

} // namespace assay
