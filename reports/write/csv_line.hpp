// SPDX-License-Identifier: Apache-2.0
//
// A line of CSV as RFC 4180 has it. Text cells that a spreadsheet would run as a formula begin with an
// apostrophe.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::write {

class CsvLine {
public:
    explicit CsvLine(std::string& out) : out_{out} {}

    CsvLine& text(std::string_view value);
    /// In full precision; an empty cell where there is none.
    CsvLine& number(const std::optional<double>& value);
    CsvLine& raw(std::string_view value);
    void end() { out_ += "\r\n"; }

private:
    void separate();

    std::string& out_;
    bool first_ = true;
};

} // namespace assay::write
