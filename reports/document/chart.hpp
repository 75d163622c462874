// SPDX-License-Identifier: Apache-2.0
//
// Charts as data. The end has their keys in a page; page/src/data.ts is made from that.

#pragma once

#include "base/fields.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay::document {

struct Point {
    double x = 0;
    std::string x_text{}; ///< "64 KiB"
    double y = 0;
    std::optional<double> low{};
    std::optional<double> high{};
    std::string y_text{}; ///< "3.91 ns"
    bool unstable = false;
};
/// Cases that differ in one number only, in the order of that number.
struct Curve {
    std::string label{}; ///< what sets it apart from the other curves of its chart
    std::vector<Point> points{};
    std::vector<std::string> levels{}; ///< plateaus found: "1.24 ns up to 32 KiB"
    std::size_t side = 0;              ///< of a comparison, from 1
};
/// A place on the x axis worth knowing: where a declared cache ends.
struct Mark {
    double x = 0;
    std::string text{};
};
/// Curves with the same axes.
struct CurveChart {
    std::string unit{}; ///< of y
    std::string y_title{};
    std::string x_title{}; ///< "footprint"
    std::string x_unit{};  ///< "B" or ""
    bool higher_is_better = true;
    std::vector<Curve> curves{};
    std::vector<Mark> marks{};
};

/// A matrix, drawn in colours.
struct HeatMap {
    std::string unit{};
    std::string row_title{};
    std::string column_title{};
    std::vector<std::string> rows{};
    std::vector<std::string> columns{};
    std::vector<std::optional<double>> values{}; ///< row by row
    bool ratio = false; ///< of times as good: 1 in the middle of a logarithmic scale
};

/// A limit that was measured, in FLOP/s or B/s.
struct Roof {
    std::string name{};
    double value = 0;
};
struct RoofPoint {
    std::string label{};
    double intensity = 0; ///< FLOP per byte
    double rate = 0;      ///< FLOP/s
};
struct RooflineChart {
    std::vector<Roof> peaks{};      ///< FLOP/s, the highest first
    std::vector<Roof> bandwidths{}; ///< B/s, the highest first
    std::vector<Roof> levels{};     ///< B/s of caches, the first one first: no limits of the points
    std::vector<RoofPoint> points{};
};

/// Ratios with their intervals: a forest plot.
struct Ratio {
    std::string label{};
    std::size_t side = 0; ///< from 2: the others are compared with the first
    double ratio = 1;
    std::optional<double> low{};
    std::optional<double> high{};
    std::string outcome{};        ///< code
    std::string text{};           ///< "1.25x [1.20, 1.30]"
    std::optional<double> mark{}; ///< a bound of its own
    std::optional<double> from{}; ///< start of a waterfall's bar; otherwise that of the axis
};
struct RatioChart {
    /// "": times as good, bars from 1; "share": in percent, bars from 0, a bullet chart; otherwise a currency, bars from
    /// 0: "USD", "USD/h".
    std::string unit{};
    std::vector<Ratio> ratios{}; ///< of one label follow each other
};

struct TimePoint {
    double seconds = 0; ///< since 1970
    double value = 0;
    std::optional<double> low{};
    std::optional<double> high{};
    std::string label{}; ///< machine, runs
};
struct TimeMark {
    double seconds = 0;
    std::string text{};
    std::string outcome{}; ///< "better", "worse", "" where another series begins
};
struct TimeChart {
    std::string unit{};
    bool higher_is_better = true;
    std::vector<TimePoint> points{};
    std::vector<TimeMark> marks{};
};

/// A type of machine in a ranking: the logarithm of its speed at each measure, relative to the type of the first offer.
struct RankedType {
    std::vector<double> logs{};
};
struct RankedMeasure {
    std::string label{};
    double weight = 0; ///< a share: they sum to 1
};
/// An offer: what an hour of use costs is price (over utilisation, unless it is paid by use; times what a commitment is
/// longer than the term) + other.
struct RankedChoice {
    std::string label{};
    std::size_t type = 0;
    double price = 0;
    double other = 0;
    bool by_use = false;
    double commitment = 0; ///< months; 0: none
    /// The probability that it is the best, of the inputs as given.
    std::optional<double> best{};
};
/// Work for the money, which a page computes anew when prices, weights or terms are changed.
struct RankingChart {
    std::string currency{};
    std::vector<RankedMeasure> measures{};
    std::vector<RankedType> types{};
    std::vector<RankedChoice> choices{};
    double term = 12; ///< months
    double utilisation = 1;
};

struct Chart {
    std::string title{};
    std::string caption{};            ///< below it, one line
    std::vector<std::string> notes{}; ///< what it shows, in sentences: in every format
    /// What a terminal and Markdown show in its place; a page reads it to who cannot see.
    std::vector<std::string> lines{};
    std::variant<CurveChart, HeatMap, RooflineChart, RatioChart, TimeChart, RankingChart> data{};
};

// --- chart layout --------------------------------------------------------------------------------
// Keys of charts in the data of a page: one list for the writer and for page/src/data.ts, which is made from it
// (tests/unit/reports/page_types_test.cpp compares the two).

ASSAY_FIELDS(Point, x, y, low, high)
ASSAY_FIELDS(Curve, label, side, points)
ASSAY_FIELDS(Mark, x, text)
ASSAY_FIELDS(CurveChart, unit, y_title, x_title, x_unit, higher_is_better, curves, marks)
ASSAY_FIELDS(HeatMap, unit, row_title, column_title, rows, columns, values, ratio)
ASSAY_FIELDS(Roof, name, value)
ASSAY_FIELDS(RoofPoint, label, intensity, rate)
ASSAY_FIELDS(RooflineChart, peaks, bandwidths, levels, points)
ASSAY_FIELDS(Ratio, label, side, ratio, low, high, outcome, text, mark, from)
ASSAY_FIELDS(RatioChart, unit, ratios)
ASSAY_FIELDS(TimePoint, seconds, value, low, high, label)
ASSAY_FIELDS(TimeMark, seconds, text, outcome)
ASSAY_FIELDS(TimeChart, unit, higher_is_better, points, marks)
ASSAY_FIELDS(RankedMeasure, label, weight)
ASSAY_FIELDS(RankedType, logs)
ASSAY_FIELDS(RankedChoice, label, type, price, other, by_use, commitment, best)
ASSAY_FIELDS(RankingChart, currency, measures, types, choices, term, utilisation)

} // namespace assay::document
