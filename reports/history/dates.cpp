// SPDX-License-Identifier: Apache-2.0

#include "history/dates.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace assay::report {
namespace {

namespace chrono = std::chrono;

constexpr double day_seconds = 86400;
/// Year 9999, the last that four digits can say: what a hostile file claims stays printable.
constexpr double latest_seconds = 253402300799.0;

chrono::year_month_day calendar(double seconds) {
    return chrono::sys_days{chrono::days{day_of(seconds)}};
}

/// All of `text` as a number.
std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || at != end || text.empty()) return std::nullopt;
    return value;
}

} // namespace

std::int64_t day_of(double seconds) {
    const double known = std::isfinite(seconds) ? std::clamp(seconds, 0.0, latest_seconds) : 0;
    return static_cast<std::int64_t>(std::floor(known / day_seconds));
}

std::string date_of(double seconds) {
    const auto date = calendar(seconds);
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::int64_t quarter_of(double seconds) {
    const auto date = calendar(seconds);
    return std::int64_t{4} * static_cast<int>(date.year()) +
           (static_cast<unsigned>(date.month()) - 1) / 3;
}

std::string quarter_name(std::int64_t quarter) {
    return fmt::format("{:04} Q{}", quarter / 4, quarter % 4 + 1);
}

std::optional<double> seconds_of_date(std::string_view date) {
    if (date.size() != 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
    const auto year = number(date.substr(0, 4));
    const auto month = number(date.substr(5, 2));
    const auto day = number(date.substr(8, 2));
    if (!year || !month || !day || *month < 0 || *day < 0) return std::nullopt;
    const chrono::year_month_day parsed{chrono::year{*year},
                                        chrono::month{static_cast<unsigned>(*month)},
                                        chrono::day{static_cast<unsigned>(*day)}};
    if (!parsed.ok()) return std::nullopt;
    return day_seconds * static_cast<double>(chrono::sys_days{parsed}.time_since_epoch().count());
}

} // namespace assay::report
