// SPDX-License-Identifier: Apache-2.0

#include "import/figures.hpp"

#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
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

namespace {

/// Of "k", "Mi"; nothing where there is no such prefix.
std::optional<double> scale_of(std::string_view prefix) {
    constexpr std::string_view letters = "kmgtp";
    if (prefix.empty()) return 1;
    const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(prefix[0])));
    const auto place = letters.find(small);
    const bool binary = prefix.size() == 2 && (prefix[1] == 'i' || prefix[1] == 'I');
    if (place == std::string_view::npos || (prefix.size() > 1 && !binary)) return std::nullopt;
    return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(place) + 1);
}

} // namespace

std::optional<Unit> unit_of(std::string_view text) {
    static constexpr std::array<Unit, 4> seconds{
        {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    for (const auto& unit : seconds)
        if (text == unit.base) return Unit{"s", unit.factor};
    static constexpr std::array<Unit, 12> plain{{{"1", 1},
                                                 {"dB", 1},
                                                 {"J", 1},
                                                 {"tokens/s", 1},
                                                 {"requests/s", 1},
                                                 {"samples/s", 1},
                                                 {"operations/s", 1},
                                                 {"updates/s", 1},
                                                 {"ns/day", 1},
                                                 {"cells/s", 1},
                                                 {"Hz", 1},
                                                 {"pairs/s", 1}}};
    for (const auto& unit : plain)
        if (text == unit.base) return unit;
    if (text == "%") return Unit{"1", 0.01};
    static constexpr std::array<std::array<std::string_view, 2>, 6> rates{
        {{"B/s", "B/s"},
         {"bit/s", "B/s"},
         {"FLOP/s", "FLOP/s"},
         {"OP/s", "OP/s"},
         {"atom-steps/s", "atom-steps/s"},
         {"1/s", "1/s"}}};
    for (const auto& [written, base] : rates) {
        if (!text.ends_with(written)) continue;
        const auto scale = scale_of(text.substr(0, text.size() - written.size()));
        if (scale) return Unit{base, *scale * (written == "bit/s" ? 0.125 : 1)};
    }
    return std::nullopt;
}

std::optional<Unit> unit_in(std::string_view title) {
    auto word = word_of(title);
    for (const std::string_view end : {"_per_sec", "_sec", "_s"}) {
        if (!word.ends_with(end)) continue;
        word.resize(word.size() - end.size());
        std::string_view last = word;
        last.remove_prefix(last.rfind('_') == std::string_view::npos ? 0 : last.rfind('_') + 1);
        for (const std::string_view bytes : {"bytes", "byte", "b"})
            if (last.ends_with(bytes)) {
                const auto scale = scale_of(last.substr(0, last.size() - bytes.size()));
                return scale ? std::optional{Unit{"B/s", *scale}} : std::nullopt;
            }
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<double> bytes_of(std::string_view text) {
    const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = number_of(text.substr(0, end));
    auto unit = trimmed(text.substr(end));
    if (unit.ends_with("bytes")) unit.remove_suffix(5);
    if (unit.ends_with('B')) unit.remove_suffix(1);
    const auto scale = scale_of(trimmed(unit));
    return number && scale ? std::optional{*number * *scale} : std::nullopt;
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
        draft.note(fmt::format(
            "a {} does not follow from its amount and its time: both are kept as printed",
            rated.metric));
        return keep_rate();
    }
    reading.work.push_back({std::string{rated.work}, rated.amount});
    reading.seconds = is_timed && time->half_digit < of_rate ? time->value : seconds;
}

} // namespace assay::imports
