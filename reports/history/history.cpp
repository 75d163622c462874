// SPDX-License-Identifier: Apache-2.0
#include "history/history.hpp"

#include "base/on_all_cores.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "history/attribution.hpp"
#include "history/change_points.hpp"
#include "history/facts.hpp"
#include "history/tracks.hpp"
#include "history/trends.hpp"
#include "history/words.hpp"
#include "report/findings.hpp"
#include "stats/interval.hpp"
#include "store/find.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace assay::history {

using namespace document;
namespace {

// --- points --------------------------------------------------------------------------------------

// The points of a series as they are drawn: no more than can be shown.

constexpr std::size_t files_named = 3; // of a point; the page is to stay small
/// More breaks than this are a fleet of short-lived machines: no line of the chart would be left.
constexpr std::size_t most_breaks = 20;

std::int64_t week_of(double seconds) { return day_of(seconds) / 7; }
std::int64_t month_of(double seconds) {
    constexpr double days = 30.4375; // on average
    return static_cast<std::int64_t>(static_cast<double>(day_of(seconds)) / days);
}

/// Samples that share a point, and the name of their machine where it is one.
struct Bin {
    std::string machine;
    std::vector<const Sample*> samples;
};

using Period = std::int64_t (*)(double);

std::vector<Bin> bins_of(const SeriesTracks& tracks, Period period, bool by_machine) {
    std::vector<Bin> bins;
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> known;
    for (std::size_t i = 0; i < tracks.tracks.size(); ++i)
        for (const auto& sample : tracks.tracks[i].samples) {
            const auto key = std::pair{by_machine ? i : 0, period(sample.seconds)};
            const auto [at, is_new] = known.try_emplace(key, bins.size());
            if (is_new)
                bins.push_back(
                    {.machine = by_machine ? tracks.tracks[i].machine : "", .samples = {}});
            bins[at->second].samples.push_back(&sample);
        }
    return bins;
}

/// The finest bins that are few enough.
std::vector<Bin> choose_bins(const SeriesTracks& tracks, std::size_t most) {
    std::size_t samples = 0;
    for (const auto& track : tracks.tracks) samples += track.samples.size();
    std::vector<Bin> bins;
    if (samples <= most) {
        for (const auto& track : tracks.tracks)
            for (const auto& sample : track.samples)
                bins.push_back({.machine = track.machine, .samples = {&sample}});
        return bins;
    }
    for (const bool by_machine : {true, false})
        for (const Period period : {&week_of, &month_of, &quarter_of}) {
            bins = bins_of(tracks, period, by_machine);
            if (bins.size() <= most) return bins;
        }
    return bins;
}

HistoryPoint point_of(const store::Collection& collection, const Bin& bin, bool higher_is_better) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    HistoryPoint point{.seconds = 0, .runs = 0, .machine = bin.machine, .files = {}};
    std::vector<stats::Estimate> values;
    for (const auto* sample : bin.samples) {
        values.push_back({.value = std::exp(higher_is_better ? sample->good : -sample->good),
                          .low = sample->low.value_or(unknown),
                          .high = sample->high.value_or(unknown)});
        point.seconds += sample->seconds / static_cast<double>(bin.samples.size());
        point.runs += sample->runs.size();
        for (const auto run : sample->runs)
            if (point.files.size() < files_named)
                point.files.push_back(plain(collection.runs[run].file.string()));
    }
    const auto all = stats::combine_replicas(values);
    point.value = all.value;
    if (std::isfinite(all.low)) point.low = all.low;
    if (std::isfinite(all.high)) point.high = all.high;
    if (bin.samples.size() > 1) point.files.clear(); // a few of many would mislead
    return point;
}

/// At most about `most` points, by time. Where there are more: a point for each machine and week, month
/// or quarter, else one of all machines for each of these.
std::vector<HistoryPoint> make_points(const store::Collection& collection,
                                      const SeriesTracks& tracks, bool higher_is_better,
                                      std::size_t most) {
    std::vector<HistoryPoint> points;
    for (const auto& bin : choose_bins(tracks, most))
        points.push_back(point_of(collection, bin, higher_is_better));
    std::ranges::stable_sort(points, {}, &HistoryPoint::seconds);
    return points;
}

/// Where one machine ended and another began. Machines measured side by side do not make a break.
std::vector<SeriesBreak> make_breaks(const SeriesTracks& tracks) {
    std::vector<SeriesBreak> breaks;
    double end = tracks.tracks.empty() ? 0 : tracks.tracks.front().samples.back().seconds;
    for (std::size_t i = 1; i < tracks.tracks.size(); ++i) {
        const auto& track = tracks.tracks[i];
        const double begin = track.samples.front().seconds;
        if (begin > end)
            breaks.push_back(
                {.seconds = begin,
                 .machine = track.machine,
                 .text = say<text::history::other_machine>(date_of(begin), track.machine)});
        end = std::max(end, track.samples.back().seconds);
    }
    if (breaks.size() > most_breaks) breaks.clear();
    return breaks;
}

