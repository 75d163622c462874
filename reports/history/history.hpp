// SPDX-License-Identifier: Apache-2.0
//
// "Why did it change since last quarter, and what will I get?": the series of each instance type over
// time, its change points and what explains them, its slope, and how far its machines lie apart.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::history {

/// One run of a series, or several of the same machine in the same state on the same day; where there are
/// more than can be shown, several machines over a week, a month or a quarter.
struct HistoryPoint {
    double seconds = 0; ///< since 1970
    double value = 0;
    std::optional<double> low;
    std::optional<double> high;
    std::size_t runs = 1;
    std::string machine;            ///< id; empty where it stands for several
    std::vector<std::string> files; ///< at most a few
};

ASSAY_ENUM(ChangeCause, instance, software, unexplained)

/// One thing that differs in what was recorded before and after a change.
struct ChangedFact {
    ChangeCause cause = ChangeCause::unexplained;
    std::string name; ///< "kernel", "software.onednn", "cpu_model"
    std::string before;
    std::string after;
    /// Other machines of the group on which this changed in the same way and the series stayed.
    std::size_t without_effect = 0;
};

struct ChangePoint {
    double seconds = 0; ///< of the first point after it
    /// When it can have happened: from the last point that is surely before to the first that is surely
    /// after it.
    double earliest = 0;
    double latest = 0;
    std::string machine; ///< where; empty where machines follow one another
    double before = 0;
    double after = 0;
    /// Times as good: above 1 is better.
    double ratio = 1;
    std::optional<double> low; ///< 95% interval
    std::optional<double> high;
    double p = 1; ///< of no change here, adjusted for the search and for all series
    ChangeCause cause = ChangeCause::unexplained; ///< instance before software before unexplained
    std::vector<ChangedFact> facts;
    std::string text; ///< the whole in a sentence
};

struct Trend {
    double per_year = 0; ///< relative, times as good - 1: 0.03 is 3% better a year
    double low = 0;
    double high = 0;
    bool found = false; ///< at the level of the test, over all series
    std::string text;
};

/// Between machines of one type, as they were last. Worse comes first also where low figures are better:
/// p05 is what one machine in twenty is worse than.
struct Spread {
    std::size_t machines = 0;
    double p05 = 0;
    double p50 = 0;
    double p95 = 0;
    std::optional<double> tolerance; ///< 95% of machines are better, with 95% confidence
    struct SlowestOf {
        std::size_t machines;
        double value;
    };
    std::vector<SlowestOf> slowest; ///< expected slowest of 2, 8, 64, 512
    std::string text;
};
/// Cases where only larger changes than this would be found are too noisy to tell: a factor of two.
inline constexpr double most_detectable = 1;
/// Below this many machines nothing is said about machines that were not measured.
inline constexpr std::size_t fewest_machines = 5;

struct Quarter {
    std::string name; ///< "2026 Q1"
    double value = 0; ///< geometric mean over machines, or over the points of the only one
    std::optional<double> low;
    std::optional<double> high;
    std::size_t machines = 0;
    std::size_t runs = 0;
    /// On guests: the mean over all verified replicas, those under load too, and the share of them on the fast level.
    std::optional<double> delivered;
    std::optional<double> fast_share;
};

/// The last quarter against the same one a year before, or the nearest to that.
struct QuarterChange {
    std::string from;
    std::string to;
    double ratio = 1; ///< times as good
    std::optional<double> low;
    std::optional<double> high;
    std::size_t machines = 0; ///< measured in both; 0 where other machines were measured
    /// A change point lies in between: without one a difference is noise until proven otherwise.
    bool found = false;
    std::string text; ///< "3.1% worse than 2025 Q1"
};

/// Where a new machine began: what lies before is another series.
struct SeriesBreak {
    double seconds = 0;
    std::string machine; ///< the new one
    std::string text;
};

struct HistorySeries {
    std::string identity;
    std::string family;
    std::string benchmark;
    std::string what;
    std::string name;  ///< "GEMM fp64, size 1024, all threads"
    std::string title; ///< "GEMM fp64": no more than tells it from the others of its group
    std::string library;
    std::string metric;
    std::string unit;
    bool higher_is_better = true;
    std::vector<HistoryPoint>
        points; ///< by time; aggregated where there are more than a page can show
    std::vector<ChangePoint> change_points;
    /// A change of this size that lasts would have been found on any of its machines; 0.03 is 3%. Nothing where there
    /// are too few points to look for one.
    std::optional<double> detectable;
    std::vector<SeriesBreak> breaks;
    std::vector<Quarter> quarters;
    std::optional<QuarterChange> change;
    std::optional<Trend> trend; ///< beside the change points
    std::optional<Spread> spread;
};

/// A case that changed: geometric means over the machines where it did.
struct ChangedCase {
    std::size_t series = 0; ///< index into HistoryGroup::series
    double before = 0;
    double after = 0;
    double ratio = 1; ///< times as good
};

/// Change points of several series with one cause.
struct HistoryEvent {
    double seconds = 0;  ///< of the first change
    double until = 0;    ///< of the last: machines may follow one another
    double earliest = 0; ///< when all of them can have happened, where nothing recorded dates them
    double latest = 0;
    ChangeCause cause = ChangeCause::unexplained;
    std::vector<ChangedFact> facts;
    std::vector<std::string> machines; ///< ids
    std::vector<ChangedCase> cases;    ///< those that changed most first
    std::size_t better = 0;            ///< of these
    std::size_t worse = 0;
    std::string family;       ///< of all of these, where it is one
    std::size_t measured = 0; ///< series measured on both sides
    double loss = 0;          ///< logarithms of all its changes for the worse, and for the better
    double gain = 0;
    std::string what; ///< "2 of 3 cases became 6.7% to 7.4% slower"
    std::string text;
};

struct HistoryGroup {
    std::string name; ///< instance type: "aws c7a.large"
    std::string what; ///< CPU, cores
    std::size_t runs = 0;
    std::size_t machines = 0;
    double from = 0; ///< seconds since 1970
    double to = 0;
    std::vector<HistoryEvent> events; ///< by time
    std::vector<HistorySeries> series;
};

struct HistoryOptions {
    std::string group = "instance"; ///< or another key of runs: "machine", "cpu", "tag.rack"
    double since = 0;               ///< changes from then on, compared with what lies before
    double alpha = 0.01;
    double minimum_effect = 0.01;
    std::vector<std::string> filter;
    std::size_t points = 200; ///< of a series, more are aggregated
};

struct History {
    std::string cause; ///< what disturbed values that are left out; empty where nothing did
    std::vector<HistoryGroup> groups;
    std::vector<store::Problem> not_used;
    std::vector<std::string> notes;
    std::size_t runs = 0;
    HistoryOptions options; ///< that it was made with
};
Result<History> make_history(const store::Collection& collection,
                             const HistoryOptions& options = {});

/// Is there a series with two points, and so anything to say?
bool is_comparable(const History& history);
/// Is any change one for the worse?
bool has_regression(const History& history);

} // namespace assay::history
