// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people: three significant digits and an SI prefix. Files hold SI base units and full
// precision; nothing written here is ever read back.

#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace assay::record {

namespace detail {

/// Three significant digits of a value between 1 and 1000, limits included; beyond the known prefixes
/// (1e30 FLOP/s in an invented file) with an exponent.
inline std::string three_digits(double value) {
    const double size = std::fabs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return fmt::format("{:.2e}", value);
    if (size >= 99.95) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

} // namespace detail

/// 64 MiB, 1.5 GiB, 100 B: sizes that people choose are powers of two.
inline std::string human_bytes(double bytes) {
    static constexpr std::array prefixes{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    if (!std::isfinite(bytes)) return "unknown";
    std::size_t step = 0;
    double scaled = bytes;
    const auto has_four_digits = [&] { // 1022.4 MiB is 0.998 GiB, 1000 MiB stays
        return std::fabs(scaled) >= 999.5 && scaled != std::floor(scaled);
    };
    while ((std::fabs(scaled) >= 1024.0 || has_four_digits()) && step + 1 < prefixes.size()) {
        scaled /= 1024.0;
        ++step;
    }
    const bool whole = scaled == std::floor(scaled);
    return fmt::format("{} {}B",
                       whole && std::fabs(scaled) < 1e6 ? fmt::format("{:.0f}", scaled)
                                                        : fmt::format("{:.3g}", scaled),
                       prefixes.at(step));
}

/// human(5.05e11, "FLOP/s") is "505 GFLOP/s"; seconds go down to ns, "1/s" becomes "12.3 k/s", "B" is
/// written in powers of two, "1" is a ratio. An empty unit gives the bare number.
inline std::string human(double value, std::string_view unit) {
    if (!std::isfinite(value)) return "unknown";
    if (unit == "B") return human_bytes(value);
    if (unit == "1") return fmt::format("{:.3g}", value);
    static constexpr int lowest = -4; // pico: nothing here is shorter or slower
    static constexpr int highest = 6; // exa
    static constexpr std::array prefixes{"p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
    constexpr std::size_t offset = -lowest;
    const int ceiling = unit == "s" ? 0 : highest; // 1200 s, not 1.2 ks
    int power = 0;
    if (value != 0) {
        // Values that round to 1000 get the next prefix: 999.7 is 1.00 k.
        power = static_cast<int>(std::floor(std::log10(std::fabs(value)) / 3.0));
        const auto rounds_up = [&] { return std::fabs(value) / std::pow(1000.0, power) >= 999.5; };
        if (rounds_up()) ++power;
        power = std::clamp(power, lowest, ceiling);
    }
    const std::string number = detail::three_digits(value / std::pow(1000.0, power));
    const auto index = static_cast<std::size_t>(power) + offset; // modular: both ends are in range
    const char* prefix = prefixes.at(index);
    if (unit.starts_with("1/"))
        return fmt::format("{} {}{}", number, prefix, unit.substr(1)); // per second: "k/s"
    const std::string full = fmt::format("{}{}", prefix, unit);
    return full.empty() ? number : fmt::format("{} {}", number, full);
}

/// A share as percent with two significant digits: 0.984 is "98%", 0.0042 is "0.42%".
inline std::string human_percent(double share) {
    if (!std::isfinite(share)) return "unknown";
    const double percent = share * 100.0;
    const double size = std::fabs(percent);
    if (size >= 9.95 || size == 0) return fmt::format("{:.0f}%", percent);
    if (size >= 0.995) return fmt::format("{:.1f}%", percent);
    return size < 0.01 ? "<0.01%" : fmt::format("{:.2f}%", percent);
}

} // namespace assay::record
