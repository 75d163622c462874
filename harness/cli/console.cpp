// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>

namespace assay::cli {

ExitCode report(const Error& error) {
    print_error(fmt::format("assay: {}\n", error.message));
    return exit_code(error);
}

namespace {

struct Unit {
    const char* name;
    double seconds;
};
constexpr Unit units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"days", 86'400}};

/// The largest unit with 1 to 120 of it: 90 s, 100 min, 72 h.
Unit unit_of(double seconds) {
    constexpr double many = 120;
    for (const auto& unit : units)
        if (seconds < many * unit.seconds) return unit;
    return units[std::size(units) - 1];
}

std::string amount(double seconds, const Unit& unit) {
    const double value = seconds / unit.seconds;
    constexpr double two_digits = 9.5;
    return unit.seconds == 1 || value >= two_digits ? fmt::format("{:.0f}", value)
                                                    : fmt::format("{:.2g}", value);
}

} // namespace

std::string duration_text(double seconds) {
    constexpr double hour = 3600;
    const bool whole_hours = seconds >= hour && std::fmod(seconds, hour) == 0;
    const auto unit = whole_hours ? Unit{"h", hour} : unit_of(seconds);
    return fmt::format("{} {}", amount(std::max(seconds, 0.0), unit), unit.name);
}

std::string duration_range(double least, double most) {
    const auto unit = unit_of(most);
    const auto first = amount(least, unit);
    const auto last = amount(most, unit);
    return first == last ? fmt::format("about {}", duration_text(most))
                         : fmt::format("{} to {} {}", first, last, unit.name);
}

std::string table_with_texts(const TextTable& table, std::string_view name,
                             const std::vector<std::string>& texts, const Terminal& terminal) {
    std::istringstream lines{table.text({})};
    std::vector<std::string> fronts;
    std::size_t indent = 0;
    for (std::string line; std::getline(lines, line);) {
        indent = std::max(indent, display_width(line) + 2);
        fronts.push_back(std::move(line));
    }
    auto out = paint(terminal, Paint::bold, fit(fronts.front(), indent) + std::string{name}) + '\n';
    const auto width = terminal.is_limited() ? terminal.width : std::string::npos;
    for (std::size_t i = 0; i < texts.size(); ++i)
        out += fit(fronts[i + 1], indent) + indented(texts[i], indent, width) + '\n';
    return out;
}

std::string cut_note(std::string_view table, std::string_view how_to_see_all) {
    return table.find("…") == std::string_view::npos && table.find("...") == std::string_view::npos
               ? ""
               : fmt::format("Cut to the width of this terminal. {}\n", how_to_see_all);
}

} // namespace assay::cli
