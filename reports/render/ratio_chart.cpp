// SPDX-License-Identifier: Apache-2.0

#include "render/ratio_chart.hpp"

#include "base/terminal.hpp"
#include "compare/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "render/charts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t rows_shown = 60; // taller charts are not read
constexpr double label_height = 17;    // pixels
constexpr double dot_height = 13;      // of one side
constexpr double gap = 6;
constexpr double axis_height = 26;
constexpr std::size_t label_columns = 90;
constexpr std::size_t colours = 6; // classes c0..c5 of the style sheet

/// A logarithmic axis about 1, in percent of the width.
class Axis {
public:
    explicit Axis(const std::vector<const ComparedRow*>& rows) {
        double reach = std::log(1.05); // never so narrow that noise looks wild
        for (const auto* row : rows)
            for (const auto& cell : row->cells) {
                if (!cell.contrast || !cell.contrast->ratio) continue;
                reach = std::max(reach, std::abs(std::log(*cell.contrast->ratio)) * 1.1);
                // A wide interval is cut: it must not flatten all others.
                for (const auto& end : {cell.contrast->low, cell.contrast->high})
                    if (end && *end > 0)
                        reach = std::max(reach, std::min(std::abs(std::log(*end)), 2 * reach));
            }
        reach_ = reach;
    }
    double percent(double ratio) const {
        return std::clamp(50 + 50 * std::log(ratio) / reach_, 0.0, 100.0);
    }
    std::vector<double> ticks() const {
        static constexpr std::array steps{1.01, 1.02, 1.05, 1.1,  1.2,   1.5,
                                          2.0,  5.0,  10.0, 20.0, 100.0, 1000.0};
        std::vector<double> ticks{1};
        for (const double step : steps)
            if (std::log(step) < reach_ * 0.97 && std::log(step) > reach_ * 0.3 && ticks.size() < 5)
                ticks.insert(ticks.end(), {step, 1 / step});
        return ticks;
    }

private:
    double reach_ = 1;
};

void draw_axis(std::string& out, const Axis& axis, double height) {
    for (const double tick : axis.ticks()) {
        const double at = axis.percent(tick);
        out += fmt::format(
            R"(<line class="{0}" x1="{1:.2f}%" x2="{1:.2f}%" y1="4" y2="{2}"/>)"
            R"(<text class="tick" x="{1:.2f}%" y="{3}" text-anchor="middle">{4:.3g}</text>)",
            tick == 1 ? "ceiling" : "grid", at, height - axis_height, height - 8, tick);
    }
}

void draw_dot(std::string& out, const Contrast& contrast, const Axis& axis, double middle,
              std::size_t colour, const std::string& tooltip) {
    const bool called = contrast.outcome == Outcome::better || contrast.outcome == Outcome::worse;
    out += fmt::format(R"(<g class="c{}{}"><title>{}</title>)", colour, called ? "" : " unsure",
                       escape_html(tooltip));
    if (contrast.low && contrast.high && *contrast.low > 0)
        out +=
            fmt::format(R"(<line class="whisker" x1="{0:.2f}%" x2="{1:.2f}%" y1="{2}" y2="{2}"/>)",
                        axis.percent(*contrast.low), axis.percent(*contrast.high), middle);
    out += fmt::format(R"(<circle cx="{:.2f}%" cy="{}" r="4"/></g>)", axis.percent(*contrast.ratio),
                       middle);
}

bool has_ratio(const ComparedRow& row) {
    return std::ranges::any_of(row.cells, [](const Cell& cell) {
        return cell.contrast && cell.contrast->ratio && *cell.contrast->ratio > 0;
    });
}

} // namespace

std::string ratio_chart(const Comparison& comparison, const ComparedTable& table,
                        const std::string& id) {
    std::vector<const ComparedRow*> rows;
    for (const auto& row : table.rows)
        if (has_ratio(row)) rows.push_back(&row);
    if (rows.empty()) return "";
    const std::size_t total = rows.size();
    rows.resize(std::min(total, rows_shown));
    const Axis axis{rows};
    const auto sides = comparison.sides.size() - 1;
    const double row_height = label_height + dot_height * static_cast<double>(sides) + gap;
    const double height = row_height * static_cast<double>(rows.size()) + axis_height + 6;
    std::string text = say<text::compare::chart>(comparison.sides.front().label);
    if (total > rows.size())
        text = sentences({text, say<text::compare::chart_shown>(rows.size(), total)});
    std::string out = fmt::format(
        "<figure>\n<svg class=\"bars ratios\" width=\"100%\" height=\"{0}\" role=\"img\" "
        "aria-labelledby=\"{1}-t {1}-d\"><title id=\"{1}-t\">{2}</title><desc id=\"{1}-d\">{3}"
        "</desc>\n",
        height, id, escape_html(table.title), escape_html(text));
    draw_axis(out, axis, height);
    double top = 2;
    for (const auto* row : rows) {
        std::string label = fmt::format("{} · {}", row->benchmark, row->what);
        if (!row->library.empty()) label += fmt::format(" · {}", row->library);
        out += fmt::format(
            R"(<text class="name" x="0" y="{}">{}</text>)", top + 12,
            escape_html(display_width(label) > label_columns ? fit(label, label_columns) : label));
        for (std::size_t side = 1; side <= sides; ++side) {
            const auto& contrast = row->cells[side].contrast;
            if (!contrast || !contrast->ratio || !(*contrast->ratio > 0)) continue;
            draw_dot(out, *contrast, axis,
                     top + label_height + dot_height * (static_cast<double>(side) - 0.5),
                     (side - 1) % colours,
                     say<text::compare::of_side>(comparison.sides[side].label,
                                                 contrast_in_words(*contrast)));
        }
        out += '\n';
        top += row_height;
    }
    out += fmt::format("</svg>\n<figcaption>{}</figcaption>\n", escape_html(text));
    if (sides > 1) {
        out += "<ul class=\"legend\">";
        for (std::size_t side = 1; side <= sides; ++side)
            out += fmt::format("<li><span class=\"dot c{}\"></span>{}</li>", (side - 1) % colours,
                               escape_html(comparison.sides[side].label));
        out += "</ul>\n";
    }
    out += "</figure>\n";
    return out;
}

} // namespace assay::report
