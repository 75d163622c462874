// SPDX-License-Identifier: Apache-2.0
//
// Parameter values from outside: a word on the command line, a value in a suite, a default in a manifest.
// Accepted values have the parameter's type and are in its range.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "json/json.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

ASSAY_ENUM(ParameterKind, integer, real, boolean, name, text)

/// See assay_variable in assay/module.h.
struct ParameterVariable {
    std::string value; ///< of the parameter, as text
    std::string name;
    std::string setting;
};

struct Parameter {
    std::string name;
    ParameterKind kind = ParameterKind::integer;
    std::string help;
    std::string unit;
    std::int64_t integer_low = 0;
    std::int64_t integer_high = 0;
    double real_low = 0;
    double real_high = 0;
    std::vector<std::string> names; ///< enumeration values, or the symbols an integer also takes
    std::vector<record::Value> defaults;
    std::vector<ParameterVariable> variables{};
};

/// "1 to 4096, or one, all": the values of the parameter, for people.
std::string range_of(const Parameter& parameter);

Result<void> check_value(const Parameter& parameter, const record::Value& value);
/// "64MiB", "0.5", "true", "fp64". Integers take the suffixes of base/quantity.hpp.
Result<record::Value> parse_value(const Parameter& parameter, std::string_view text);
/// Value in a suite or manifest; an integer may be written as a text with a suffix.
Result<record::Value> value_from_json(const Parameter& parameter, const json::Value& value);

// --- value range ---------------------------------------------------------------------------------
// Several values in one word: "8KiB..1GiB" is every doubling between the two, "8KiB..beyond_cache:2"
// two values in each octave, up to what the symbol stands for on this machine. The grid between the
// ends is the same everywhere, so that machines of different size share points. "one..all" doubles
// the threads.

inline constexpr std::string_view range_dots = "..";
/// Is the word written as a range?
bool is_range(std::string_view text);

/// The values, ascending; the upper end is the last one, and remains a symbol if it is one. Fails for
/// parameters that are not integers, for ends out of order or range, and for more than 16 values in an
/// octave.
Result<std::vector<record::Value>>
values_in_range(const Parameter& parameter, std::string_view text, const record::Machine& machine);

/// The number that the symbol of an integer stands for; an unknown machine has one core and caches of unknown size.
std::optional<std::int64_t> number_of_symbol(std::string_view symbol,
                                             const record::Machine& machine);

} // namespace assay::plan
