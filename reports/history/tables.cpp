// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/texts/workbook.hpp"
#include "history/document.hpp"
#include "history/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace assay::history {
namespace {

using namespace document;
using record::human;
using record::human_percent;

constexpr std::size_t spark_columns = 12;
constexpr std::array<std::size_t, 4> sizes{2, 8, 64, 512}; // as in Spread::slowest

bool has_changed(const HistorySeries& series) { return !series.change_points.empty(); }

Cell number(const std::optional<double>& value, const std::string& unit) {
    if (!value) return {};
    return {.text = human(*value, unit), .number = value, .unit = unit};
}
Cell date(double seconds) {
    return {.text = date_of(seconds), .number = seconds, .unit = unit_date};
}

/// "+3.1%"; quiet and with a ~ where it is noise.
Cell share(double share, bool is_sure) {
    constexpr double nothing = 5e-5; // rounds to 0.00%
    Cell cell{.text = std::abs(share) < nothing ? "~ 0%" : signed_percent(share),
              .number = share,
              .unit = unit_share};
    if (is_sure) return cell;
    cell.tone = Tone::quiet;
    if (!cell.text.starts_with('~')) cell.text = "~ " + cell.text;
    return cell;
}

/// The last change that was found.
Cell change_of(const HistorySeries& series) {
    if (!has_changed(series)) {
        if (!series.detectable)
            return {.text = say<text::history::too_few_points>(), .tone = Tone::quiet};
        if (*series.detectable > most_detectable)
            return {.text = say<text::history::too_noisy>(), .tone = Tone::quiet};
        return {.text = say<text::history::none_above>(human_percent(*series.detectable)),
                .tone = Tone::quiet};
    }
    const auto changes = same_changes(series.change_points);
    const auto& last = changes.back();
    const auto& point = last.points.back();
    Cell cell{.text = size_in_short(last),
              .detail = date_of(last.points.front().seconds),
              .tone = point.ratio > 1 ? Tone::good : Tone::bad,
              .number = point.ratio - 1,
              .unit = unit_share};
    if (point.low) cell.low = *point.low - 1;
    if (point.high) cell.high = *point.high - 1;
    return cell;
}

Cell trend_of(const HistorySeries& series) {
    if (!series.trend) return {};
    const auto& trend = *series.trend;
    auto cell = share(trend.per_year, trend.low > 0 || trend.high < 0);
    cell.low = trend.low;
    cell.high = trend.high;
    return cell;
}

Cell present_value(const HistorySeries& series) {
    if (series.quarters.empty()) return {};
    const auto& last = series.quarters.back();
    auto cell = number(last.value, series.unit);
    cell.low = last.low;
    cell.high = last.high;
    return cell;
}

Tags tags_of(const HistorySeries& series) {
    std::set<std::string> outcomes;
    for (const auto& point : series.change_points)
        outcomes.insert(point.ratio > 1 ? "better" : "worse");
    if (outcomes.empty()) outcomes.insert(series.detectable ? "same" : "cannot_tell");
    return {.family = series.family,
            .libraries = {series.library},
            .outcomes = {outcomes.begin(), outcomes.end()}};
}

/// First columns of every table: the series, and in a workbook also its library and metric.
Table table_of_series(std::string sheet, std::vector<Column> columns) {
    Table table{
        .columns = {{.title = say<text::history::series>()},
                    {.title = say<text::history::library>(), .data = true},
                    {.title = say<text::workbook::metric>(), .data = true, .key = "metric"}},
        .sheet = std::move(sheet)};
    std::ranges::move(columns, std::back_inserter(table.columns));
    return table;
}
document::Row row_of(const HistorySeries& series, std::vector<Cell> cells) {
    document::Row row{
        .cells = {{.text = series.name}, {.text = series.library}, {.text = series.metric}},
        .group = series.benchmark,
        .tags = tags_of(series)};
    std::ranges::move(cells, std::back_inserter(row.cells));
    return row;
}

/// The quarter of a change point is marked, no other.
Cell quarter_of_series(const HistorySeries& series, const std::string& name) {
    const auto found = std::ranges::find(series.quarters, name, &Quarter::name);
    if (found == series.quarters.end()) return {};
    auto cell = number(found->value, series.unit);
    cell.low = found->low;
    cell.high = found->high;
    std::vector<ChangePoint> points;
    for (const auto& point : series.change_points)
        if (quarter_name(quarter_of(point.seconds)) == name) points.push_back(point);
    if (points.empty()) return cell;
    const auto last = same_changes(points).back();
    cell.tone = last.points.back().ratio > 1 ? Tone::good : Tone::bad;
    cell.detail = size_in_short(last);
    return cell;
}

/// "2024 Q4" of "2025 Q4".
std::string a_year_before(const std::string& quarter) {
    int year = 0;
    const auto [end, error] = std::from_chars(quarter.data(), quarter.data() + 4, year);
    return error == std::errc{} ? fmt::format("{:04}{}", year - 1, end) : quarter;
}

} // namespace

