// SPDX-License-Identifier: Apache-2.0

#include "history/trends.hpp"

#include "document/text.hpp"
#include "history/words.hpp"
#include "stats/difference.hpp"
#include "stats/history.hpp"
#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace assay::history {

using namespace document;
namespace {

constexpr double year_seconds = 365.25 * 86400;
/// A slope per year of less than this would be made of a few weeks.
constexpr double shortest_trend = year_seconds / 2;
/// Pairs of points that a slope is the median of grow with the square of this.
constexpr std::size_t most_trend_points = 200;
/// Fewer that rise from each to the next do so by chance too often.
constexpr std::size_t fewest_for_drift = 12;

using ByMachine = std::map<std::string_view, std::vector<double>>; // how good, by machine

std::map<std::int64_t, ByMachine> by_quarter(const SeriesTracks& tracks) {
    std::map<std::int64_t, ByMachine> quarters;
    for (const auto& track : tracks.tracks)
        for (const auto& sample : track.samples)
            quarters[quarter_of(sample.seconds)][track.machine].push_back(sample.good);
    return quarters;
}

/// A value for each machine; for the only one its samples.
std::vector<double> independent(const ByMachine& machines) {
    if (machines.size() == 1) return machines.begin()->second;
    std::vector<double> means;
    for (const auto& [machine, good] : machines) means.push_back(stats::mean(good));
    return means;
}

/// Oriented logarithms of a sample without the changes before it.
double without_changes(const SeriesChanges& changes, const std::string& machine, double seconds,
                       double good) {
    for (const auto& change : changes.changes)
        if (change.point.machine == machine && change.point.seconds <= seconds)
            good -= std::log(change.point.ratio);
    return good;
}

struct TrendPoint {
    double years;
    double good;
};

/// Neighbours in time are put together by their medians.
std::vector<TrendPoint> fewer(std::vector<TrendPoint> points) {
    std::ranges::stable_sort(points, {}, &TrendPoint::years);
    const std::size_t together = (points.size() + most_trend_points - 1) / most_trend_points;
    if (together <= 1) return points;
    std::vector<TrendPoint> out;
    for (std::size_t i = 0; i < points.size(); i += together) {
        std::vector<double> years;
        std::vector<double> good;
        for (std::size_t k = i; k < std::min(i + together, points.size()); ++k) {
            years.push_back(points[k].years);
            good.push_back(points[k].good);
        }
        out.push_back({stats::median(years), stats::median(good)});
    }
    return out;
}

/// Within machines where they were measured often enough, otherwise from machine to machine.
std::vector<TrendPoint> trend_points(const SeriesTracks& tracks, const SeriesChanges& changes) {
    std::vector<TrendPoint> within;
    for (const auto& track : tracks.tracks) {
        if (track.samples.size() < fewest_samples) continue;
        std::vector<TrendPoint> points;
        double sum = 0;
        for (const auto& sample : track.samples) {
            points.push_back(
                {sample.seconds / year_seconds,
                 without_changes(changes, track.machine, sample.seconds, sample.good)});
            sum += points.back().good;
        }
        for (auto& point : points) {
            point.good -= sum / static_cast<double>(points.size());
            within.push_back(point);
        }
    }
    if (within.size() >= tracks.machines.size() && !within.empty()) return within;
    std::vector<TrendPoint> between;
    for (const auto& sample : tracks.machines)
        between.push_back({sample.seconds / year_seconds,
                           without_changes(changes, "", sample.seconds, sample.good)});
    return between;
}

/// Means of the machines' last levels: how they are now.
std::vector<double> present_levels(const SeriesTracks& tracks, const SeriesChanges& changes) {
    double last = 0;
    for (const auto& track : tracks.tracks) last = std::max(last, track.samples.back().seconds);
    std::vector<double> levels;
    for (const auto& track : tracks.tracks) {
        double from = last - year_seconds;
        for (const auto& change : changes.changes) // of its own, or from machine to machine
            if (change.point.machine.empty() || change.point.machine == track.machine)
                from = std::max(from, change.point.seconds);
        std::vector<double> good;
        for (const auto& sample : track.samples)
            if (sample.seconds >= from) good.push_back(sample.good);
        if (!good.empty()) levels.push_back(stats::mean(good));
    }
    return levels;
}

} // namespace

static void deliver(Quarter& quarter, std::int64_t number, const SeriesTracks& tracks,
                    bool higher_is_better) {
    std::vector<double> good;
    std::vector<double> shares;
    for (const auto& run : tracks.delivered) {
        if (quarter_of(run.seconds) != number) continue;
        good.push_back(run.good);
        shares.push_back(run.share);
    }
    if (good.empty()) return;
    const double mean = stats::mean(good);
    quarter.delivered = std::exp(higher_is_better ? mean : -mean);
    quarter.fast_share = stats::mean(shares);
}

