// SPDX-License-Identifier: Apache-2.0

#include "history/points.hpp"

#include "document/dates.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace assay::report {
namespace {

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

HistoryPoint point_of(const Collection& collection, const Bin& bin, bool higher_is_better) {
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

} // namespace

std::vector<HistoryPoint> make_points(const Collection& collection, const SeriesTracks& tracks,
                                      bool higher_is_better, std::size_t most) {
    std::vector<HistoryPoint> points;
    for (const auto& bin : choose_bins(tracks, most))
        points.push_back(point_of(collection, bin, higher_is_better));
    std::ranges::stable_sort(points, {}, &HistoryPoint::seconds);
    return points;
}

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

} // namespace assay::report
