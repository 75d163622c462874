// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/texts/words.hpp"
#include "history/document.hpp"
#include "history/words.hpp"
#include "record/format.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <utility>

namespace assay::history {

using namespace document;
namespace {

constexpr std::size_t most_charts = 12;

/// Marks are the change points that were found, on their days, and where a new machine begins.
Chart chart_of(const HistoryGroup& group, const HistorySeries& series) {
    TimeChart chart{.unit = series.unit, .higher_is_better = series.higher_is_better};
    for (const auto& point : series.points)
        chart.points.push_back(
            {.seconds = point.seconds,
             .value = point.value,
             .low = point.low,
             .high = point.high,
             .label = say_count<text::history::of_machine>(
                 point.runs,
                 point.machine.empty() ? say<text::history::several_machines>() : point.machine)});
    for (const auto& change : same_changes(series.change_points))
        chart.marks.push_back({.seconds = change.points.front().seconds,
                               .text = change.text,
                               .outcome = change.points.front().ratio > 1 ? "better" : "worse"});
    for (const auto& place : series.breaks)
        chart.marks.push_back({.seconds = place.seconds, .text = place.text});
    return {.title = join({series.title, group.name}),
            .caption = say<text::history::chart>(capitalised(series.metric),
                                                 series.higher_is_better
                                                     ? say<text::history::more_is_better>()
                                                     : say<text::history::less_is_better>()),
            .data = std::move(chart)};
}

/// "GEMM fp64 106 → 95.8 GFLOP/s (−10%)", of those that changed most.
std::string cases_in_words(const HistoryGroup& group, const HistoryEvent& event) {
    constexpr std::size_t all_named = 3;
    constexpr std::size_t some_named = 2;
    std::vector<std::string> list;
    for (const auto& one : event.cases) {
        const auto& series = group.series[one.series];
        list.push_back(say<text::history::changed_case>(
            series.title, from_to_in_words(one.before, one.after, series.unit),
            signed_percent(one.ratio - 1)));
    }
    return list_of(list, list.size() > all_named ? some_named : all_named);
}

/// "3 of 22 cases, on 3 of 4 machines": all machines need no word.
std::string extent_in_words(const HistoryGroup& group, const HistoryEvent& event) {
    std::vector<std::string> parts{say<text::history::of>(event.cases.size(), event.measured)};
    const auto& machines = event.machines;
    if (machines.front().empty())
        parts.push_back(say<text::history::between_machines>());
    else if (machines.size() == 1 && group.machines > 1)
        parts.push_back(say<text::history::on_machine>(machine_name(machines.front())));
    else if (machines.size() < group.machines)
        parts.push_back(say<text::history::on_some>(machines.size(), group.machines));
    return join(parts);
}

std::string of_group(const HistoryGroup& group, std::string text, bool one_group) {
    return one_group ? std::move(text) : say<text::words::labelled>(group.name, text);
}

Row row_of(const FoundEvent& found, bool one_group) {
    const auto& [group, event] = found;
    const auto& most = event->cases.front();
    const auto date = date_of(event->seconds);
    return {.cells = {{.text = of_group(*group, facts_in_words(event->facts), one_group),
                       .notes = {say<text::words::labelled>(extent_in_words(*group, *event),
                                                            cases_in_words(*group, *event))}},
                      {.text = range_in_short(*event),
                       .tone = event->worse > 0 ? Tone::bad : Tone::good,
                       .number = most.ratio - 1,
                       .unit = unit_share},
                      {.text = event->facts.empty() ? say<text::history::by_date>(date) : date,
                       .number = event->seconds,
                       .unit = unit_date},
                      {.text = sparkline(group->series[most.series], event->machines)}}};
}

Table changes_table(const std::vector<FoundEvent>& events, bool one_group) {
    Table table{.columns = {{.title = say<text::history::cause>()},
                            {.title = say<text::history::change_title>()},
                            {.title = say<text::history::since>()},
                            {.title = say<text::history::over_time>(), .rank = 2}}};
    for (const auto& found : events) table.rows.push_back(row_of(found, one_group));
    return table;
}

Table drifts_table(const std::vector<FoundDrift>& drifts, bool one_group) {
    Table table{.columns = {{.title = say<text::history::drifting>()},
                            {.title = say<text::history::trend>(), .numeric = true},
                            {.title = say<text::history::over_time>(), .rank = 2}}};
    for (const auto& [group, series] : drifts) {
        const auto& trend = *series->trend;
        table.rows.push_back({.cells = {{.text = of_group(*group, series->title, one_group)},
                                        {.text = signed_percent(trend.per_year),
                                         .tone = trend.per_year > 0 ? Tone::good : Tone::bad,
                                         .number = trend.per_year,
                                         .low = trend.low,
                                         .high = trend.high,
                                         .unit = unit_share},
                                        {.text = sparkline(*series)}}});
    }
    return table;
}

/// Any loss before any gain; then what all its changes add up to.
bool is_more_serious(const FoundEvent& a, const FoundEvent& b) {
    const bool worse = a.event->worse > 0;
    if (worse != (b.event->worse > 0)) return worse;
    return worse ? a.event->loss > b.event->loss : a.event->gain > b.event->gain;
}

} // namespace

std::vector<FoundEvent> events_of(const History& history) {
    std::vector<FoundEvent> events;
    for (const auto& group : history.groups)
        for (const auto& event : group.events) events.push_back({&group, &event});
    std::ranges::stable_sort(events, is_more_serious);
    return events;
}

std::vector<FoundDrift> drifts_of(const History& history) {
    std::vector<FoundDrift> drifts;
    for (const auto& group : history.groups)
        for (const auto& series : group.series)
            // A change that was found has made its trend.
            if (series.change_points.empty() && series.trend && series.trend->found &&
                std::abs(series.trend->per_year) >= history.options.minimum_effect)
                drifts.push_back({&group, &series});
    std::ranges::stable_sort(drifts, std::ranges::greater{}, [](const FoundDrift& one) {
        return std::abs(std::log1p(one.series->trend->per_year));
    });
    return drifts;
}

Section changes_section(const History& history) {
    const auto events = events_of(history);
    const auto drifts = drifts_of(history);
    const bool one_group = history.groups.size() == 1;
    Section section{.title = say<text::history::changes>()};
    std::vector<Chart> charts;
    std::set<const HistorySeries*> drawn;
    const auto draw = [&](const HistoryGroup& group, const HistorySeries& series) {
        if (charts.size() < most_charts && drawn.insert(&series).second)
            charts.push_back(chart_of(group, series));
    };
    for (const auto& [group, event] : events)
        draw(*group, group->series[event->cases.front().series]);
    for (const auto& [group, series] : drifts) draw(*group, *series);
    if (charts.empty()) return section;
    section.blocks.emplace_back(std::move(charts.front()));
    if (!events.empty()) section.blocks.emplace_back(changes_table(events, one_group));
    if (!drifts.empty()) section.blocks.emplace_back(drifts_table(drifts, one_group));
    section.blocks.emplace_back(
        Paragraph{.text = say<text::history::where_the_rest_is>(), .tone = Tone::quiet});
    for (auto& chart : charts | std::views::drop(1)) section.blocks.emplace_back(std::move(chart));
    return section;
}

} // namespace assay::history
