// SPDX-License-Identifier: Apache-2.0

#include "recording.hpp"

#include "base/file.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace assay::truth {
namespace {

constexpr std::string_view header = "series,a,b";

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return std::isfinite(value) && value > 0 ? std::optional{value} : std::nullopt;
}

} // namespace

double Recorded::paired_deviation() const {
    std::vector<double> ratios;
    for (const auto& [a, b] : pairs) ratios.push_back(std::log(b / a));
    return std::sqrt(stats::variance(ratios));
}

std::vector<Recorded> read_recording(const std::filesystem::path& file) {
    const auto text = read_whole(file, std::size_t{16} << 20U);
    if (!text) throw std::runtime_error{text.error().message};
    std::istringstream in{*text};
    std::vector<Recorded> recorded;
    std::size_t number_of_line = 0;
    for (std::string line; std::getline(in, line);) {
        if (++number_of_line == 1 && line == header) continue;
        const auto second = line.rfind(',');
        const auto first =
            second == std::string::npos || second == 0 ? second : line.rfind(',', second - 1);
        const auto a = first == std::string::npos
                           ? std::nullopt
                           : number(std::string_view{line}.substr(first + 1, second - first - 1));
        const auto b = a ? number(std::string_view{line}.substr(second + 1)) : std::nullopt;
        if (number_of_line == 1 || !b)
            throw std::runtime_error{fmt::format("{}:{}: should be `{}`, values above 0",
                                                 file.string(), number_of_line, header)};
        const std::string name = line.substr(0, first);
        auto place = std::ranges::find(recorded, name, &Recorded::series);
        if (place == recorded.end()) {
            recorded.push_back({.series = name, .pairs = {}});
            place = recorded.end() - 1;
        }
        place->pairs.emplace_back(*a, *b);
    }
    return recorded;
}

void write_recording(const std::filesystem::path& file, const std::vector<Recorded>& recorded) {
    std::string text{header};
    text += '\n';
    for (const auto& [series, pairs] : recorded)
        for (const auto& [a, b] : pairs) text += fmt::format("{},{:.7g},{:.7g}\n", series, a, b);
    if (auto done = write_atomically(file, text); !done)
        throw std::runtime_error{done.error().message};
}

} // namespace assay::truth
