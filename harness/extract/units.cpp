// SPDX-License-Identifier: Apache-2.0

#include "extract/units.hpp"

#include "extract/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace assay::extract {
namespace {

/// Scale of "k", "Mi"; nothing for an unknown prefix.
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
    if (text == "%") return Unit{"1", 0.01};
    static constexpr std::array<std::string_view, 11> plain{
        "1",      "dB",      "J",  "tokens/s", "requests/s", "samples/s", "operations/s",
        "ns/day", "cells/s", "Hz", "pairs/s"};
    if (const auto* const unit = std::ranges::find(plain, text); unit != plain.end())
        return Unit{*unit};
    static constexpr std::array<std::string_view, 7> rates{
        "B/s", "bit/s", "FLOP/s", "OP/s", "atom-steps/s", "updates/s", "1/s"};
    for (const auto rate : rates) {
        if (!text.ends_with(rate)) continue;
        const auto prefix = text.substr(0, text.size() - rate.size());
        const auto scale = scale_of(prefix);
        if (!scale || prefix.find_first_of("mgtpI") != std::string_view::npos) continue; // "mB/s"
        return rate == "bit/s" ? Unit{"B/s", *scale / 8} : Unit{rate, *scale};
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

} // namespace assay::extract