// -------------------------------------------------------------------------------------------------

/// The CPUs of a group, the most frequent first.
std::string cpus_in_words(const store::Collection& collection, const GroupTracks& group) {
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

/// Families and benchmarks in the order in which they first come.
void sort_by_family(HistoryGroup& group) {
    std::map<std::string, std::size_t> families;
    std::map<std::string, std::size_t> benchmarks;
    for (const auto& one : group.series) {
        families.emplace(one.family, families.size());
        benchmarks.emplace(one.benchmark, benchmarks.size());
    }
    std::vector<std::size_t> order(group.series.size()); // places before
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const auto& one = group.series[i];
        return std::pair{families.at(one.family), benchmarks.at(one.benchmark)};
    });
    std::vector<HistorySeries> sorted;
    std::vector<std::size_t> place(order.size());
    for (const auto i : order) {
        place[i] = sorted.size();
        sorted.push_back(std::move(group.series[i]));
    }
    group.series = std::move(sorted);
    for (auto& event : group.events)
        for (auto& one : event.cases) one.series = place[one.series];
}

class Maker {
public:
    Maker(const store::Collection& collection, const HistoryOptions& options, Tracks tracks)
        : collection_{collection}, options_{options}, tracks_{std::move(tracks)}, book_{collection},
          lines_{lines_of(tracks_)},
          found_{find_changes(lines_, options.alpha, options.minimum_effect)},
          changes_{explain(collection, book_, tracks_, lines_, found_.found)} {}

    History history() {
        History history{.cause = report::busy_in_words(tracks_.busy),
                        .groups = {},
                        .not_used = std::move(tracks_.not_used),
                        .notes = {},
                        .options = options_};
        for (std::size_t i = 0; i < tracks_.groups.size(); ++i) {
            if (tracks_.groups[i].series.empty()) continue;
            history.groups.push_back(group(i));
            history.runs += history.groups.back().runs;
        }
        history.notes = notes(history);
        std::ranges::move(tracks_.notes, std::back_inserter(history.notes));
        return history;
    }

private:
    /// Lines and changes are in the order of groups and series.
    SeriesChanges part(std::size_t group, std::size_t series) const {
        const auto [first, last] = std::ranges::equal_range(
            lines_, std::pair{group, series}, {},
            [](const SeriesLine& line) { return std::pair{line.group, line.series}; });
        const auto from = static_cast<std::size_t>(first - lines_.begin());
        const auto to = static_cast<std::size_t>(last - lines_.begin());
        return {.lines = {first, last},
                .changes = changes_between(from, to),
                .detectable = std::span{found_.detectable}.subspan(from, to - from)};
    }
    std::span<const ExplainedChange> changes_between(std::size_t first, std::size_t last) const {
        const auto from = std::ranges::lower_bound(changes_, first, {}, &ExplainedChange::line);
        const auto to = std::ranges::lower_bound(changes_, last, {}, &ExplainedChange::line);
        return {from, to};
    }

    HistoryGroup group(std::size_t index) {
        const auto& tracks = tracks_.groups[index];
        const auto lines = std::ranges::equal_range(lines_, index, {}, &SeriesLine::group);
        const auto from = static_cast<std::size_t>(lines.begin() - lines_.begin());
        const auto own = changes_between(from, from + lines.size());
        const std::span<ExplainedChange> changes{changes_.begin() + (own.data() - changes_.data()),
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
                           .events =
                               make_events(collection_, book_, tracks_, index, lines_, changes),
                           .series = {}};
        std::erase_if(group.events, [&](const auto& e) { return e.until < options_.since; });
        group.series = all_series(index);
        set_titles(tracks, group.series);
        sort_by_family(group);
        return group;
    }
    void set_titles(const GroupTracks& tracks, std::vector<HistorySeries>& all) const {
        std::vector<NamedCase> cases;
        for (const auto& one : tracks.series) {
            const auto& what = collection_.series[one.series];
            auto more = store::conditions_in_words(one.conditions, what.parameters);
            if (!collection_.metrics.empty())
                more += (more.empty() ? "" : ", ") + metric_title(what.metric);
            cases.push_back({what.benchmark, what.parameters, what.library, std::move(more)});
        }
        auto titles = short_names(cases);
        for (std::size_t i = 0; i < all.size(); ++i) all[i].title = std::move(titles[i]);
    }
    /// Level of the test of a trend.
    double level() const {
        std::size_t count = 0;
        for (const auto& group : tracks_.groups) count += group.series.size();
        return options_.alpha / static_cast<double>(std::max<std::size_t>(count, 1));
    }