std::string sparkline(const HistorySeries& series, const std::vector<std::string>& machines) {
    std::vector<HistoryPoint> points;
    for (const auto& point : series.points)
        if (machines.empty() || machines.front().empty() || point.machine.empty() ||
            std::ranges::find(machines, point.machine) != machines.end())
            points.push_back(point);
    if (points.size() < 2) return "";
    static constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█"};
    const double from = points.front().seconds;
    const double span = std::max(points.back().seconds - from, 1.0);
    const std::size_t columns = std::min(spark_columns, points.size());
    std::vector<double> sums(columns, 0);
    std::vector<std::size_t> counts(columns, 0);
    for (const auto& point : points) {
        const double place = (point.seconds - from) / span * static_cast<double>(columns);
        const auto column = std::min(static_cast<std::size_t>(place), columns - 1);
        sums[column] += series.higher_is_better ? std::log(point.value) : -std::log(point.value);
        ++counts[column];
    }
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (std::size_t i = 0; i < columns; ++i) {
        if (counts[i] == 0) continue;
        sums[i] /= static_cast<double>(counts[i]);
        least = std::min(least, sums[i]);
        most = std::max(most, sums[i]);
    }
    constexpr double flattest = 0.05; // of a logarithm: 5%
    const double middle = (least + most) / 2;
    const double height = std::max(most - least, flattest);
    std::string out;
    for (std::size_t i = 0; i < columns; ++i) {
        const double share = std::clamp((sums[i] - middle) / height + 0.5, 0.0, 1.0);
        out += counts[i] == 0 ? " " : heights.at(static_cast<std::size_t>(std::lround(share * 7)));
    }
    return out;
}

std::vector<const HistorySeries*> in_order(const HistoryGroup& group) {
    std::vector<const HistorySeries*> all;
    for (const auto& series : group.series) all.push_back(&series);
    std::ranges::stable_partition(all, [](const HistorySeries* s) { return has_changed(*s); });
    return all;
}

Table series_table(const HistoryGroup& group) {
    auto table = table_of_series(
        say<text::workbook::series>(),
        {{.title = say<text::history::now>(), .numeric = true, .key = "value"},
         {.title = say<text::history::over_time>(), .rank = 2, .key = "over_time"},
         {.title = say<text::history::latest>(), .key = "change"},
         {.title = say<text::history::trend>(), .numeric = true, .rank = 1, .key = "trend"},
         {.title = say<text::history::machines_apart>(),
          .numeric = true,
          .rank = 3,
          .key = "spread"},
         {.title = say<text::workbook::points>(), .data = true},
         {.title = say<text::workbook::change_points_count>(), .data = true},
         {.title = say<text::history::year_ago>(), .data = true}});
    table.columns[1].data = false;
    for (const auto* series : in_order(group)) {
        table.rows.push_back(
            row_of(*series, {present_value(*series),
                             {.text = sparkline(*series)},
                             change_of(*series),
                             trend_of(*series),
                             series->spread ? number(series->spread->p05, series->unit) : Cell{},
                             count_cell(series->points.size()),
                             count_cell(series->change_points.size()),
                             {.text = series->change ? series->change->text : std::string{}}}));
    }
    return table;
}

