// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "model/text.hpp"
#include "record/format.hpp"
#include "render/lines.hpp"
#include "render/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t not_used_shown = 8;

using record::human;
using record::human_bytes;

std::string whole(double number) { return fmt::format("{:.0f}", number); }

std::string with_range(const std::string& value, const std::string& low, const std::string& high) {
    return say<text::predict::with_range>(value, low, high);
}

std::string latency_in_words(const stats::Estimate& latency) {
    if (!std::isfinite(latency.high))
        return latency.value > 0 ? human(latency.value, "s") : say<text::predict::not_seen>();
    if (!(latency.value > 0)) return say<text::predict::up_to>(human(latency.high, "s"));
    return with_range(human(latency.value, "s"), human(latency.low, "s"), human(latency.high, "s"));
}

/// The larger end of a bandwidth is the smaller one of its inverse, which may be 0.
std::string bandwidth_in_words(const stats::Estimate& per_byte) {
    const auto rate = [](double seconds) { return human(1 / seconds, "B/s"); };
    if (!(per_byte.value > 0))
        return std::isfinite(per_byte.high) && per_byte.high > 0
                   ? say<text::predict::from_on>(rate(per_byte.high))
                   : say<text::predict::not_seen>();
    if (!std::isfinite(per_byte.high)) return rate(per_byte.value);
    return with_range(rate(per_byte.value), rate(per_byte.high),
                      per_byte.low > 0 ? rate(per_byte.low) : "∞");
}

void print_times(Lines& page, const PredictedCurve& curve) {
    const auto bound_of = [](const PredictedTime& time) {
        return time.most_bus_rate ? human(*time.most_bus_rate, "B/s") : std::string{};
    };
    constexpr std::size_t columns = 6;
    using Row = std::array<std::string, columns>;
    std::vector<Row> rows{{say<text::predict::size>(), say<text::predict::time>(),
                           say<text::predict::interval>(), say<text::predict::algorithm_rate>(),
                           say<text::predict::bus_rate>(), say<text::predict::bound>()}};
    for (const auto& time : curve.times) {
        const auto& s = time.seconds;
        rows.push_back(
            {human_bytes(time.bytes), human(s.value, "s"),
             std::isfinite(s.low) ? say<text::predict::range>(human(s.low, "s"), human(s.high, "s"))
                                  : "",
             human(time.algorithm_rate, "B/s"), human(time.bus_rate, "B/s"), bound_of(time)});
    }
    Row empty;
    std::array<std::size_t, columns> widths{};
    for (std::size_t i = 0; i < columns; ++i)
        for (std::size_t r = 0; r < rows.size(); ++r) {
            widths[i] = std::max(widths[i], display_width(rows[r][i]));
            if (r > 0) empty[i] += rows[r][i];
        }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line = " ";
        for (std::size_t i = 0; i < columns; ++i)
            if (!empty[i].empty()) line += fmt::format("  {}", fit_right(rows[r][i], widths[i]));
        page.line(r == 0 ? page.paint(Paint::dim, line) : line);
    }
}

std::string where_in_words(FittedLink::Where where) {
    switch (where) {
    case FittedLink::Where::within:
        return say<text::predict::within>();
    case FittedLink::Where::between:
        return say<text::predict::between>();
    case FittedLink::Where::whole:
        break;
    }
    return say<text::predict::whole>();
}

void print_basis(Lines& page, const PredictedCurve& curve) {
    page.line();
    page.paragraph("  ", 4,
                   say<text::words::labelled>(
                       say<text::predict::fitted_on>(),
                       say<text::predict::fitted>(
                           say_count<text::predict::times>(curve.points),
                           say_count<text::predict::runs>(curve.runs),
                           say_count<text::predict::machines>(curve.machines),
                           human_bytes(curve.from), human_bytes(curve.to), join(curve.layouts))));
    if (std::isfinite(curve.spread))
        page.paragraph(
            "  ", 4,
            say<text::words::labelled>(say<text::predict::scatter>(),
                                       say<text::predict::about_fit>(fmt::format(
                                           "±{}", record::human_percent(curve.spread)))));
    for (const auto& segment : curve.segments) {
        const auto algorithm =
            segment.possible.empty()
                ? segment.algorithm
                : say<text::predict::or_>(segment.algorithm, join(segment.possible));
        page.paragraph("  ", 4,
                       say<text::predict::segment>(human_bytes(segment.from),
                                                   human_bytes(segment.to), algorithm));
        for (const auto& link : segment.links) {
            const auto where = where_in_words(link.where);
            page.paragraph("    ", 6,
                           say<text::predict::link>(where, latency_in_words(link.latency),
                                                    bandwidth_in_words(link.seconds_per_byte)));
        }
    }
}

void print_not_used(Lines& page, const Prediction& prediction) {
    if (prediction.not_used.empty()) return;
    page.heading(say<text::predict::not_used>());
    const std::size_t count = prediction.not_used.size();
    for (std::size_t i = 0; i < std::min(count, not_used_shown); ++i) {
        page.paragraph("  ", 2, plain(prediction.not_used[i].reason));
        page.paragraph("", 6, plain(prediction.not_used[i].where), true);
    }
    if (count > not_used_shown)
        page.paragraph("  ", 2, say<text::predict::and_more>(count - not_used_shown));
}

} // namespace

std::string to_terminal(const Prediction& prediction, const TerminalStyle& style) {
    Lines page{style};
    const auto layout =
        say<text::predict::layout>(whole(prediction.nodes), whole(prediction.ranks_per_node));
    page.line(page.paint(Paint::bold, say<text::predict::title>(
                                          to_string(prediction.collective), layout,
                                          whole(prediction.nodes * prediction.ranks_per_node))));
    if (prediction.curves.empty()) {
        page.line();
        page.paragraph("  ", 2,
                       say<text::predict::cannot>(say<text::predict::nothing_measured>(
                           fmt::format("collective.{}", to_string(prediction.collective)))));
    }
    bool bounded = false;
    for (const auto& curve : prediction.curves) {
        page.heading(say<text::predict::of_curve>(curve.machine, curve.library, curve.what));
        if (!curve.reason.empty()) {
            page.paragraph("  ", 2, say<text::predict::cannot>(curve.reason));
            continue;
        }
        print_times(page, curve);
        for (const auto& warning : curve.warnings) page.paragraph("  !", 4, warning);
        print_basis(page, curve);
        bounded = bounded || curve.times.front().most_bus_rate.has_value();
    }
    print_not_used(page, prediction);
    if (!has_prediction(prediction)) return page.take();
    page.line();
    if (bounded)
        page.paragraph("  ", 2,
                       prediction.bandwidth_given ? say<text::predict::bound_given>()
                                                  : say<text::predict::bound_fitted>(),
                       true);
    page.paragraph("  ", 2, say<text::predict::next_run>(), true);
    return page.take();
}

} // namespace assay::report