    /// Series know nothing of each other, and their slopes take time.
    std::vector<HistorySeries> all_series(std::size_t group) const {
        const auto& tracks = tracks_.groups[group].series;
        std::vector<HistorySeries> all(tracks.size());
        on_all_cores(all.size(),
                     [&](std::size_t i) { all[i] = series(tracks[i], part(group, i)); });
        return all;
    }

    HistorySeries series(const SeriesTracks& tracks, const SeriesChanges& found) const {
        const auto& what = collection_.series[tracks.series];
        const auto conditions = store::conditions_in_words(tracks.conditions, what.parameters);
        std::string rest = conditions.empty() ? "" : ", " + conditions;
        auto name = plain(case_name(what.benchmark, what.parameters) + rest);
        if (!collection_.metrics.empty()) { // of one case there may be several
            rest += fmt::format(" ({})", what.metric);
            name = say<text::words::labelled>(name, plain(metric_title(what.metric), 100));
        }
        return {.identity = plain(name_of(what) + rest),
                .family = plain(family_of(what.benchmark), 100),
                .benchmark = plain(what.benchmark, 200),
                .what = plain(conditions.empty() ? what.what : join({what.what, conditions})),
                .name = std::move(name),
                .library = plain(what.library, 100),
                .metric = plain(metric_title(what.metric), 100),
                .unit = plain(what.unit, 40),
                .higher_is_better = what.higher_is_better,
                .points = make_points(collection_, tracks, what.higher_is_better, options_.points),
                .change_points = change_points(found),
                .detectable = detectable(found),
                .breaks = make_breaks(tracks),
                .quarters = make_quarters(tracks, what.higher_is_better),
                .change = make_quarter_change(tracks, found),
                .trend = make_trend(tracks, found, level()),
                .spread = make_spread(tracks, found, what)};
    }
    std::vector<ChangePoint> change_points(const SeriesChanges& found) const {
        std::vector<ChangePoint> out;
        for (const auto& change : found.changes)
            if (change.point.seconds >= options_.since) out.push_back(change.point);
        std::ranges::stable_sort(out, {}, &ChangePoint::seconds);
        return out;
    }
    /// On the machine that shows least.
    static std::optional<double> detectable(const SeriesChanges& found) {
        if (found.detectable.empty()) return std::nullopt;
        const double most = std::ranges::max(found.detectable);
        return std::isfinite(most) ? std::optional{most} : std::nullopt;
    }

    /// Changes that cannot be told, and their groups.
    std::vector<std::string> notes(const History& history) const {
        std::vector<std::string> few;
        std::vector<std::string> brief;
        std::vector<std::string> by_run;
        for (const auto& group : history.groups)
            if (group.machines < fewest_machines) few.push_back(group.name);
        for (std::size_t i = 0; i < tracks_.groups.size(); ++i) {
            const auto& group = tracks_.groups[i];
            if (group.series.empty()) continue;
            if (std::ranges::find(lines_, i, &SeriesLine::group) == lines_.end())
                brief.push_back(group.name);
            if (std::ranges::any_of(group.series, [](const SeriesTracks& series) {
                    return std::ranges::any_of(series.tracks, &Track::by_run);
                }))
                by_run.push_back(group.name);
        }
        std::vector<std::string> out;
        constexpr std::size_t named = 6; // groups; the rest is a number
        if (!few.empty())
            out.push_back(
                say<text::history::too_few_machines>(fewest_machines, list_of(few, named)));
        if (!brief.empty())
            out.push_back(say<text::history::too_short>(fewest_samples, list_of(brief, named)));
        if (!by_run.empty())
            out.push_back(say<text::history::by_run>(fewest_days, list_of(by_run, named)));
        return out;
    }

    const store::Collection& collection_;
    const HistoryOptions& options_;
    Tracks tracks_;
    FactBook book_;
    std::vector<SeriesLine> lines_;
    Changes found_;
    std::vector<ExplainedChange> changes_;
};

} // namespace

Result<History> make_history(const store::Collection& collection, const HistoryOptions& options) {
    if (!(options.alpha > 0 && options.alpha < 1))
        return fail(
            fmt::format("--alpha: invalid value {} (expected a number between 0 and 1, e.g. 0.01)",
                        options.alpha));
    if (!(options.minimum_effect >= 0 && options.minimum_effect < 1))
        return fail(
            fmt::format("--minimum-effect: invalid value {} (expected 0 to below 1; 0.01 is 1%)",
                        options.minimum_effect));
    ASSAY_TRY(auto tracks, make_tracks(collection, options));
    return Maker{collection, options, std::move(tracks)}.history();
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

} // namespace assay::history