std::vector<Quarter> make_quarters(const SeriesTracks& tracks, bool higher_is_better) {
    std::map<std::int64_t, std::size_t> runs;
    for (const auto& track : tracks.tracks)
        for (const auto& sample : track.samples)
            runs[quarter_of(sample.seconds)] += sample.runs.size();
    std::vector<Quarter> quarters;
    for (const auto& [number, machines] : by_quarter(tracks)) {
        std::vector<stats::Estimate> values;
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        for (const double good : independent(machines))
            values.push_back({std::exp(higher_is_better ? good : -good), unknown, unknown});
        const auto all = stats::combine_replicas(values);
        Quarter quarter{.name = quarter_name(number),
                        .value = all.value,
                        .machines = machines.size(),
                        .runs = runs[number]};
        if (std::isfinite(all.low)) quarter.low = all.low;
        if (std::isfinite(all.high)) quarter.high = all.high;
        deliver(quarter, number, tracks, higher_is_better);
        quarters.push_back(std::move(quarter));
    }
    return quarters;
}

std::optional<QuarterChange> make_quarter_change(const SeriesTracks& tracks,
                                                 const SeriesChanges& changes) {
    const auto quarters = by_quarter(tracks);
    if (quarters.size() < 2) return std::nullopt;
    const auto& [last, now] = *quarters.rbegin();
    constexpr std::int64_t year = 4; // quarters
    const auto* from = &*quarters.begin();
    for (const auto& quarter : quarters)
        if (quarter.first != last &&
            std::abs(quarter.first - (last - year)) <= std::abs(from->first - (last - year)))
            from = &quarter;
    const auto& before = from->second;
    std::vector<double> differences;
    for (const auto& [machine, good] : now)
        if (const auto old = before.find(machine); old != before.end())
            differences.push_back(stats::mean(good) - stats::mean(old->second));
    const bool paired = differences.size() >= 2;
    const auto one = independent(before);
    const auto other = independent(now);
    const auto difference =
        paired ? stats::paired_difference(differences,
                                          {.variance = stats::variance(differences),
                                           .degrees = static_cast<double>(differences.size() - 1)})
               : stats::difference(one, other, stats::pooled_variance(one, other));
    QuarterChange change{.from = quarter_name(from->first),
                         .to = quarter_name(last),
                         .ratio = std::exp(difference.log_ratio),
                         .machines = differences.size()};
    if (std::isfinite(difference.low)) change.low = std::exp(difference.low);
    if (std::isfinite(difference.high)) change.high = std::exp(difference.high);
    change.found = std::ranges::any_of(changes.changes, [&](const ExplainedChange& each) {
        const auto quarter = quarter_of(each.point.seconds);
        return from->first <= quarter && quarter <= last && each.better == (change.ratio > 1);
    });
    change.text = change_in_words(change);
    return change;
}

std::optional<Trend> make_trend(const SeriesTracks& tracks, const SeriesChanges& changes,
                                double level) {
    const auto points = fewer(trend_points(tracks, changes));
    if (points.size() < fewest_samples ||
        (points.back().years - points.front().years) * year_seconds < shortest_trend)
        return std::nullopt;
    std::vector<double> years;
    std::vector<double> good;
    for (const auto& point : points) {
        years.push_back(point.years);
        good.push_back(point.good);
    }
    const auto slope = stats::theil_sen(years, good);
    if (!std::isfinite(slope.value)) return std::nullopt;
    const auto wide = stats::theil_sen(years, good, 1 - level);
    Trend trend{.per_year = std::expm1(slope.value),
                .low = std::expm1(slope.low),
                .high = std::expm1(slope.high),
                .found = points.size() >= fewest_for_drift && (wide.low > 0 || wide.high < 0)};
    trend.text = trend_in_words(trend);
    return trend;
}

std::optional<Spread> make_spread(const SeriesTracks& tracks, const SeriesChanges& changes,
                                  const decide::Series& series) {
    const auto levels = present_levels(tracks, changes);
    if (levels.size() < fewest_machines) return std::nullopt;
    const double up = series.higher_is_better ? 1 : -1;
    const auto value = [&](double good) { return std::exp(up * good); };
    Spread spread{.machines = levels.size(),
                  .p05 = value(stats::quantile(levels, 0.05)),
                  .p50 = value(stats::quantile(levels, 0.5)),
                  .p95 = value(stats::quantile(levels, 0.95))};
    const double bound = stats::lower_tolerance_bound(levels);
    if (std::isfinite(bound)) spread.tolerance = value(bound);
    std::vector<double> values; // worst is least
    for (const double level : levels) values.push_back(up * value(level));
    for (const std::size_t machines :
         {std::size_t{2}, std::size_t{8}, std::size_t{64}, std::size_t{512}})
        spread.slowest.push_back({machines, up * stats::expected_smallest(values, machines)});
    spread.text = spread_in_words(spread, series.unit);
    return spread;
}

} // namespace assay::history
