// SPDX-License-Identifier: Apache-2.0

#include "predict/units.hpp"

#include "model/text.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace assay::report {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr std::array sizes{Unit{"", 1},
                           Unit{"B", 1},
                           Unit{"KiB", 1024.0},
                           Unit{"MiB", 1048576.0},
                           Unit{"GiB", 1073741824.0},
                           Unit{"TiB", 1099511627776.0},
                           Unit{"kB", 1e3},
                           Unit{"KB", 1e3},
                           Unit{"MB", 1e6},
                           Unit{"GB", 1e9},
                           Unit{"TB", 1e12}};
constexpr std::array rates{Unit{"B/s", 1},          Unit{"MB/s", 1e6},
                           Unit{"GB/s", 1e9},       Unit{"TB/s", 1e12},
                           Unit{"Mb/s", 1e6 / 8},   Unit{"Gb/s", 1e9 / 8},
                           Unit{"Tb/s", 1e12 / 8},  Unit{"Mbit/s", 1e6 / 8},
                           Unit{"Gbit/s", 1e9 / 8}, Unit{"Tbit/s", 1e12 / 8}};

template <class Units>
std::optional<double> parse(std::string_view text, const Units& units) {
    double number = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
    std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const auto& [name, factor] : units)
        if (unit == name) return number * factor;
    return std::nullopt;
}

} // namespace

Result<double> parse_bytes(std::string_view text) {
    constexpr double most = 1152921504606846976.0; // 1 EiB
    const auto bytes = parse(text, sizes);
    if (!bytes || !(*bytes >= 1) || *bytes > most)
        return fail(fmt::format("\"{}\" is no size of a message; write 8, 64KiB, 100MB, 1GiB",
                                plain(text, 60)));
    return *bytes;
}

Result<double> parse_rate(std::string_view text) {
    const auto rate = parse(text, rates);
    if (!rate || !(*rate > 0))
        return fail(
            fmt::format("\"{}\" is no bandwidth; write 50GB/s or 400Gb/s", plain(text, 60)));
    return *rate;
}

} // namespace assay::report
