// SPDX-License-Identifier: Apache-2.0
//
// Amounts of money as quotes have them, and currencies. An amount keeps the decimal text it was given and the double
// nearest to it (decision 0330); it is rounded where people read it and nowhere else.

#pragma once

#include "base/result.hpp"
#include "json/codec.hpp"

#include <string>
#include <string_view>

namespace assay::report {

/// "98.32"; with a point, without separators of thousands, currency or percent.
struct Amount {
    std::string text; ///< as given
    double value = 0;
    bool operator==(const Amount&) const = default;
};
/// Fails where it is no number, a formula, or may be read in two ways: "1.234,5", "1,234".
Result<Amount> parse_amount(std::string_view text);
json::Value encode_value(const Amount& amount);
void decode_value(const json::Object& object, std::string_view key, Amount& out);

/// One of ISO 4217 that money is paid in: "USD", "CNY".
bool is_currency(std::string_view code);

/// "=HYPERLINK(...)": a spreadsheet would run it.
bool is_formula(std::string_view cell);

/// "USD 98.32", "USD 1,234,567": four significant digits or more, and whole amounts from 1,000 on.
std::string money_in_words(double value, std::string_view currency);

} // namespace assay::report
