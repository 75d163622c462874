// SPDX-License-Identifier: Apache-2.0
#include "plan/parameter.hpp"

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "json/codec.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::size_t longest_text = 1000; // bytes of a free text: a path, an option

bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

tl::unexpected<Error> refuse(const Parameter& parameter, std::string_view given,
                             std::string_view hint = "") {
    return fail(fmt::format("{} cannot be {}{}: it takes {}", parameter.name, given, hint,
                            range_of(parameter)));
}

/// The value of a word, not yet checked against the range; empty when it is of another type.
std::optional<record::Value> value_of(const Parameter& parameter, std::string_view text) {
    switch (parameter.kind) {
    case ParameterKind::integer:
        if (const auto number = parse_integer(text)) return *number;
        if (is_one_of(parameter.names, text)) return std::string{text};
        return std::nullopt;
    case ParameterKind::real:
        if (const auto number = parse_real(text)) return *number;
        return std::nullopt;
    case ParameterKind::boolean:
        if (text == "true") return true;
        if (text == "false") return false;
        return std::nullopt;
    case ParameterKind::name:
    case ParameterKind::text:
        break;
    }
    return std::string{text};
}

/// What would be right instead of the word.
std::string correction(const Parameter& parameter, std::string_view text) {
    if (const auto near = nearest(text, parameter.names); !near.empty())
        return fmt::format(" (did you mean {}?)", near);
    const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
    if (parameter.kind != ParameterKind::integer || !is_number || parse_integer(text)) return {};
    return fmt::format(" (a whole number may end in {})", multiples_text);
}

bool fits(const Parameter& parameter, const record::Value& value) {
    switch (parameter.kind) {
    case ParameterKind::integer:
        if (const auto* number = std::get_if<std::int64_t>(&value))
            return *number >= parameter.integer_low && *number <= parameter.integer_high;
        [[fallthrough]]; // a symbol
    case ParameterKind::name: {
        const auto* name = std::get_if<std::string>(&value);
        return name != nullptr && is_one_of(parameter.names, *name);
    }
    case ParameterKind::real: {
        const auto* number = std::get_if<double>(&value); // not a number fails both comparisons
        return number != nullptr && *number >= parameter.real_low && *number <= parameter.real_high;
    }
    case ParameterKind::boolean:
        return std::holds_alternative<bool>(value);
    case ParameterKind::text:
        break;
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && text->size() <= longest_text &&
           text->find('\0') == std::string::npos; // it becomes a C string
}

} // namespace

std::string range_of(const Parameter& parameter) {
    switch (parameter.kind) {
    case ParameterKind::integer: {
        auto numbers = fmt::format("{} to {}", parameter.integer_low, parameter.integer_high);
        if (parameter.names.empty()) return numbers;
        return fmt::format("{}, or {}", numbers, fmt::join(parameter.names, ", "));
    }
    case ParameterKind::real:
        return fmt::format("{} to {}", parameter.real_low, parameter.real_high);
    case ParameterKind::boolean:
        return "true or false";
    case ParameterKind::name:
        return fmt::format("{}", fmt::join(parameter.names, ", "));
    case ParameterKind::text:
        break;
    }
    return "any text";
}

Result<void> check_value(const Parameter& parameter, const record::Value& value) {
    if (!fits(parameter, value)) return refuse(parameter, json::show(json::encode(value)));
    return {};
}

Result<record::Value> parse_value(const Parameter& parameter, std::string_view text) {
    auto value = value_of(parameter, text);
    if (value && fits(parameter, *value)) return std::move(*value);
    return refuse(parameter, json::show_text(text), correction(parameter, text));
}

Result<record::Value> value_from_json(const Parameter& parameter, const json::Value& value) {
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        const bool word =
            parameter.kind != ParameterKind::real && parameter.kind != ParameterKind::boolean;
        if (word) return parse_value(parameter, text);
    } else if (value.is_boolean() && parameter.kind == ParameterKind::boolean) {
        return value.get<bool>();
    } else if (value.is_number() && parameter.kind == ParameterKind::real) {
        record::Value number = value.get<double>();
        if (fits(parameter, number)) return number;
    } else if (value.is_number_integer() && parameter.kind == ParameterKind::integer) {
        const bool too_large =
            value.is_number_unsigned() &&
            value.get<std::uint64_t>() > static_cast<std::uint64_t>(parameter.integer_high);
        record::Value number = value.get<std::int64_t>();
        if (!too_large && fits(parameter, number)) return number;
    }
    return refuse(parameter, json::show(value));
}

} // namespace assay::harness
