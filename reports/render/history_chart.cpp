// SPDX-License-Identifier: Apache-2.0

#include "render/history_chart.hpp"

#include "history/dates.hpp"
#include "language/language.hpp"
#include "record/format.hpp"
#include "render/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t colours = 6;  // classes c0..c5 of the style sheet
constexpr double plot_height = 200; // pixels
constexpr double top = 14;
constexpr double axis_height = 24;
constexpr double flattest = 0.05; // noise of less than this share of the value looks flat

class Drawing {
public:
    explicit Drawing(const HistorySeries& series) : series_{series} {
        const auto& points = series.points;
        from_ = points.front().seconds;
        span_ = std::max(points.back().seconds - from_, 1.0);
        const auto [least, most] = std::ranges::minmax(points, {}, &HistoryPoint::value);
        const double air = std::max(0.08 * (most.value - least.value), flattest / 2 * most.value);
        low_ = std::max(0.0, least.value - air);
        high_ = most.value + air;
    }

    std::string svg(const std::string& id, const std::string& title, const std::string& text) {
        out_ =
            fmt::format("<svg class=\"bars lines\" width=\"100%\" height=\"{0}\" role=\"img\" "
                        "aria-labelledby=\"{1}-t {1}-d\"><title id=\"{1}-t\">{2}</title>"
                        "<desc id=\"{1}-d\">{3}</desc>\n",
                        top + plot_height + axis_height, id, escape_html(title), escape_html(text));
        value_axis();
        time_axis();
        for (const auto& step : series_.steps)
            out_ += fmt::format("<g><title>{3}</title><line class=\"mark\" x1=\"{0:.2f}%\" "
                                "x2=\"{0:.2f}%\" y1=\"{1}\" y2=\"{2}\"/></g>\n",
                                across(step.seconds), top - 8, top + plot_height,
                                escape_html(step.text));
        points();
        return out_ + "</svg>\n";
    }

private:
    /// Percent of the width: labels of values stand left of it, inside the drawing.
    double across(double seconds) const { return 11 + 87 * (seconds - from_) / span_; }
    double down(double value) const {
        return top + plot_height * (1 - std::clamp((value - low_) / (high_ - low_), 0.0, 1.0));
    }

    void value_axis() {
        const double rough = (high_ - low_) / 4; // about so many lines
        const double power = std::pow(10.0, std::floor(std::log10(rough)));
        const double digit = rough / power;
        const double step = (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
        for (double tick = std::ceil(low_ / step) * step; tick <= high_; tick += step)
            out_ += fmt::format("<line class=\"grid\" x1=\"11%\" x2=\"98%\" y1=\"{0:.1f}\" "
                                "y2=\"{0:.1f}\"/><text class=\"tick\" x=\"0\" y=\"{1:.1f}\">{2}"
                                "</text>\n",
                                down(tick), down(tick) + 4,
                                escape_html(record::human(tick, series_.unit)));
    }

    void time_axis() {
        constexpr std::size_t most = 8; // labels that fit side by side on a telephone
        const auto first = quarter_of(from_);
        const auto last = quarter_of(from_ + span_);
        std::vector<std::pair<double, std::string>> ticks;
        for (auto quarter = first; quarter <= last && quarter - first < 400; ++quarter) {
            const auto date = fmt::format("{:04}-{:02}-01", quarter / 4, 3 * (quarter % 4) + 1);
            if (const auto seconds = seconds_of_date(date); seconds && *seconds >= from_)
                ticks.emplace_back(*seconds, quarter_name(quarter));
        }
        if (ticks.empty()) ticks.emplace_back(from_, date_of(from_));
        const std::size_t every = (ticks.size() + most - 1) / most;
        for (std::size_t i = 0; i < ticks.size(); i += every)
            out_ += fmt::format("<line class=\"grid\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"{1}\" "
                                "y2=\"{2}\"/><text class=\"tick\" x=\"{0:.2f}%\" y=\"{3}\">{4}"
                                "</text>\n",
                                across(ticks[i].first), top, top + plot_height,
                                top + plot_height + 16, ticks[i].second);
    }

    void points() {
        std::map<std::string_view, std::size_t> colour;
        for (const auto& point : series_.points)
            colour.try_emplace(point.machine, colour.size() % colours);
        for (const auto& point : series_.points) {
            out_ += fmt::format("<g class=\"c{}\">", colour[point.machine]);
            if (point.low && point.high)
                out_ += fmt::format("<line class=\"whisker\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" "
                                    "y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>",
                                    across(point.seconds), down(*point.low), down(*point.high));
            const auto machine =
                point.machine.empty() ? say<text::history::several_machines>() : point.machine;
            out_ += fmt::format("<circle cx=\"{:.2f}%\" cy=\"{:.1f}\" r=\"3\"><title>{}, {}: {}"
                                "</title></circle></g>\n",
                                across(point.seconds), down(point.value), date_of(point.seconds),
                                escape_html(machine),
                                escape_html(record::human(point.value, series_.unit)));
        }
    }

    const HistorySeries& series_;
    double from_ = 0;
    double span_ = 1;
    double low_ = 0;
    double high_ = 1;
    std::string out_;
};

} // namespace

std::string history_chart(const HistorySeries& series, const std::string& id) {
    if (series.points.size() < 2) return "";
    auto text =
        say<text::history::chart>(series.identity, series.metric,
                                  series.higher_is_better ? say<text::history::more_is_better>()
                                                          : say<text::history::less_is_better>());
    if (!series.steps.empty()) text += fmt::format(" {}", say<text::history::chart_steps>());
    return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                       Drawing{series}.svg(id, series.identity, text), escape_html(text));
}

} // namespace assay::report
