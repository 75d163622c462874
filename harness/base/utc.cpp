// SPDX-License-Identifier: Apache-2.0
#include "base/utc.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace assay {
namespace {

/// The number at the front, of so many digits; takes it off.
std::optional<int> digits(std::string_view& text, std::size_t count) {
    int number = 0;
    if (text.size() < count) return {};
    const auto* const past = text.data() + count;
    const auto [end, error] = std::from_chars(text.data(), past, number);
    if (error != std::errc{} || end != past || text.front() == '-') return {};
    text.remove_prefix(count);
    return number;
}
bool skip(std::string_view& text, std::string_view what) {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
}
std::optional<double> seconds_of_day(std::string_view& text) {
    const auto hour = digits(text, 2);
    if (!hour || !skip(text, ":")) return {};
    const auto minute = digits(text, 2);
    if (!minute || !skip(text, ":")) return {};
    const auto second = digits(text, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) return {}; // 60: a leap second
    if (skip(text, "."))
        while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
    return *hour * 3600.0 + *minute * 60.0 + *second;
}

} // namespace

std::optional<double> seconds_of(std::string_view utc) {
    const auto year = digits(utc, 4);
    if (!year || !skip(utc, "-")) return {};
    const auto month = digits(utc, 2);
    if (!month || !skip(utc, "-")) return {};
    const auto day = digits(utc, 2);
    if (!day) return {};
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return {};
    const auto days = std::chrono::sys_days{date}.time_since_epoch();
    double seconds = static_cast<double>(std::chrono::seconds{days}.count());
    if (utc.empty()) return seconds;
    if (!skip(utc, "T")) return {};
    const auto of_day = seconds_of_day(utc);
    if (!of_day || utc != "Z") return {};
    return seconds + *of_day;
}

std::string utc_of(double seconds) {
    constexpr double latest = 253402300799.0; // year 9999
    const double known = std::isfinite(seconds) ? std::clamp(seconds, 0.0, latest) : 0;
    const std::chrono::sys_seconds time{
        std::chrono::seconds{static_cast<std::int64_t>(std::floor(known))}};
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", time);
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

namespace {

/// Goes on while the machine sleeps.
double steady() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
std::atomic<double>& offset() {
    static std::atomic<double> seconds{seconds_now() - steady()};
    return seconds;
}

} // namespace

double steady_seconds_now() { return offset() + steady(); }

double seconds_since_boot() { return steady(); }

double clock_step_seconds() { return seconds_now() - steady_seconds_now(); }

void not_before(double seconds) {
    if (steady_seconds_now() < seconds) offset() = seconds - steady();
}

bool is_over(std::string_view utc, double now) {
    constexpr double day = 86400; // seconds
    const auto first = seconds_of(utc);
    return first && now >= *first + day;
}

} // namespace assay
