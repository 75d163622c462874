// SPDX-License-Identifier: Apache-2.0
#include "plan/parameter.hpp"

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "json/codec.hpp"
#include "json/words.hpp"
#include "machine/inventory.hpp"

#include <assay/machine.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace assay::plan {
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

/// The expectation for a wrong word.
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

// --- value range ---------------------------------------------------------------------------------

namespace {

constexpr std::int64_t most_per_octave = 16;

struct Ends {
    record::Value low;
    record::Value high;
    std::int64_t per_octave = 1;
};

tl::unexpected<Error> refuse_range(const Parameter& parameter, std::string_view text,
                                   std::string_view why) {
    return fail(fmt::format("{} cannot be {}: {}; write a range as in 8KiB..1GiB (doubling) or "
                            "8KiB..1GiB:2 (two values in each octave)",
                            parameter.name, json::show_text(text), why));
}

Result<Ends> read_ends(const Parameter& parameter, std::string_view text) {
    if (parameter.kind != ParameterKind::integer)
        return refuse_range(parameter, text, "only whole numbers have ranges");
    const auto at = text.find(range_dots);
    auto high = text.substr(at + range_dots.size());
    if (at == 0 || high.empty()) return refuse_range(parameter, text, "an end is missing");
    Ends ends;
    if (const auto colon = high.rfind(':'); colon != std::string_view::npos) {
        const auto count = high.substr(colon + 1);
        const char* last = count.data() + count.size();
        const auto [end, fault] = std::from_chars(count.data(), last, ends.per_octave);
        if (fault != std::errc{} || end != last || ends.per_octave < 1 ||
            ends.per_octave > most_per_octave)
            return refuse_range(parameter, text,
                                fmt::format("expected 1 to {} after the colon", most_per_octave));
        high = high.substr(0, colon);
    }
    ASSAY_TRY(auto first, parse_value(parameter, text.substr(0, at)));
    ASSAY_TRY(auto last, parse_value(parameter, high));
    ends.low = std::move(first);
    ends.high = std::move(last);
    return ends;
}

std::int64_t number_of(const record::Value& value, const record::Machine& machine) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    return number_of_symbol(std::get<std::string>(value), machine).value_or(1);
}

} // namespace

std::optional<std::int64_t> number_of_symbol(std::string_view symbol,
                                             const record::Machine& machine) {
    if (symbol == "beyond_cache") {
        const double last_level = machine::fact(machine, "cache.last_level");
        return beyond_cache_bytes(std::isnan(last_level) ? 0
                                                         : static_cast<std::int64_t>(last_level));
    }
    if (symbol == "all") return std::max(machine.usable_cores.value_or(1), 1);
    return symbol == "one" ? std::optional<std::int64_t>{1} : std::nullopt;
}

bool is_range(std::string_view text) { return text.find(range_dots) != std::string_view::npos; }

Result<std::vector<record::Value>>
values_in_range(const Parameter& parameter, std::string_view text, const record::Machine& machine) {
    ASSAY_TRY(auto ends, read_ends(parameter, text));
    const auto low = number_of(ends.low, machine);
    const auto high = number_of(ends.high, machine);
    if (low < 1 || low > high)
        return refuse_range(parameter, text,
                            fmt::format("{} to {} is not a rising range", low, high));
    std::vector<record::Value> values;
    for (std::int64_t octave = low; octave < high; octave *= 2) {
        for (std::int64_t step = 0; step < ends.per_octave; ++step) {
            const auto value = octave + octave / ends.per_octave * step;
            const bool is_new = values.empty() || std::get<std::int64_t>(values.back()) < value;
            if (value < high && is_new) values.emplace_back(value);
        }
        if (octave > high / 2) break; // the next doubling would pass it, or wrap
    }
    values.push_back(std::move(ends.high));
    return values;
}

} // namespace assay::plan
