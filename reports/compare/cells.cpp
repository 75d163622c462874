// SPDX-License-Identifier: Apache-2.0
#include "compare/cells.hpp"

#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/chart.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

namespace assay::compare {

using document::Table;
using document::unit_count;
using document::unit_p;
using document::unit_ratio;
using document::unit_share;
using Shown = document::Cell;

Shown number(const std::optional<double>& value, const char* unit, std::string text) {
    if (!value) return {};
    if (text.empty())
        text = unit == std::string_view{unit_count} ? fmt::format("{:g}", *value)
                                                    : record::human(*value, unit);
    return {.text = std::move(text), .number = value, .unit = unit};
}

/// A ratio with its interval: as text in full or in short, and as numbers.
Shown ratio_cell(const Contrast& contrast, std::string text) {
    return {.text = std::move(text),
            .tone = tone_of(contrast),
            .number = contrast.ratio,
            .low = contrast.low,
            .high = contrast.high,
            .unit = unit_ratio};
}

std::uint8_t side_number(std::size_t side) { return static_cast<std::uint8_t>(side + 1); }

namespace {

std::vector<std::string> in_one_line(const std::vector<std::string>& notes) {
    if (notes.empty()) return {};
    return {fmt::format("{}", fmt::join(notes, "; "))};
}

void add_contrast(document::Row& row, const Contrast& contrast, Shown value) {
    auto cell = ratio_cell(contrast, contrast_in_short(contrast));
    cell.detail = value.text;
    cell.notes = std::exchange(value.notes, {});
    // Cases without any verdict are counted at the end, by its cause.
    const bool one_sided =
        contrast.kind == RatioKind::at_least || contrast.kind == RatioKind::at_most;
    if (auto& notes = row.cells.front().notes;
        one_sided && std::ranges::find(notes, contrast.about) == notes.end())
        notes.push_back(contrast.about);
    row.cells.push_back(std::move(cell));
    row.cells.push_back({.text = outcome_in_words(contrast.outcome), .tone = tone_of(contrast)});
    row.cells.push_back(number(contrast.p, unit_p));
    row.cells.push_back(number(contrast.detectable, unit_share));
    value.detail.clear();
    row.cells.push_back(std::move(value));
    row.tags.outcomes.emplace_back(to_string(contrast.outcome));
}

} // namespace

CaseTables::CaseTables(const Comparison& comparison) : comparison_{comparison} {
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows) has_libraries_ |= !row.library.empty();
}

Table CaseTables::table(bool by_question) const {
    Table table{.columns = {{.title = say<text::compare::one_case>()}}};
    const auto data = [&](std::string title, std::size_t side) {
        table.columns.push_back(
            {.title = std::move(title), .data = true, .side = side_number(side), .key = "value"});
    };
    if (!by_question && has_libraries_)
        table.columns.push_back({.title = say<text::compare::library>()});
    table.columns.push_back({.title = say<text::compare::metric>(), .data = true, .key = "metric"});
    for (std::size_t side = 0; side < comparison_.sides.size(); ++side) {
        table.columns.push_back({.title = comparison_.sides[side].label,
                                 .numeric = true,
                                 .side = side_number(side),
                                 .key = side == 0 ? "value" : "ratio"});
        if (side > 0) {
            data(say<text::compare::verdict>(), side);
            data(say<text::compare::p>(), side);
            data(say<text::compare::detectable>(), side);
            data(say<text::compare::value>(), side);
        }
        data(say<text::compare::count>(), side);
        data(say<text::compare::of_bound>(), side);
        if (by_question) data(say<text::compare::library>(), side);
    }
    table.sheet = by_question ? say<text::compare::best_library>() : say<text::compare::cases>();
    return table;
}

document::Row CaseTables::row(const ComparedRow& row, bool by_question) const {
    document::Row out{
        .cells = {{.text = row.name}}, .group = row.benchmark, .tags = {.family = row.family}};
    if (!row.library.empty()) out.tags.libraries.push_back(row.library);
    if (!by_question && has_libraries_) out.cells.push_back({.text = row.library});
    out.cells.push_back({.text = row.metric});
    for (std::size_t side = 0; side < row.cells.size(); ++side) {
        const auto& cell = row.cells[side];
        if (!cell.library.empty()) out.tags.libraries.push_back(cell.library);
        auto notes = cell.notes;
        if (auto delivered = delivered_in_words(cell, row.unit); !delivered.empty())
            notes.push_back(std::move(delivered));
        const Shown value{.text = cell.value ? value_in_words(cell, row.unit) : std::string{},
                          .detail = interval_in_words(cell),
                          .notes = in_one_line(notes),
                          .number = cell.value,
                          .low = cell.low,
                          .high = cell.high,
                          .unit = row.unit};
        if (cell.contrast)
            add_contrast(out, *cell.contrast, value);
        else
            out.cells.push_back(value);
        out.cells.push_back(number(static_cast<double>(cell.count), unit_count));
        out.cells.push_back(number(cell.share_of_ceiling, unit_share));
        if (by_question) out.cells.push_back({.text = cell.library});
    }
    return out;
}

// --- curves --------------------------------------------------------------------------------------

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

/// Curve of a group, for one side: by the swept number.
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

} // namespace assay::compare
