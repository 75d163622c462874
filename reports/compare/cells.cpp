// SPDX-License-Identifier: Apache-2.0

#include "compare/cells.hpp"

#include "compare/verdict.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/texts/compare.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {

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
    if (auto& notes = row.cells.front().notes; !contrast.about.empty())
        if (auto why = contrast_in_words(contrast); std::ranges::find(notes, why) == notes.end())
            notes.push_back(std::move(why));
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
    table.columns.push_back({.title = say<text::compare::metric>(), .data = true});
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
        const Shown value{.text = cell.value ? value_in_words(cell, row.unit) : std::string{},
                          .detail = interval_in_words(cell),
                          .notes = in_one_line(cell.notes),
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

} // namespace assay::report
