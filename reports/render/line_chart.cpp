// SPDX-License-Identifier: Apache-2.0

#include "render/line_chart.hpp"

#include "language/language.hpp"
#include "model/text.hpp"
#include "record/format.hpp"
#include "render/charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t colours = 6;  // classes c0..c5 of the style sheet
constexpr double plot_height = 260; // pixels
constexpr double top = 14;
constexpr double axis_height = 34;
constexpr double decade = 10; // what spans more is drawn on a logarithmic axis

/// One axis: values to 0..1.
class Axis {
public:
    /// `from_zero`: a linear axis begins at zero, because lengths are compared.
    Axis(const std::vector<double>& values, bool from_zero) {
        const auto [least, most] = std::ranges::minmax(values);
        logarithmic_ = least > 0 && most > least * decade;
        low_ = logarithmic_ || !from_zero ? least : 0;
        high_ = most > low_ ? most : low_ + 1;
        if (from_zero) { // a little air around the curve
            if (logarithmic_) low_ /= 1.25;
            high_ *= logarithmic_ ? 1.25 : 1.05;
        }
    }
    bool logarithmic() const { return logarithmic_; }
    double share(double value) const {
        const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                          : (value - low_) / (high_ - low_);
        return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
    }

    /// Powers of `base` (with 2 and 5 between them in one or two decades), or round numbers.
    std::vector<double> ticks(double base, std::size_t most) const {
        return logarithmic_ ? powers(base, most) : rounds(most);
    }

private:
    std::vector<double> powers(double base, std::size_t most) const {
        const double octaves = std::log(high_ / low_) / std::log(base);
        const double step =
            std::pow(base, std::max(1.0, std::ceil(octaves / static_cast<double>(most))));
        std::vector<double> ticks;
        for (double tick = std::pow(base, std::ceil(std::log(low_) / std::log(base)));
             tick <= high_ * (1 + 1e-9) && ticks.size() <= most; tick *= step)
            for (const double part : {1.0, 2.0, 5.0})
                if ((part == 1 || (octaves < 3 && base == 10)) && tick * part <= high_)
                    ticks.push_back(tick * part);
        return ticks;
    }
    std::vector<double> rounds(std::size_t most) const {
        const double rough = (high_ - low_) / static_cast<double>(most);
        const double power = std::pow(10.0, std::floor(std::log10(rough)));
        const double digit = rough / power;
        const double step = (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
        std::vector<double> ticks;
        for (double tick = std::ceil(low_ / step) * step; tick <= high_ && ticks.size() <= most + 1;
             tick += step)
            ticks.push_back(tick);
        return ticks;
    }

    double low_ = 0;
    double high_ = 1;
    bool logarithmic_ = false;
};

std::string tooltip(const Point& point, const std::string& label) {
    std::string text = say<text::chart::point>(label, point.y_text, point.x_text);
    return point.unstable ? join({text, say<text::status::unstable>()}) : text;
}

class Drawing {
public:
    explicit Drawing(const CurveChart& chart)
        : chart_{chart}, x_{values(&Point::x), false}, y_{values(&Point::y), true} {}

    std::string svg(const std::string& id, std::string_view description) {
        out_ = fmt::format("<svg class=\"bars lines\" width=\"100%\" height=\"{0}\" role=\"img\" "
                           "aria-labelledby=\"{1}-t {1}-d\"><title id=\"{1}-t\">{2}</title>"
                           "<desc id=\"{1}-d\">{3}</desc>\n",
                           top + plot_height + axis_height, id,
                           escape_html(say<text::words::labelled>(chart_.benchmark, chart_.title)),
                           description);
        axes();
        marks();
        for (std::size_t i = 0; i < chart_.curves.size(); ++i) curve(i);
        return out_ + "</svg>\n";
    }
    bool logarithmic() const { return x_.logarithmic() || y_.logarithmic(); }

private:
    std::vector<double> values(double Point::* member) const {
        std::vector<double> all;
        for (const auto& curve : chart_.curves)
            for (const auto& point : curve.points) all.push_back(point.*member);
        return all;
    }
    /// Percent of the width: labels of y stand left of it, inside the drawing.
    double across(double x) const { return 9 + 89 * x_.share(x); }
    double down(double y) const { return top + plot_height * (1 - y_.share(y)); }

