// SPDX-License-Identifier: Apache-2.0
//
// "Why did it change since last quarter, and what will I get?": the series of each instance type over
// time, its steps and what explains them, its slope, and how far its machines lie apart.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::report {

/// One run of a series, or several of the same machine on the same day.
struct HistoryPoint {
    double seconds = 0; ///< since 1970
    double value = 0;
    std::optional<double> low;
    std::optional<double> high;
    std::size_t runs = 1;
    std::string machine;            ///< id
    std::vector<std::string> files; ///< at most a few
};

enum class Cause : std::uint8_t { instance, software, unexplained };
std::string_view to_string(Cause cause);

/// One thing that differs in what was recorded before and after a step.
struct ChangedFact {
    Cause cause = Cause::unexplained;
    std::string name; ///< "kernel", "software.onednn", "cpu_model"
    std::string before;
    std::string after;
};

struct HistoryStep {
    double seconds = 0; ///< of the first point after it
    double before = 0;
    double after = 0;
    /// Times as good: above 1 is better.
    double ratio = 1;
    std::optional<double> low; ///< 95% interval
    std::optional<double> high;
    double p = 1;
    Cause cause = Cause::unexplained; ///< instance before software before unexplained
    std::vector<ChangedFact> facts;
    std::string text; ///< the whole in a sentence
};

struct Trend {
    double per_year = 0; ///< relative, times as good - 1: 0.03 is 3% better a year
    double low = 0;
    double high = 0;
};

/// Between machines of one type.
struct Spread {
    std::size_t machines = 0;
    double p05 = 0; ///< of the machines' levels: what one in twenty is worse than
    double p50 = 0;
    double p95 = 0;
    std::optional<double> tolerance; ///< 95% of machines are better, with 95% confidence
    struct SlowestOf {
        std::size_t machines;
        double value;
    };
    std::vector<SlowestOf> slowest; ///< expected slowest of 2, 8, 64, 512
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
    std::string library;
    std::string metric;
    std::string unit;
    bool higher_is_better = true;
    std::vector<HistoryPoint>
        points; ///< by time; aggregated where there are more than a page can show
    std::vector<HistoryStep> steps;
    std::vector<SeriesBreak> breaks;
    std::optional<Trend> trend;
    std::optional<Spread> spread;
};

struct HistoryGroup {
    std::string name; ///< instance type: "aws c7a.large"
    std::string what; ///< CPU, cores
    std::size_t runs = 0;
    std::size_t machines = 0;
    double from = 0; ///< seconds since 1970
    double to = 0;
    std::vector<HistorySeries> series;
};

struct History {
    std::vector<HistoryGroup> groups;
    std::vector<Problem> not_used;
    std::vector<std::string> notes;
    std::size_t runs = 0;
};

struct HistoryOptions {
    std::string group = "instance"; ///< or "machine", "label", "cpu_model"
    double alpha = 0.01;
    double minimum_effect = 0.01;
    std::vector<std::string> filter;
    std::size_t points = 200; ///< of a series, more are aggregated
};
Result<History> make_history(const Collection& collection, const HistoryOptions& options = {});

} // namespace assay::report
