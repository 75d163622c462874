// SPDX-License-Identifier: Apache-2.0

#include "history/history.hpp"

#include "history/attribution.hpp"
#include "history/facts.hpp"
#include "history/outlook.hpp"
#include "history/points.hpp"
#include "history/steps.hpp"
#include "history/tracks.hpp"
#include "history/words.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace assay::report {
namespace {

std::string identity_of(const Series& series) {
    record::Case c{.benchmark = series.benchmark, .version = series.version};
    c.place.kind = series.place;
    c.library = series.library;
    c.parameters = series.parameters;
    return plain(record::identity(c));
}

/// The CPUs of a group, the most frequent first.
std::string cpus_in_words(const Collection& collection, const GroupTracks& group) {
    std::map<std::string, std::size_t> counted;
    for (const auto run : group.runs) {
        const auto& machine = collection.machines[collection.runs[run].machine];
        if (!machine.cpu_model.empty()) ++counted[plain(machine.cpu_model, 200)];
    }
    if (counted.empty()) return say<text::history::unknown_cpu>();
    const auto most = std::ranges::max_element(counted, {}, [](const auto& c) { return c.second; });
    return counted.size() == 1
               ? most->first
               : say_count<text::history::and_others>(counted.size() - 1, most->first);
}

class Maker {
public:
    Maker(const Collection& collection, const HistoryOptions& options, Tracks tracks)
        : collection_{collection}, options_{options}, tracks_{std::move(tracks)}, book_{collection},
          lines_{lines_of(tracks_)},
          steps_{explain(collection, book_, tracks_, lines_,
                         find_steps(lines_, options.alpha, options.minimum_effect))} {}

    History history() {
        History history{.groups = {}, .not_used = std::move(tracks_.not_used), .notes = {}};
        for (std::size_t i = 0; i < tracks_.groups.size(); ++i) {
            if (tracks_.groups[i].series.empty()) continue;
            history.groups.push_back(group(i, history.notes));
            history.runs += history.groups.back().runs;
        }
        return history;
    }

private:
    /// Lines and steps are in the order of groups and series.
    SeriesSteps part(std::size_t group, std::size_t series) const {
        const auto [first, last] =
            std::ranges::equal_range(lines_, std::pair{group, series}, {}, [](const Line& line) {
                return std::pair{line.group, line.series};
            });
        const auto from = static_cast<std::size_t>(first - lines_.begin());
        const auto to = static_cast<std::size_t>(last - lines_.begin());
        return {.lines = {first, last}, .steps = steps_between(from, to)};
    }
    std::span<const ExplainedStep> steps_between(std::size_t first, std::size_t last) const {
        const auto from = std::ranges::lower_bound(steps_, first, {}, &ExplainedStep::line);
        const auto to = std::ranges::lower_bound(steps_, last, {}, &ExplainedStep::line);
        return {from, to};
    }

    HistoryGroup group(std::size_t index, std::vector<std::string>& notes) {
        const auto& tracks = tracks_.groups[index];
        const auto lines = std::ranges::equal_range(lines_, index, {}, &Line::group);
        const auto from = static_cast<std::size_t>(lines.begin() - lines_.begin());
        const auto count = lines.size();
        const auto own = steps_between(from, from + count);
        const std::span<ExplainedStep> steps{steps_.begin() + (own.data() - steps_.data()),
                                             own.size()};
        std::set<std::string_view> machines;
        for (const auto run : tracks.runs)
            machines.insert(collection_.machines[collection_.runs[run].machine].id);
        HistoryGroup group{.name = tracks.name,
                           .what = cpus_in_words(collection_, tracks),
                           .runs = tracks.runs.size(),
                           .machines = machines.size(),
                           .from = collection_.runs[tracks.runs.front()].started_seconds,
                           .to = collection_.runs[tracks.runs.back()].started_seconds,
                           .events = make_events(collection_, book_, tracks_, index, lines_, steps),
                           .series = {}};
        std::erase_if(group.events, [&](const auto& e) { return e.until < options_.since; });
        for (std::size_t i = 0; i < tracks.series.size(); ++i)
            group.series.push_back(series(tracks.series[i], part(index, i)));
        note(group, tracks, count, notes);
        return group;
    }

    HistorySeries series(const SeriesTracks& tracks, const SeriesSteps& found) const {
        const auto& what = collection_.series[tracks.series];
        HistorySeries out{
            .identity = identity_of(what),
            .family = plain(family_of(what.benchmark), 100),
            .benchmark = plain(what.benchmark, 200),
            .what = plain(what.what),
            .library = plain(what.library, 100),
            .metric = plain(metric_title(what.metric), 100),
            .unit = plain(what.unit, 40),
            .higher_is_better = what.higher_is_better,
            .points = make_points(collection_, tracks, what.higher_is_better, options_.points),
            .steps = {},
            .breaks = make_breaks(tracks),
            .quarters = make_quarters(tracks, what.higher_is_better),
            .change = make_quarter_change(tracks),
            .trend = make_trend(tracks, found),
            .spread = make_spread(tracks, found, what)};
        for (const auto& step : found.steps)
            if (step.step.seconds >= options_.since) out.steps.push_back(step.step);
        std::ranges::stable_sort(out.steps, {}, &HistoryStep::seconds);
        return out;
    }

    static void note(const HistoryGroup& group, const GroupTracks& tracks, std::size_t lines,
                     std::vector<std::string>& notes) {
        if (lines == 0) notes.push_back(say<text::history::too_short>(group.name, fewest_samples));
        if (group.machines < fewest_machines)
            notes.push_back(say_count<text::history::too_few_machines>(group.machines, group.name,
                                                                       fewest_machines));
        const bool any = std::ranges::any_of(tracks.series, [](const SeriesTracks& series) {
            return std::ranges::any_of(series.tracks, &Track::by_run);
        });
        if (any) notes.push_back(say<text::history::by_run>(group.name, fewest_days));
    }

    const Collection& collection_;
    const HistoryOptions& options_;
    Tracks tracks_;
    FactBook book_;
    std::vector<Line> lines_;
    std::vector<ExplainedStep> steps_;
};

} // namespace

std::string_view to_string(Cause cause) {
    switch (cause) {
    case Cause::instance:
        return "instance";
    case Cause::software:
        return "software";
    case Cause::unexplained:
        break;
    }
    return "unexplained";
}

Result<History> make_history(const Collection& collection, const HistoryOptions& options) {
    auto tracks = make_tracks(collection, options);
    if (!tracks) return tl::unexpected{tracks.error()};
    return Maker{collection, options, std::move(*tracks)}.history();
}

bool is_comparable(const History& history) {
    return std::ranges::any_of(history.groups, [](const HistoryGroup& group) {
        return std::ranges::any_of(group.series,
                                   [](const auto& series) { return series.points.size() >= 2; });
    });
}

bool has_regression(const History& history) {
    return std::ranges::any_of(history.groups, [](const HistoryGroup& group) {
        return std::ranges::any_of(group.events, [](const auto& event) { return event.worse > 0; });
    });
}

} // namespace assay::report
