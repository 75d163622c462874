// SPDX-License-Identifier: Apache-2.0
#include "plan/value_range.hpp"

#include "json/words.hpp"
#include "machine/inventory.hpp"
#include "plan/parameter.hpp"

#include <assay/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::int64_t most_per_octave = 16;

struct Ends {
    record::Value low;
    record::Value high;
    std::int64_t per_octave = 1;
};

tl::unexpected<Error> refuse(const Parameter& parameter, std::string_view text,
                             std::string_view why) {
    return fail(fmt::format("{} cannot be {}: {}; write a range as in 8KiB..1GiB (doubling) or "
                            "8KiB..1GiB:2 (two values in each octave)",
                            parameter.name, json::show_text(text), why));
}

Result<Ends> read_ends(const Parameter& parameter, std::string_view text) {
    if (parameter.kind != ParameterKind::integer)
        return refuse(parameter, text, "only whole numbers have ranges");
    const auto at = text.find(range_dots);
    auto high = text.substr(at + range_dots.size());
    if (at == 0 || high.empty()) return refuse(parameter, text, "an end is missing");
    Ends ends;
    if (const auto colon = high.rfind(':'); colon != std::string_view::npos) {
        const auto count = high.substr(colon + 1);
        const char* last = count.data() + count.size();
        const auto [end, fault] = std::from_chars(count.data(), last, ends.per_octave);
        if (fault != std::errc{} || end != last || ends.per_octave < 1 ||
            ends.per_octave > most_per_octave)
            return refuse(parameter, text,
                          fmt::format("after the colon goes 1 to {}", most_per_octave));
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
        return refuse(parameter, text, fmt::format("{} to {} is not a range", low, high));
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

} // namespace assay::harness
