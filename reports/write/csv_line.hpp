// SPDX-License-Identifier: Apache-2.0
//
// A line of CSV as RFC 4180 has it. Text cells that a spreadsheet would run as a formula begin with an
// apostrophe.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace assay::write {

class CsvLine {
public:
    explicit CsvLine(std::string& out) : out_{out} {}

    CsvLine& text(std::string_view value);
    /// In full precision; an empty cell without a value.
    CsvLine& number(const std::optional<double>& value);
    CsvLine& raw(std::string_view value);
    CsvLine& empty(int count);
    /// By their types: text, numbers, "true" or "false", names of enumerations; empty where there is nothing.
    template <class... Values>
    CsvLine& cells(const Values&... values) {
        (cell(values), ...);
        return *this;
    }
    void end() { out_ += "\r\n"; }

private:
    void separate();
    template <class Value>
    void cell(const Value& value) {
        if constexpr (std::is_same_v<Value, bool>)
            raw(value ? "true" : "false");
        else if constexpr (std::is_enum_v<Value>)
            raw(to_string(value));
        else if constexpr (std::is_integral_v<Value>)
            raw(std::to_string(value));
        else if constexpr (std::is_convertible_v<const Value&, std::string_view>)
            text(value);
        else
            number(value);
    }
    template <class Value>
    void cell(const std::optional<Value>& value) {
        if (value)
            cell(*value);
        else
            raw("");
    }

    std::string& out_;
    bool first_ = true;
};

} // namespace assay::write
