// SPDX-License-Identifier: Apache-2.0

#include "extract/times.hpp"

#include "base/utc.hpp"
#include "extract/text.hpp"

#include <fmt/format.h>

#include <chrono>

namespace assay::extract {
namespace {

/// Takes `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    const auto digits = text.substr(0, count);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    text.remove_prefix(count);
    return static_cast<int>(integer_of(digits).value_or(0));
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
    const bool east = text.starts_with('+');
    if (!take(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    take(text, ":");
    const auto minutes = take_digits(text, 2);
    if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
    const std::chrono::minutes zone{*hours * 60 + *minutes};
    return east ? zone : -zone;
}

/// "Sat Jan 31 12:34:56 2026", as ctime() of C writes it.
std::optional<std::string> iso_of(std::string_view text) {
    static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto words = words_of(text);
    if (words.size() != 5 || words[1].size() != 3) return std::nullopt;
    const auto at = months.find(words[1]);
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    return fmt::format("{}-{:02}-{:0>2}T{}", words[4], at / 3 + 1, words[2], words[3]);
}

} // namespace

std::size_t time_length(std::string_view line) {
    auto rest = line;
    const bool bracket = take(rest, "[");
    if (take_digits(rest, 4)) {
        if (!take(rest, "-/") || !take_digits(rest, 2) || !take(rest, "-/") ||
            !take_digits(rest, 2) || !take(rest, "T "))
            return 0;
    }
    if (!take_digits(rest, 2) || !take(rest, ":") || !take_digits(rest, 2) || !take(rest, ":") ||
        !take_digits(rest, 2))
        return 0;
    if (take(rest, ".,"))
        while (take(rest, "0123456789")) {
        }
    if (!take(rest, "Z")) take_zone(rest);
    if (bracket && !take(rest, "]")) return 0;
    return rest.empty() || take(rest, " \t") ? line.size() - rest.size() : 0;
}

std::optional<Moment> moment_of(std::string_view text) {
    using namespace std::chrono;
    if (const auto iso = iso_of(text)) return moment_of(*iso);
    const auto y = take_digits(text, 4);
    take(text, "-");
    const auto m = take_digits(text, 2);
    take(text, "-");
    const auto d = take_digits(text, 2);
    if (!y || !m || !d) return std::nullopt;
    const year_month_day day{year{*y}, month{static_cast<unsigned>(*m)},
                             std::chrono::day{static_cast<unsigned>(*d)}};
    if (!day.ok()) return std::nullopt;
    int seconds_of_day = 0;
    if (take(text, "T ")) {
        const auto hour = take_digits(text, 2);
        take(text, ":");
        const auto minute = take_digits(text, 2);
        take(text, ":");
        const auto second = take_digits(text, 2);
        if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60)
            return std::nullopt;
        seconds_of_day = *hour * 3600 + *minute * 60 + *second;
    }
    if (take(text, ".")) // parts of a second are of no use here
        while (take(text, "0123456789")) {
        }
    Moment moment;
    auto time = sys_days{day} + seconds{seconds_of_day};
    if (take(text, "Z")) {
        moment.has_zone = true;
    } else if (const auto zone = take_zone(text)) {
        moment.has_zone = true;
        time -= *zone;
    }
    if (!text.empty()) return std::nullopt;
    moment.utc = utc_of(static_cast<double>(time.time_since_epoch().count()));
    return moment;
}

} // namespace assay::extract
