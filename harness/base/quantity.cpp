// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace assay {

Result<double> parse_duration(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
    double number = 0;
    const char* last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, number);
    const std::string_view suffix{end, static_cast<std::size_t>(last - end)};
    if (fault == std::errc{} && std::isfinite(number) && number > 0)
        for (const auto& [unit, seconds] : units)
            if (suffix == unit) return number * seconds;
    return fail(fmt::format("\"{}\" is no duration: write 90s, 15m or 1h", text));
}

} // namespace assay
