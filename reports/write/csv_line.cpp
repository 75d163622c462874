// SPDX-License-Identifier: Apache-2.0

#include "write/csv_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace assay::write {
namespace {

/// Would a spreadsheet run this cell? The wide forms are read as the narrow ones by some.
bool is_formula(std::string_view text) {
    static constexpr std::array starts{"=", "+", "-", "@", "＝", "＋", "－", "＠"};
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return false;
    text.remove_prefix(first);
    return std::ranges::any_of(starts, [&](const char* start) { return text.starts_with(start); });
}

/// With an apostrophe before every formula: also before one behind a semicolon or a tab, where spreadsheets of many
/// languages begin a new cell, quoted or not.
std::string defused(std::string_view value) {
    std::string out;
    while (true) {
        const auto cell = value.substr(0, value.find_first_of(";\t\r\n"));
        if (is_formula(cell)) out += '\'';
        out += cell;
        if (cell.size() == value.size()) return out;
        out += value[cell.size()];
        value.remove_prefix(cell.size() + 1);
    }
}

} // namespace

void CsvLine::separate() {
    if (!first_) out_ += ',';
    first_ = false;
}

CsvLine& CsvLine::text(std::string_view value) {
    separate();
    const auto safe = defused(value);
    if (safe == value && value.find_first_of(",\"\r\n") == std::string_view::npos) {
        out_ += value;
        return *this;
    }
    out_ += '"';
    for (const char c : safe) {
        if (c == '"') out_ += '"';
        out_ += c;
    }
    out_ += '"';
    return *this;
}

CsvLine& CsvLine::number(const std::optional<double>& value) {
    separate();
    if (value) out_ += fmt::format("{}", *value);
    return *this;
}

CsvLine& CsvLine::raw(std::string_view value) {
    separate();
    out_ += value;
    return *this;
}

CsvLine& CsvLine::empty(int count) {
    for (; count > 0; --count) raw("");
    return *this;
}

} // namespace assay::write
