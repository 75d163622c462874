// SPDX-License-Identifier: Apache-2.0

#include "history/words.hpp"
#include "language/language.hpp"
#include "render/history.hpp"
#include "render/workbook.hpp"
#include "render/workbook_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::report {
namespace {

constexpr std::size_t fixed_columns = 5; // those of begin()

std::vector<std::string> titles(std::initializer_list<std::string> more) {
    std::vector<std::string> all{say<text::workbook::group>(), say<text::workbook::benchmark>(),
                                 say<text::workbook::one_case>(), say<text::workbook::library>(),
                                 say<text::workbook::metric>()};
    all.insert(all.end(), more);
    return all;
}

Sheet& begin(Sheet& sheet, const HistoryGroup& group, const HistorySeries& series) {
    return sheet.text(group.name)
        .text(series.benchmark)
        .text(series.what)
        .text(series.library)
        .text(series.metric);
}

std::string changes_of(const HistoryStep& step) {
    std::vector<std::string> changes;
    for (const auto& fact : step.facts)
        changes.push_back(fmt::format("{}: {} -> {}", fact.name, fact.before, fact.after));
    return fmt::format("{}", fmt::join(changes, "; "));
}

void add_steps(Sheet& sheet, const HistoryGroup& group, const HistorySeries& series) {
    for (const auto& step : series.steps) {
        begin(sheet, group, series).date(step.seconds).date(step.earliest).date(step.latest);
        sheet.text(step.machine).number(step.before, series.unit).number(step.after, series.unit);
        sheet.ratio(step.ratio).ratio(step.low).ratio(step.high).probability(step.p);
        sheet.text(cause_in_words(step.cause)).text(changes_of(step)).text(step.text);
        sheet.end_row();
    }
}

void add_series(Sheet& sheet, const HistoryGroup& group, const HistorySeries& series) {
    begin(sheet, group, series).text(series.unit).count(series.points.size());
    std::optional<double> last;
    if (!series.points.empty()) last = series.points.back().value;
    sheet.number(last, series.unit).count(series.steps.size());
    std::optional<double> slope;
    std::optional<double> low;
    std::optional<double> high;
    if (series.trend) {
        slope = series.trend->per_year;
        low = series.trend->low;
        high = series.trend->high;
    }
    sheet.share(slope).share(low).share(high);
    sheet.text(series.change ? series.change->text : "");
    sheet.end_row();
}

void add_points(Sheet& sheet, const HistoryGroup& group, const HistorySeries& series) {
    for (const auto& point : series.points) {
        begin(sheet, group, series).date(point.seconds).number(point.value, series.unit);
        sheet.number(point.low, series.unit).number(point.high, series.unit).count(point.runs);
        sheet.text(point.machine).text(series.unit);
        sheet.end_row();
    }
}

constexpr std::array<std::size_t, 4> sizes{
    2, 8, 64, 512}; // machines that work together, as in Spread::slowest

void add_spread(Sheet& sheet, const HistoryGroup& group, const HistorySeries& series) {
    if (!series.spread) return;
    const auto& spread = *series.spread;
    begin(sheet, group, series).count(spread.machines).number(spread.p05, series.unit);
    sheet.number(spread.p50, series.unit).number(spread.p95, series.unit);
    sheet.number(spread.tolerance, series.unit);
    for (const std::size_t size : sizes) {
        const auto found = std::ranges::find(spread.slowest, size, &Spread::SlowestOf::machines);
        sheet.number(found == spread.slowest.end() ? std::nullopt : std::optional{found->value},
                     series.unit);
    }
    sheet.text(series.unit);
    sheet.end_row();
}

} // namespace

Result<std::string> to_workbook(const History& history) {
    std::optional<double> last; // of the data
    for (const auto& group : history.groups) last = last ? std::max(*last, group.to) : group.to;
    WorkbookFile file{say<text::history::title>(), last};
    auto& summary = file.sheet(say<text::workbook::summary>(),
                               {say<text::workbook::group>(), say<text::workbook::content>()});
    auto& steps = file.sheet(
        say<text::workbook::steps>(),
        titles({say<text::workbook::date>(), say<text::workbook::earliest>(),
                say<text::workbook::latest>(), say<text::workbook::machine_id>(),
                say<text::workbook::before>(), say<text::workbook::after>(),
                say<text::workbook::ratio>(), say<text::workbook::low>(),
                say<text::workbook::high>(), say<text::workbook::p>(), say<text::workbook::cause>(),
                say<text::workbook::changed>(), say<text::workbook::what>()}),
        fixed_columns);
    auto& all = file.sheet(say<text::workbook::series>(),
                           titles({say<text::workbook::unit>(), say<text::workbook::points>(),
                                   say<text::workbook::value>(), say<text::workbook::steps_count>(),
                                   say<text::workbook::per_year>(), say<text::workbook::low>(),
                                   say<text::workbook::high>(), say<text::workbook::notes>()}),
                           fixed_columns);
    auto& points =
        file.sheet(say<text::workbook::points>(),
                   titles({say<text::workbook::date>(), say<text::workbook::value>(),
                           say<text::workbook::low>(), say<text::workbook::high>(),
                           say<text::workbook::runs>(), say<text::workbook::machine_id>(),
                           say<text::workbook::unit>()}),
                   fixed_columns);
    std::vector<std::string> of_spread = titles(
        {say<text::workbook::machines>(), say<text::workbook::p05>(), say<text::workbook::p50>(),
         say<text::workbook::p95>(), say<text::workbook::tolerance>()});
    for (const auto size : sizes) of_spread.push_back(say<text::workbook::slowest>(size));
    of_spread.push_back(say<text::workbook::unit>());
    auto& spread = file.sheet(say<text::workbook::spread>(), of_spread, fixed_columns);
    auto& rest = file.sheet(say<text::workbook::not_used>(),
                            {say<text::workbook::where>(), say<text::workbook::reason>()});
    for (const auto& group : history.groups) {
        summary.text(group.name).text(group_in_words(group));
        summary.end_row();
        for (const auto& event : group.events) {
            summary.text(group.name).text(event.text);
            summary.end_row();
        }
        for (const auto& series : group.series) {
            add_steps(steps, group, series);
            add_series(all, group, series);
            add_points(points, group, series);
            add_spread(spread, group, series);
        }
    }
    for (const auto& problem : history.not_used) {
        rest.text(problem.where).text(problem.reason);
        rest.end_row();
    }
    for (const auto& note : history.notes) {
        summary.text("").text(note);
        summary.end_row();
    }
    summary.text("").text(history_method());
    summary.end_row();
    if (const auto cut = points.rows_left_out(); cut > 0) {
        summary.text(say<text::workbook::points>()).text(say<text::workbook::cut>(cut));
        summary.end_row();
    }
    return file.finish();
}

} // namespace assay::report
