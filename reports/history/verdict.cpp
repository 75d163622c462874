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
#include <vector>

namespace assay::history {

using namespace document;
namespace {

struct Found {
    const HistoryGroup* group;
    const HistoryEvent* event;
};

std::vector<Found> all_events(const History& history) {
    std::vector<Found> events;
    for (const auto& group : history.groups)
        for (const auto& event : group.events) events.push_back({&group, &event});
    return events;
}

/// Any loss before any gain; then what all its changes add up to.
bool is_less_serious(const Found& a, const Found& b) {
    const bool worse = a.event->worse > 0;
    if (worse != (b.event->worse > 0)) return !worse;
    return worse ? a.event->loss < b.event->loss : a.event->gain < b.event->gain;
}

std::string of_event(const Found& found) {
    const auto& event = *found.event;
    const bool one = event.machines.size() == 1 && !event.machines.front().empty();
    const auto where =
        one ? say<text::words::in_brackets>(found.group->name, event.machines.front())
            : found.group->name;
    return event.facts.empty()
               ? say<text::history::verdict_undated>(event.what, where, when_in_words(event),
                                                     facts_in_words(event.facts))
               : say<text::history::verdict>(event.what, where, date_of(event.seconds),
                                             facts_in_words(event.facts));
}

std::string of_others(const std::vector<Found>& events, const Found& said) {
    std::size_t better = 0;
    std::size_t worse = 0;
    for (const auto& found : events) {
        if (found.event == said.event) continue;
        ++(found.event->worse > 0 ? worse : better);
    }
    std::vector<std::string> kinds;
    if (worse > 0) kinds.push_back(say<text::history::for_worse>(worse));
    if (better > 0) kinds.push_back(say<text::history::for_better>(better));
    return say_count<text::history::more_changes>(better + worse, join(kinds));
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

/// The size from which a lasting change is found, in half of the cases without
/// one and in all; and how many could not be tested.
struct Unchanged {
    std::vector<double> detectable{};
    std::size_t too_few = 0;
    std::size_t all = 0;
    std::string usual() const { return record::human_percent(stats::median(detectable)); }
};
Unchanged unchanged_of(const History& history, const HistoryGroup* only) {
    Unchanged out;
    for (const auto& group : history.groups) {
        if (only != nullptr && only != &group) continue;
        out.all += group.series.size();
        for (const auto& series : group.series) {
            if (!series.change_points.empty()) continue;
            if (series.detectable)
                out.detectable.push_back(*series.detectable);
            else
                ++out.too_few;
        }
    }
    return out;
}

std::string of_nothing(const History& history) {
    const auto found = unchanged_of(history, nullptr);
    if (found.detectable.empty()) return say<text::history::nothing_tested>(fewest_samples);
    const auto usual = found.usual();
    const auto most = record::human_percent(std::ranges::max(found.detectable));
    const auto time = time_in_words(history);
    auto text = usual == most ? say<text::history::nothing_changed>(time, usual)
                              : say<text::history::nothing_changed_range>(time, usual, most);
    if (found.too_few > 0)
        text = sentences({text, say_count<text::history::some_tested>(found.too_few)});
    return text;
}

} // namespace

std::string verdict_of(const History& history) {
    if (!is_comparable(history)) return say<text::history::nothing_yet>();
    const auto events = all_events(history);
    if (events.empty()) return of_nothing(history);
    const auto most = *std::ranges::max_element(events, is_less_serious);
    std::vector<std::string> texts{of_event(most)};
    if (events.size() > 1) texts.push_back(of_others(events, most));
    if (const auto rest = unchanged_of(history, most.group); !rest.detectable.empty())
        texts.push_back(
            say<text::history::unchanged>(rest.detectable.size(), rest.all, rest.usual()));
    return sentences(texts);
}

} // namespace assay::history
