// SPDX-License-Identifier: Apache-2.0

#include "history/document.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "history/words.hpp"
#include "record/format.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace assay::history {
namespace {

using namespace document;

constexpr std::size_t charts_shown = 40;  // of a group: those with change points first
constexpr std::size_t reasons_shown = 12; // why something is not used
constexpr std::size_t places_shown = 4;   // of a reason

/// The share as asked for: "1%".
std::string percent(double share) { return fmt::format("{:.3g}%", 100 * share); }

/// Marks are the change points that were found, on their days, and where a new machine begins.
Chart chart_of(const HistorySeries& series) {
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
    return {.title = series.identity,
            .caption = say<text::history::chart>(
                series.metric, series.higher_is_better ? say<text::history::more_is_better>()
                                                       : say<text::history::less_is_better>()),
            .data = std::move(chart)};
}

std::string group_in_words(const HistoryGroup& group) {
    return say<text::history::of_group>(group.what, say_count<text::history::runs>(group.runs),
                                        say_count<text::history::machines>(group.machines),
                                        period_in_words(group.from, group.to));
}

/// Delivered share of guests, quarter by quarter.
std::string delivered_in_words(const HistoryGroup& group) {
    std::map<std::string, std::vector<double>> shares;
    for (const auto& series : group.series)
        for (const auto& quarter : series.quarters)
            if (quarter.delivered)
                shares[quarter.name].push_back(series.higher_is_better
                                                   ? *quarter.delivered / quarter.value
                                                   : quarter.value / *quarter.delivered);
    std::vector<std::string> parts;
    std::set<std::string> levels;
    for (const auto& [name, list] : shares) {
        const auto level = record::human_percent(stats::geometric_mean(list));
        levels.insert(level);
        parts.push_back(say<text::words::labelled>(name, level));
    }
    if (parts.size() > 1 && levels.size() == 1)
        parts = {say<text::history::in_all_quarters>(parts.size(), *levels.begin())};
    return parts.empty() ? std::string{} : say<text::history::delivered>(join(parts));
}

Section section_of(const HistoryGroup& group) {
    Section section{.title = group.name, .question = group_in_words(group)};
    Findings events; // the last first
    for (const auto& event : group.events | std::views::reverse)
        events.findings.push_back(
            {.severity = event.worse > 0 ? Severity::caution : Severity::note,
             .what = say<text::words::labelled>(cause_in_words(event.cause), event.text)});
    const bool tested = std::ranges::any_of(
        group.series, [](const HistorySeries& series) { return series.detectable.has_value(); });
    if (events.findings.empty())
        section.blocks.emplace_back(Paragraph{
            .text = tested ? say<text::history::no_events>()
                           : as_sentence(capitalised(say<text::history::too_few_points>())),
            .tone = Tone::quiet});
    section.blocks.emplace_back(std::move(events));
    if (const auto delivered = delivered_in_words(group); !delivered.empty())
        section.blocks.emplace_back(Paragraph{.text = delivered});
    section.blocks.emplace_back(series_table(group));
    std::size_t charts = 0;
    for (const auto* series : in_order(group))
        if (series->points.size() > 1 && charts++ < charts_shown)
            section.blocks.emplace_back(chart_of(*series));
    for (const auto& table : {change_points_table(group), quarters_table(group),
                              spread_table(group), points_table(group)})
        section.blocks.emplace_back(table);
    return section;
}

Section not_used_of(const History& history) {
    Section section{.title = say<text::history::not_used>()};
    Table all{.columns = {{.title = say<text::workbook::where>()},
                          {.title = say<text::workbook::reason>()}},
              .sheet = say<text::workbook::not_used>(),
              .only_workbook = true};
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const auto& problem : history.not_used) {
        all.rows.push_back({.cells = {{.text = problem.where}, {.text = problem.reason}}});
        auto reason =
            std::ranges::find(reasons, problem.reason, [](const auto& r) { return r.first; });
        if (reason == reasons.end()) reason = reasons.insert(reason, {problem.reason, {}});
        reason->second.push_back(problem.where);
    }
    for (std::size_t i = 0; i < std::min(reasons.size(), reasons_shown); ++i)
        section.blocks.emplace_back(
            Paragraph{.text = say<text::words::labelled>(reasons[i].first,
                                                         list_of(reasons[i].second, places_shown)),
                      .mark = "-"});
    if (reasons.size() > reasons_shown)
        section.blocks.emplace_back(
            Paragraph{.text = say<text::history::and_more>(reasons.size() - reasons_shown)});
    section.blocks.emplace_back(std::move(all));
    return section;
}

Tone tone_of(const History& history) {
    if (!is_comparable(history)) return Tone::weak;
    if (has_regression(history)) return Tone::bad;
    return std::ranges::any_of(history.groups, [](const auto& g) { return !g.events.empty(); })
               ? Tone::good
               : Tone::plain;
}

} // namespace

Document make_document(const History& history) {
    Document document{.kind = "history",
                      .kicker = say<text::history::kicker>(),
                      .title = say_count<text::history::runs>(history.runs),
                      .verdict = verdict_of(history),
                      .tone = tone_of(history)};
    Section first{.title = document.kicker, .heading = false};
    if (!is_comparable(history))
        first.blocks.emplace_back(Paragraph{.text = say<text::history::nothing_to_do>()});
    if (!history.cause.empty()) first.blocks.emplace_back(Paragraph{.text = history.cause});
    if (!first.blocks.empty()) document.sections.push_back(std::move(first));
    std::vector<const HistoryGroup*> groups;
    for (const auto& group : history.groups) groups.push_back(&group);
    std::ranges::stable_partition(groups, [](const auto* group) { return !group->events.empty(); });
    for (const auto* group : groups) {
        document.sections.push_back(section_of(*group));
        document.date = std::max(document.date.value_or(group->to), group->to);
    }
    if (!history.groups.empty()) {
        const auto first_of_all = std::ranges::min(history.groups, {}, &HistoryGroup::from).from;
        document.title = join({document.title, period_in_words(first_of_all, *document.date)});
    }
    Section notes{.title = say<text::history::notes>()};
    for (const auto& note : history.notes)
        notes.blocks.emplace_back(Paragraph{.text = note, .mark = "-"});
    if (!notes.blocks.empty()) document.sections.push_back(std::move(notes));
    if (!history.not_used.empty()) document.sections.push_back(not_used_of(history));
    for (const auto& line :
         {say<text::history::method>(percent(history.options.alpha),
                                     percent(history.options.minimum_effect)),
          say<text::history::method_speed>(), say<text::history::method_cause>()})
        document.foot.push_back({.text = line, .tone = Tone::quiet});
    return document;
}

} // namespace assay::history