    void axes() {
        for (const double tick : y_.ticks(10, 6))
            out_ += fmt::format(
                R"(<line class="grid" x1="9%" x2="98%" y1="{0:.1f}" y2="{0:.1f}"/><text class="tick" x="0" y="{1:.1f}">{2}</text>)",
                down(tick), down(tick) + 4, escape_html(record::human(tick, chart_.unit)));
        const bool bytes = chart_.x_unit == "B";
        const double base = bytes ? 2 : 10;
        for (const double tick : x_.ticks(base, 8))
            out_ += fmt::format(
                R"(<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/><text class="tick" x="{0:.2f}%" y="{3}" text-anchor="middle">{4}</text>)",
                across(tick), top, top + plot_height, top + plot_height + 15,
                bytes ? record::human_bytes(tick) : fmt::format("{:.6g}", tick));
        out_ += fmt::format(R"(<text class="tick" x="53%" y="{}" text-anchor="middle">{}</text>)",
                            top + plot_height + 31, escape_html(chart_.x_title));
    }

    void marks() {
        double line = 0; // neighbours' texts stand at different heights
        for (const auto& mark : chart_.marks) {
            if (x_.share(mark.x) <= 0 || x_.share(mark.x) >= 1) continue;
            out_ += fmt::format(
                R"(<line class="mark" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/><text class="tick" x="{0:.2f}%" y="{3}" dx="4">{4}</text>)",
                across(mark.x), top - 8, top + plot_height, top + 2 + 12 * line,
                escape_html(mark.text));
            line = line > 0 ? 0 : 1;
        }
    }

    void curve(std::size_t number) {
        const auto& points = chart_.curves[number].points;
        out_ += fmt::format("<g class=\"c{}\">", number % colours);
        for (std::size_t i = 1; i < points.size(); ++i)
            out_ += fmt::format(
                R"(<line class="curve{4}" x1="{0:.2f}%" y1="{1:.1f}" x2="{2:.2f}%" y2="{3:.1f}"/>)",
                across(points[i - 1].x), down(points[i - 1].y), across(points[i].x),
                down(points[i].y), number >= colours ? " dashed" : "");
        for (const auto& point : points) {
            if (point.low && point.high && *point.low > 0)
                out_ += fmt::format(
                    R"(<line class="whisker" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1:.1f}" y2="{2:.1f}"/>)",
                    across(point.x), down(*point.low), down(*point.high));
            out_ +=
                fmt::format(R"(<circle cx="{:.2f}%" cy="{:.1f}" r="3"><title>{}</title></circle>)",
                            across(point.x), down(point.y),
                            escape_html(tooltip(point, chart_.curves[number].label)));
        }
        out_ += "</g>\n";
    }

    const CurveChart& chart_;
    Axis x_;
    Axis y_;
    std::string out_;
};

std::string caption(const CurveChart& chart, bool logarithmic) {
    const std::string title = say<text::words::labelled>(
        chart.benchmark, say<text::chart::by>(chart.title, chart.x_title));
    std::vector<std::string> said{chart.higher_is_better ? say<text::chart::more_is_better>(title)
                                                         : say<text::chart::less_is_better>(title)};
    if (logarithmic) said.push_back(say<text::chart::logarithmic>());
    if (!chart.marks.empty()) said.push_back(say<text::chart::cache_marks>());
    if (!chart.common.empty()) said.push_back(say<text::chart::all_share>(chart.common));
    return escape_html(sentences(said));
}

void legend(std::string& out, const CurveChart& chart) {
    out += "<ul class=\"legend\">\n";
    for (std::size_t i = 0; i < chart.curves.size(); ++i) {
        const auto& curve = chart.curves[i];
        out += fmt::format("<li><span class=\"dot c{}\"></span>{}", i % colours,
                           escape_html(curve.label));
        if (!curve.levels.empty())
            out += fmt::format("<small>{}</small>",
                               escape_html(fmt::format(
                                   "{}", fmt::join(curve.levels, say<text::list::semicolon>()))));
        out += "</li>\n";
    }
    out += "</ul>\n";
}

} // namespace

std::string line_chart(const CurveChart& chart, const std::string& id) {
    Drawing drawing{chart};
    const std::string text = caption(chart, drawing.logarithmic());
    std::string out = "<figure>\n" + drawing.svg(id, text);
    legend(out, chart);
    return out + "<figcaption>" + text + "</figcaption>\n</figure>\n";
}

std::string sparkline(const Curve& curve) {
    static constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█"};
    std::vector<double> values;
    for (const auto& point : curve.points) values.push_back(point.y);
    const Axis axis{values, false};
    std::string out;
    for (const double value : values)
        out += heights.at(static_cast<std::size_t>(
            std::lround(axis.share(value) * static_cast<double>(heights.size() - 1))));
    return out;
}

} // namespace assay::report
