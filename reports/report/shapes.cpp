// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"
#include "language/texts/finding.hpp"
#include "record/format.hpp"
#include "report/curves.hpp"
#include "report/text.hpp"
#include "report/words.hpp"
#include "stats/shape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::report {
namespace {

bool sends_messages(const Sweep& chart) {
    return chart.x_title == "bytes" && chart.unit == "B/s" && chart.higher_is_better &&
           is_about_links(chart.benchmark);
}

std::vector<stats::RatePoint> points_of(const Curve& curve) {
    std::vector<stats::RatePoint> points;
    for (const auto& point : curve.points)
        points.push_back({.size = point.x,
                          .rate = point.y,
                          .low = point.low.value_or(0),
                          .high = point.high.value_or(0)});
    return points;
}

} // namespace

std::vector<Finding> find_shapes(const std::vector<Sweep>& charts) {
    std::vector<Finding> found;
    for (const auto& chart : charts) {
        if (!sends_messages(chart)) continue;
        for (const auto& curve : chart.curves) {
            const auto points = points_of(curve);
            const auto name = join({chart.benchmark, curve.label});
            if (const auto fall = stats::find_fall(points))
                found.push_back(
                    {Severity::caution,
                     say<text::finding::rate_falls>(name, record::human_bytes(fall->size),
                                                    record::human(fall->rate, chart.unit),
                                                    record::human(fall->best_rate, chart.unit),
                                                    record::human_bytes(fall->best_size)),
                     say<text::finding::rate_falls_action>()});
            if (const auto step = stats::find_time_step(points))
                found.push_back(
                    {Severity::note,
                     say<text::finding::time_steps>(name, fmt::format("{:.2g}", step->ratio),
                                                    record::human_bytes(step->before),
                                                    record::human_bytes(step->after)),
                     say<text::finding::time_steps_action>()});
        }
    }
    return found;
}

} // namespace assay::report
