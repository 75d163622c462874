// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/texts/words.hpp"
#include "history/document.hpp"
#include "history/tracks.hpp"
#include "history/words.hpp"
#include "record/format.hpp"
#include "stats/summary.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <vector>

namespace assay::history {

using namespace document;
namespace {

std::string of_event(const FoundEvent& found) {
    const auto& [group, event] = found;
    const bool one = event->machines.size() == 1 && !event->machines.front().empty();
    const auto where = one && group->machines > 1
                           ? say<text::words::in_brackets>(group->name, event->machines.front())
                           : group->name;
    const auto what = named_in_words(*group, *event);
    return event->facts.empty()
               ? say<text::history::verdict_undated>(what, where, when_in_words(*event),
                                                     facts_in_words(event->facts))
               : say<text::history::verdict>(what, where, date_of(event->seconds),
                                             facts_in_words(event->facts));
}

/// All but the first.
std::string of_others(const std::vector<FoundEvent>& events, bool one_group) {
    std::size_t worse = 0;
    std::vector<std::string> groups;
    for (const auto& found : events | std::views::drop(1)) {
        worse += found.event->worse > 0 ? 1 : 0;
        if (std::ranges::find(groups, found.group->name) == groups.end())
            groups.push_back(found.group->name);
    }
    const auto count = events.size() - 1;
    std::vector<std::string> kinds;
    if (worse > 0) kinds.push_back(say<text::history::for_worse>(worse));
    if (worse < count) kinds.push_back(say<text::history::for_better>(count - worse));
    constexpr std::size_t named = 3;
    return one_group ? say_count<text::history::more_changes>(count, join(kinds))
                     : say_count<text::history::more_changes_on>(count, join(kinds),
                                                                 list_of(groups, named));
}

/// "in 12 quarters".
std::string time_in_words(const History& history) {
    double from = history.groups.front().from;
    double to = history.groups.front().to;
    for (const auto& group : history.groups) {
        from = std::min(from, group.from);
        to = std::max(to, group.to);
    }
    from = std::min(std::max(from, history.options.since), to);
    const auto quarters = quarter_of(to) - quarter_of(from) + 1;
    return quarters > 1 ? say<text::history::in_quarters>(quarters)
                        : say<text::history::in_period>(period_in_words(from, to));
}

/// Cases without a change: the size of a lasting change that would have been found in each, or why none would.
struct Unchanged {
    std::vector<double> detectable{};
    std::size_t noisy = 0; ///< not even a factor of two would show
    std::size_t too_few = 0;
    std::size_t all = 0;
    std::string usual() const { return record::human_percent(stats::median(detectable)); }
    std::string most() const { return record::human_percent(std::ranges::max(detectable)); }
};
Unchanged unchanged_of(const History& history, const std::vector<FoundDrift>& drifts) {
    std::set<const HistorySeries*> drifting;
    for (const auto& drift : drifts) drifting.insert(drift.series);
    Unchanged out;
    for (const auto& group : history.groups) {
        out.all += group.series.size();
        for (const auto& series : group.series) {
            if (!series.change_points.empty() || drifting.contains(&series)) continue;
            if (!series.detectable)
                ++out.too_few;
            else if (*series.detectable > most_detectable)
                ++out.noisy;
            else
                out.detectable.push_back(*series.detectable);
        }
    }
    return out;
}

std::string of_nothing(const History& history, const Unchanged& found) {
    if (found.detectable.empty() && found.noisy == 0)
        return say<text::history::nothing_tested>(fewest_samples);
    if (found.detectable.empty()) return say<text::history::nothing_told>();
    const auto time = time_in_words(history);
    return found.usual() == found.most()
               ? say<text::history::nothing_changed>(time, found.usual())
               : say<text::history::nothing_changed_range>(time, found.usual(), found.most());
}

} // namespace

std::vector<std::string> answer_of(const History& history) {
    if (!is_comparable(history)) return {say<text::history::nothing_yet>()};
    const auto events = events_of(history);
    const auto drifts = drifts_of(history);
    const auto rest = unchanged_of(history, drifts);
    std::vector<std::string> answer;
    if (events.empty())
        answer.push_back(of_nothing(history, rest));
    else
        answer.push_back(of_event(events.front()));
    const bool one_group = history.groups.size() == 1;
    if (events.size() > 1) answer.push_back(of_others(events, one_group));
    if (!events.empty() && !rest.detectable.empty())
        answer.push_back(
            rest.usual() == rest.most()
                ? say<text::history::unchanged>(rest.detectable.size(), rest.all, rest.usual())
                : say<text::history::unchanged_half>(rest.detectable.size(), rest.all,
                                                     rest.usual()));
    if (rest.noisy > 0 && !(events.empty() && rest.detectable.empty()))
        answer.push_back(say_count<text::history::some_noisy>(rest.noisy));
    if (rest.too_few > 0 && rest.too_few < rest.all)
        answer.push_back(say_count<text::history::some_tested>(rest.too_few));
    if (!drifts.empty()) {
        const auto& [group, series] = drifts.front();
        answer.push_back(say_count<text::history::some_drift>(
            drifts.size(), one_group ? series->title : join({series->title, group->name}),
            signed_percent(series->trend->per_year)));
    }
    return answer;
}

} // namespace assay::history
