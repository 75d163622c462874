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

constexpr std::size_t reasons_shown = 12; // why something is not used
constexpr std::size_t places_shown = 4;   // of a reason

/// The share as asked for: "1%".
std::string percent(double share) { return fmt::format("{:.3g}%", 100 * share); }

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
    if (levels.size() == 1 && *levels.begin() == record::human_percent(1)) return "";
    return parts.empty() ? std::string{} : say<text::history::delivered>(join(parts));
}

/// All cases of a group. `alone`: there is no other.
Section section_of(const HistoryGroup& group, bool alone) {
    Section section{.title = group.name, .question = group_in_words(group)};
    if (const auto delivered = delivered_in_words(group); !delivered.empty())
        section.blocks.emplace_back(Paragraph{.text = delivered});
    auto all = series_table(group);
    if (!alone) all.folded = say_count<text::history::all_cases>(all.rows.size());
    section.blocks.emplace_back(std::move(all));
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
    auto answer = answer_of(history);
    Document document{.kind = "history",
                      .kicker = say<text::history::kicker>(),
                      .title = say_count<text::history::runs>(history.runs),
                      .verdict = answer.front(),
                      .tone = tone_of(history)};
    if (answer.size() > 1) document.lead = {sentences({answer.begin() + 1, answer.end()})};
    Section first{.title = document.kicker, .heading = false};
    if (!is_comparable(history))
        first.blocks.emplace_back(Paragraph{.text = say<text::history::nothing_to_do>()});
    if (!history.cause.empty()) first.blocks.emplace_back(Paragraph{.text = history.cause});
    if (!first.blocks.empty()) document.sections.push_back(std::move(first));
    if (auto changes = changes_section(history); !changes.blocks.empty())
        document.sections.push_back(std::move(changes));
    std::vector<const HistoryGroup*> groups;
    for (const auto& group : history.groups) groups.push_back(&group);
    std::ranges::stable_partition(groups, [](const auto* group) { return !group->events.empty(); });
    for (const auto* group : groups) {
        document.sections.push_back(section_of(*group, groups.size() == 1));
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
