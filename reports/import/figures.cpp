// SPDX-License-Identifier: Apache-2.0

#include "import/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::imports {

std::optional<Printed> printed_of(std::string_view word, double unit) {
    const auto value = number_of(word);
    if (!value) return std::nullopt;
    const auto exponent_at = std::min(word.find_first_of("eE"), word.size());
    const auto mantissa = word.substr(0, exponent_at);
    const auto point = mantissa.find('.');
    const double digits =
        point == std::string_view::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
    auto exponent_text = word.substr(std::min(exponent_at + 1, word.size()));
    if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
    const auto exponent = static_cast<double>(integer_of(exponent_text).value_or(0));
    const Printed printed{.value = *value * unit,
                          .half_digit = std::pow(10, exponent - digits) / 2 * unit};
    if (!std::isfinite(printed.value) || !std::isfinite(printed.half_digit)) return std::nullopt;
    return printed;
}

std::int64_t count_in(std::string_view text, std::int64_t most) {
    const auto value = integer_of(text);
    return value && *value >= 1 && *value <= most ? *value : 0;
}

std::string nccl_version(std::int64_t code) {
    if (code <= 0) return "";
    // Up to 2.8 the major version stood at the thousands.
    if (code < 10000) return fmt::format("{}.{}.{}", code / 1000, code % 1000 / 100, code % 100);
    return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

void set_rate(Reading& reading, const Rated& rated, Draft& draft) {
    reading.headline = rated.metric;
    const Printed& rate = rated.rate;
    const auto& time = rated.seconds;
    const bool is_timed = time && time->value > 0;
    const auto keep_rate = [&] {
        reading.extra.insert(reading.extra.begin(), {std::string{rated.metric}, rate.value});
        if (is_timed) reading.seconds = time->value;
    };
    if (!time || !(rated.amount > 0)) return keep_rate();
    constexpr double rounding = 1e-6; // of sums and constants inside of the tool
    const double seconds = rated.amount / rate.value;
    const double of_rate = seconds * rate.half_digit / rate.value;
    if (!std::isfinite(seconds) || !std::isfinite(of_rate) ||
        !(std::abs(seconds - time->value) <= time->half_digit + of_rate + rounding * seconds)) {
        draft.note(fmt::format("a {} does not match its amount and time: both are kept as printed",
                               rated.metric));
        return keep_rate();
    }
    reading.work.push_back({std::string{rated.work}, rated.amount});
    reading.seconds = is_timed && time->half_digit < of_rate ? time->value : seconds;
}

} // namespace assay::imports