Table quarters_table(const HistoryGroup& group) {
    std::set<std::string, std::greater<>> names;
    for (const auto& series : group.series)
        for (const auto& quarter : series.quarters) names.insert(quarter.name);
    Table table = table_of_series("", {{.title = say<text::history::year_ago>(), .numeric = true}});
    table.columns[1].data = false;
    table.folded = say_count<text::history::quarters>(group.series.size());
    for (const auto& name : names) table.columns.push_back({.title = name, .numeric = true});
    if (names.size() < 2) return table;
    for (const auto* series : in_order(group)) {
        Cell year;
        if (const auto& change = series->change) {
            year = share(change->ratio - 1, change->found);
            if (change->low) year.low = *change->low - 1;
            if (change->high) year.high = *change->high - 1;
            // The column says "a year ago": what is older or newer says so.
            if (change->from != a_year_before(change->to)) year.detail = change->from;
        }
        auto row = row_of(*series, {year});
        for (const auto& name : names) row.cells.push_back(quarter_of_series(*series, name));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table spread_table(const HistoryGroup& group) {
    std::vector<Column> columns{{.title = say<text::workbook::machines>(), .numeric = true},
                                {.title = say<text::workbook::p05>(), .numeric = true},
                                {.title = say<text::workbook::p50>(), .numeric = true},
                                {.title = say<text::workbook::p95>(), .numeric = true},
                                {.title = say<text::workbook::tolerance>(), .numeric = true}};
    for (const auto size : sizes)
        columns.push_back({.title = say<text::workbook::slowest>(size), .numeric = true});
    Table table = table_of_series(say<text::workbook::spread>(), std::move(columns));
    table.columns[1].data = false;
    for (const auto& series : group.series) {
        if (!series.spread) continue;
        const auto& spread = *series.spread;
        auto row = row_of(series, {count_cell(spread.machines), number(spread.p05, series.unit),
                                   number(spread.p50, series.unit), number(spread.p95, series.unit),
                                   number(spread.tolerance, series.unit)});
        for (const auto size : sizes) {
            const auto found =
                std::ranges::find(spread.slowest, size, &Spread::SlowestOf::machines);
            row.cells.push_back(found == spread.slowest.end() ? Cell{}
                                                              : number(found->value, series.unit));
        }
        table.rows.push_back(std::move(row));
    }
    table.folded = say_count<text::history::spread_title>(table.rows.size());
    return table;
}

Table change_points_table(const HistoryGroup& group) {
    auto table = table_of_series(say<text::workbook::change_points>(),
                                 {{.title = say<text::workbook::date>()},
                                  {.title = say<text::workbook::earliest>()},
                                  {.title = say<text::workbook::latest>()},
                                  {.title = say<text::workbook::machine_id>()},
                                  {.title = say<text::workbook::before>()},
                                  {.title = say<text::workbook::after>()},
                                  {.title = say<text::workbook::ratio>()},
                                  {.title = say<text::workbook::p>()},
                                  {.title = say<text::workbook::cause>()},
                                  {.title = say<text::workbook::changed>()},
                                  {.title = say<text::workbook::what>()}});
    table.only_workbook = true;
    for (const auto& series : group.series)
        for (const auto& point : series.change_points) {
            std::vector<std::string> facts;
            for (const auto& fact : point.facts) facts.push_back(fact_in_words(fact));
            table.rows.push_back(row_of(
                series,
                {date(point.seconds),
                 date(point.earliest),
                 date(point.latest),
                 {.text = point.machine},
                 number(point.before, series.unit),
                 number(point.after, series.unit),
                 {.number = point.ratio, .low = point.low, .high = point.high, .unit = unit_ratio},
                 {.number = point.p, .unit = unit_p},
                 {.text = cause_in_words(point.cause)},
                 {.text = join(facts)},
                 {.text = point.text}}));
        }
    return table;
}

Table points_table(const HistoryGroup& group) {
    auto table = table_of_series(say<text::workbook::points>(),
                                 {{.title = say<text::workbook::date>()},
                                  {.title = say<text::workbook::value>()},
                                  {.title = say<text::workbook::runs>()},
                                  {.title = say<text::workbook::machine_id>()}});
    table.only_workbook = true;
    for (const auto& series : group.series)
        for (const auto& point : series.points) {
            auto value = number(point.value, series.unit);
            value.low = point.low;
            value.high = point.high;
            table.rows.push_back(row_of(
                series,
                {date(point.seconds), value, count_cell(point.runs), {.text = point.machine}}));
        }
    return table;
}

} // namespace assay::history
