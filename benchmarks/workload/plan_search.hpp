// SPDX-License-Identifier: Apache-2.0
//
// Which of a library's plans is the fastest, by trial: those that it lists, its other engines, and then the settings of
// the best engines, one after the other. Pure: what is timed is the caller's, or a test's.

#pragma once

#include "gemm/fastest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::workload {

/// A setting of an engine: the size of its tiles, say. Types and values are the library's own numbers.
struct Knob {
    int type;
    std::int64_t value;
    bool operator==(const Knob&) const = default;
};
struct KnobRange {
    int type;
    std::int64_t first;
    std::int64_t last;
    std::int64_t step;

    /// All, or where these are more than `most` fewer and fewer towards the end.
    std::vector<std::int64_t> values(std::int64_t most) const {
        std::vector<std::int64_t> all;
        const bool few = step <= 0 || (last - first) / std::max<std::int64_t>(step, 1) < most;
        for (std::int64_t steps = 0, at = first; at <= last && std::cmp_less(all.size(), most);
             at = first + steps * std::max<std::int64_t>(step, 1)) {
            all.push_back(at);
            steps = few ? steps + 1 : 2 * steps + 1;
        }
        return all;
    }
};

/// An engine and its settings; those that are not named have their defaults.
struct PlanPoint {
    std::int64_t engine;
    std::vector<Knob> knobs;
    bool operator==(const PlanPoint&) const = default;

    PlanPoint with(Knob knob) const {
        PlanPoint other = *this;
        const auto same = std::ranges::find(other.knobs, knob.type, &Knob::type);
        if (same == other.knobs.end())
            other.knobs.push_back(knob);
        else
            *same = knob;
        return other;
    }
};

struct PlanLimits {
    std::size_t least = 8;  ///< that work, of the list, are tried in any case
    std::size_t most = 400; ///< are tried; half of them from lists
    double seconds = 1; ///< nothing further is begun after so much time; half of it is for lists
    std::size_t engines = 2;  ///< whose settings are tried
    std::int64_t values = 32; ///< of a setting
    int rounds = 4;           ///< in which the last few are timed again
};

template <class Time, class Spent, class Ranges>
class PlanSearch {
public:
    /// time(i, point, best) gives the seconds of one call of point number i, infinity where it does not work; what
    /// takes more than twice `best` may be timed roughly. spent() gives the seconds since the search began,
    /// ranges(engine) its settings.
    PlanSearch(const PlanLimits& limits, Time time, Spent spent, Ranges ranges)
        : limits_{limits}, time_{std::move(time)}, spent_{std::move(spent)},
          ranges_{std::move(ranges)} {}

    /// The fastest of all that were tried; none where none works.
    std::optional<std::size_t> run(std::span<const PlanPoint> list,
                                   std::span<const PlanPoint> others) {
        for (const auto& points : {list, others})
            for (const PlanPoint& point : points)
                if (works_ < limits_.least || has_part(2)) attempt(point);
        for (const std::int64_t engine : best_engines()) vary(engine);
        return last_few();
    }
    /// How many work.
    std::size_t works() const { return works_; }

private:
    static constexpr double clearly = 0.995; // of the time

    /// Has less than this part of the limits been used?
    bool has_part(std::size_t part) const {
        return spent_() < limits_.seconds / static_cast<double>(part) &&
               points_.size() < limits_.most / part;
    }
    void attempt(const PlanPoint& point) {
        if (std::ranges::find(points_, point) != points_.end()) return;
        points_.push_back(point);
        seconds_.push_back(time_(points_.size() - 1, point, best_));
        if (std::isfinite(seconds_.back())) ++works_;
        best_ = std::min(best_, seconds_.back());
    }
    auto by_seconds() const {
        return [this](std::size_t i) { return std::pair{seconds_[i], i}; };
    }
    std::size_t fastest_of(std::int64_t engine) const {
        std::size_t fastest = points_.size();
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (points_[i].engine == engine &&
                (fastest == points_.size() || seconds_[i] < clearly * seconds_[fastest]))
                fastest = i;
        return fastest;
    }
    std::vector<std::int64_t> best_engines() const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (std::isfinite(seconds_[i])) order.push_back(i);
        std::ranges::sort(order, {}, by_seconds());
        std::vector<std::int64_t> engines;
        for (const std::size_t i : order)
            if (engines.size() < limits_.engines &&
                std::ranges::find(engines, points_[i].engine) == engines.end())
                engines.push_back(points_[i].engine);
        return engines;
    }
    /// Each setting in turn, the others as in the best so far, until none of them helps.
    void vary(std::int64_t engine) {
        const auto ranges = ranges_(engine);
        for (std::size_t best = points_.size(); best != fastest_of(engine);) {
            best = fastest_of(engine);
            for (const KnobRange& range : ranges) {
                const PlanPoint from = points_[fastest_of(engine)];
                for (const std::int64_t value : range.values(limits_.values)) {
                    if (!has_part(1)) return;
                    attempt(from.with({range.type, value}));
                }
            }
        }
    }
    /// Those that are nearly as fast as the best, in rounds, so that a clock that changes changes all.
    std::optional<std::size_t> last_few() {
        constexpr double nearly = 1.03;
        constexpr std::size_t most = 4;
        std::vector<std::size_t> few;
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (seconds_[i] <= nearly * best_ && std::isfinite(seconds_[i])) few.push_back(i);
        std::ranges::sort(few, {}, by_seconds());
        if (few.size() > most) few.resize(most);
        for (int round = 0; few.size() > 1 && round < limits_.rounds; ++round)
            for (const std::size_t i : few)
                seconds_[i] = std::min(seconds_[i], time_(i, points_[i], best_));
        std::ranges::sort(few);
        std::vector<double> seconds(points_.size(), std::numeric_limits<double>::infinity());
        for (const std::size_t i : few) seconds[i] = seconds_[i];
        return gemm::clearly_fastest(seconds, clearly);
    }

    PlanLimits limits_;
    Time time_;
    Spent spent_;
    Ranges ranges_;
    std::vector<PlanPoint> points_;
    std::vector<double> seconds_; // by point
    std::size_t works_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
};

} // namespace assay::workload
