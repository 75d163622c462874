// SPDX-License-Identifier: Apache-2.0

#include "render/heat_map.hpp"

#include "base/terminal.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "record/format.hpp"
#include "render/charts.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::report {
namespace {

constexpr double steps = 9;             // classes h0..h8 of the style sheet
constexpr std::size_t with_figures = 8; // columns in which a figure is still readable

std::vector<double> known_values(const HeatMap& map) {
    std::vector<double> values;
    for (const auto& value : map.values)
        if (value && std::isfinite(*value)) values.push_back(*value);
    return values;
}

/// 0 is the best value of the map, 8 the worst. Values that differ by less than a tenth look alike,
/// so that plain noise makes no pattern.
class Shades {
public:
    Shades(const HeatMap& map, const std::vector<double>& values) : better_{map.higher_is_better} {
        const auto [least, most] = std::ranges::minmax(values);
        constexpr double alike = 0.1;
        span_ = std::max(most - least, alike * std::fabs(most));
        best_ = better_ ? most : least;
    }
    int of(double value) const {
        const double share = span_ > 0 ? std::fabs(value - best_) / span_ : 0;
        return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (steps - 1)));
    }

private:
    bool better_;
    double span_ = 0;
    double best_ = 0;
};

} // namespace

std::string heat_map(const HeatMap& map, const std::string& id) {
    const auto values = known_values(map);
    if (values.empty() || map.columns.empty()) return "";
    const Shades shades{map, values};
    const bool figures = map.columns.size() <= with_figures;
    const double cell = figures ? 64 : map.columns.size() <= 32 ? 22 : 11; // pixels
    const double height = figures ? 34 : cell;
    constexpr double left = 70;
    constexpr double head = 34;
    // Labels of every n-th line, so that they do not run into each other.
    const std::size_t every = cell < 20 ? 4 : 1;
    const double width = left + cell * static_cast<double>(map.columns.size());
    const double total = head + height * static_cast<double>(map.rows.size()) + 4;
    std::string out = fmt::format(
        "<figure>\n<div class=\"wide\"><svg class=\"bars heat\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\" "
        "aria-labelledby=\"{2}-t {2}-d\"><title id=\"{2}-t\">{3}</title><desc "
        "id=\"{2}-d\">{4}</desc>"
        "<text class=\"tick\" x=\"{5}\" y=\"11\">{6}</text><text class=\"tick\" x=\"0\" "
        "y=\"27\">{7}</text>\n",
        width, total, id, escape_html(map.benchmark), escape_html(extremes(map)), left,
        escape_html(map.column_title), escape_html(map.row_title));
    for (std::size_t j = 0; j < map.columns.size(); j += every)
        out += fmt::format(
            R"(<text class="tick" x="{}" y="27" text-anchor="middle">{}</text>)",
            left + cell * (static_cast<double>(j) + 0.5),
            escape_html(fit(map.columns[j], std::min<std::size_t>(8, map.columns[j].size()))));
    for (std::size_t i = 0; i < map.rows.size(); ++i) {
        const double y = head + height * static_cast<double>(i);
        if (i % every == 0)
            out += fmt::format(
                R"(<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>)", left - 8,
                y + height / 2 + 4,
                escape_html(fit(map.rows[i], std::min<std::size_t>(9, map.rows[i].size()))));
        for (std::size_t j = 0; j < map.columns.size(); ++j) {
            const auto& value = map.values[i * map.columns.size() + j];
            if (!value || !std::isfinite(*value)) continue;
            const double x = left + cell * static_cast<double>(j);
            const int shade = shades.of(*value);
            const std::string text = record::human(*value, map.unit);
            out += fmt::format(
                R"(<g class="h{}"><rect x="{}" y="{}" width="{}" height="{}"><title>{} → {}: {}</title></rect>)",
                shade, x, y, cell - 1, height - 1, escape_html(map.rows[i]),
                escape_html(map.columns[j]), escape_html(text));
            if (figures)
                out += fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
                                   x + cell / 2, y + height / 2 + 4, escape_html(text));
            out += "</g>";
        }
        out += '\n';
    }
    std::vector<std::string> caption{
        say<text::chart::map_caption>(map.benchmark, map.what, map.title), extremes(map)};
    caption.insert(caption.end(), map.slow.begin(), map.slow.end());
    if (map.merged > 1) caption.push_back(say<text::chart::merged>(map.merged));
    return out + fmt::format("</svg></div>\n<figcaption>{}</figcaption>\n</figure>\n",
                             escape_html(sentences(caption)));
}

std::string extremes(const HeatMap& map) {
    auto values = known_values(map);
    if (values.empty()) return say<text::chart::nothing_measured>();
    const auto pair_with = [&](double wanted) {
        const auto at = static_cast<std::size_t>(
            std::ranges::find(map.values, std::optional{wanted}) - map.values.begin());
        return say<text::chart::pair>(map.rows[at / map.columns.size()],
                                      map.columns[at % map.columns.size()],
                                      record::human(wanted, map.unit));
    };
    const auto [least, most] = std::ranges::minmax(values);
    const double median = stats::median(values);
    return say_count<text::chart::extremes>(
        values.size(), pair_with(map.higher_is_better ? most : least),
        pair_with(map.higher_is_better ? least : most), record::human(median, map.unit));
}

} // namespace assay::report
