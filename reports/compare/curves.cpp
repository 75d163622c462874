// SPDX-License-Identifier: Apache-2.0

#include "compare/curves.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/chart.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace assay::report {
namespace {

using namespace document;

constexpr std::size_t fewest_points = 4; // fewer are easier to read in the table
constexpr std::size_t most_curves = 12;  // of a chart

using Rows = std::vector<const ComparedRow*>;
using Groups = std::map<std::string, Rows>; // by what their rows share

std::optional<double> number_of(const ComparedRow& row, const std::string& parameter) {
    const auto* held = record::find(row.parameters, parameter);
    if (held == nullptr) return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(held))
        return *whole > 0 ? std::optional{static_cast<double>(*whole)} : std::nullopt;
    const auto* real = std::get_if<double>(held);
    return real != nullptr && *real > 0 ? std::optional{*real} : std::nullopt;
}

/// "fp64, all threads": the parameters but one, and the library.
std::string rest_of(const ComparedRow& row, const std::string& without) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : row.parameters)
        if (name != without)
            parts.push_back(fmt::format("{} {}", with_blanks(name), record::to_string(value)));
    if (!row.library.empty()) parts.push_back(row.library);
    return join(parts);
}

Groups groups_by(const Rows& rows, const std::string& parameter) {
    Groups groups;
    for (const auto* row : rows)
        if (number_of(*row, parameter)) groups[rest_of(*row, parameter)].push_back(row);
    std::erase_if(groups, [](const auto& group) { return group.second.size() < fewest_points; });
    return groups;
}

std::size_t points_of(const Groups& groups) {
    std::size_t points = 0;
    for (const auto& [rest, rows] : groups) points += rows.size();
    return points;
}

/// Of a group, for one side: by the swept number.
Curve curve_of(const Comparison& comparison, const Rows& rows, const std::string& parameter,
               std::size_t side, const std::string& rest) {
    Curve curve{.label = rest.empty() ? comparison.sides[side].label
                                      : join({comparison.sides[side].label, rest}),
                .side = side + 1};
    for (const auto* row : rows) {
        const auto& cell = row->cells[side];
        if (cell.value)
            curve.points.push_back({.x = *number_of(*row, parameter),
                                    .y = *cell.value,
                                    .low = cell.low,
                                    .high = cell.high});
    }
    std::ranges::sort(curve.points, {}, &Point::x);
    return curve;
}

void add_charts(std::vector<Chart>& charts, const Comparison& comparison, const Groups& groups,
                const std::string& parameter) {
    const ComparedRow& first = *groups.begin()->second.front();
    const bool together = groups.size() * comparison.sides.size() <= most_curves;
    const auto add = [&](const std::string& common, std::vector<Curve> curves) {
        std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
        if (curves.empty()) return;
        charts.push_back(
            {.title = say<text::words::labelled>(
                 first.benchmark, say<text::chart::by>(first.metric, with_blanks(parameter))),
             .caption = common,
             .data = CurveChart{.unit = first.unit,
                                .y_title = first.metric,
                                .x_title = with_blanks(parameter),
                                .x_unit = is_bytes(parameter) ? "B" : "",
                                .higher_is_better = first.higher_is_better,
                                .curves = std::move(curves)}});
    };
    std::vector<Curve> all;
    for (const auto& [rest, rows] : groups) {
        std::vector<Curve> curves;
        for (std::size_t side = 0; side < comparison.sides.size(); ++side)
            curves.push_back(
                curve_of(comparison, rows, parameter, side, together ? rest : std::string{}));
        if (together)
            std::ranges::move(curves, std::back_inserter(all));
        else
            add(rest, std::move(curves));
    }
    if (together) add("", std::move(all));
}

} // namespace

std::vector<Chart> curves_of(const Comparison& comparison, const ComparedTable& table) {
    std::map<std::string, Rows> benchmarks;
    for (const auto& row : table.rows) benchmarks[row.benchmark + row.metric].push_back(&row);
    std::vector<Chart> charts;
    for (const auto& [benchmark, rows] : benchmarks) {
        std::string axis; // the parameter with the most points
        Groups best;
        for (const auto& named : rows.front()->parameters)
            if (auto groups = groups_by(rows, named.name); points_of(groups) > points_of(best)) {
                axis = named.name;
                best = std::move(groups);
            }
        if (!best.empty()) add_charts(charts, comparison, best, axis);
    }
    return charts;
}

} // namespace assay::report
