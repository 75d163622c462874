// SPDX-License-Identifier: Apache-2.0

#include "procure/catalog_words.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/texts/catalog.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::report {
namespace {

/// The unit of figures whose path begins and ends so.
struct PathUnit {
    std::string_view begins;
    std::string_view ends;
    std::string_view unit;
};
constexpr std::array units{
    PathUnit{"peaks.", ".int8", "OP/s"},
    PathUnit{"peaks.", "", "FLOP/s"},
    PathUnit{"rates.", "", "1/clock"},
    PathUnit{"memory.clock", "", "Hz"},
    PathUnit{"clock.", "", "Hz"},
    PathUnit{"", "bytes", "B"},
    PathUnit{"", "bandwidth", "B/s"},
    PathUnit{"memory.transfer_rate", "", "T/s"},
    PathUnit{"power", "", "W"},
    PathUnit{"", "_gib", "GiB"},
    PathUnit{"", "_gb", "GB"},
    PathUnit{"", "_gbps", "Gb/s"},
    PathUnit{"memory.bus_bits", "", "bit"},
};
} // namespace

std::string_view unit_of_figure(std::string_view path) {
    const auto found = std::ranges::find_if(units, [&](const PathUnit& one) {
        return path.starts_with(one.begins) && path.ends_with(one.ends);
    });
    return found == units.end() ? std::string_view{} : found->unit;
}

std::string name_of_figure(std::string_view path) {
    const auto key = [](std::string text) {
        std::ranges::replace(text, '.', '_');
        return text;
    };
    if (const auto whole = find_text("figure", key(std::string{path}))) return std::string{*whole};
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return plain(path);
    const auto part = find_text("figure", key(std::string{path.substr(0, dot)}));
    if (!part) return plain(path);
    return fmt::format("{} {}", *part, plain(path.substr(dot + 1)));
}

std::string figure_in_words(std::string_view path, const json::Value& value) {
    if (value.is_string()) return plain(value.get<std::string>());
    if (value.is_boolean())
        return value.get<bool>() ? say<text::catalog::yes>() : say<text::catalog::no>();
    if (!value.is_number()) return "";
    const double number = value.get<double>();
    const auto unit = unit_of_figure(path);
    if (unit.empty()) return fmt::format("{:g}", number);
    if (unit == "GiB" || unit == "GB" || unit == "Gb/s" || unit == "1/clock" || unit == "bit")
        return fmt::format("{:.6g} {}", number, unit);
    return record::human(number, unit);
}

} // namespace assay::report
