// SPDX-License-Identifier: Apache-2.0
//
// What a report says, in words and numbers for people, before anybody decides how it looks. Terminal,
// Markdown, HTML and JSON are drawn from this alone, so they cannot disagree. Every text is plain
// (text.hpp). A case whose result was wrong has no figure here: no renderer could show one.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::report {

using document::Curve;
using document::Fact;
using document::Finding;
using document::Mark;
using document::Point;
using document::Severity;

/// A further metric of a case, beside its headline.
struct Figure {
    std::string title;
    std::string text;
    std::string key;              ///< the title in English: for programs
    std::optional<double> number; ///< SI base unit
    std::string unit;
};

/// A further limit of a case's headline.
struct OtherCeiling {
    std::string share;            ///< "79%"; empty where it has no value
    std::size_t note = 0;         ///< index into Section::ceilings
    std::optional<double> number; ///< SI base unit
};

/// Values of one replica over time, for the strip that shows drift and modes.
struct Strip {
    std::vector<double> values; ///< seconds per call, at most 200
};

struct Row {
    std::string benchmark;          ///< gemm.square
    std::string what;               ///< "fp64, size 1024, all threads (2)"
    std::vector<std::string> parts; ///< of `what`, one per parameter
    std::string identity;           ///< the whole of it, as two runs match by
    std::string library;
    record::Status status = record::Status::ok;
    std::string value;                       ///< "505 GFLOP/s"; empty where there is no figure
    std::string title;                       ///< "floating point rate"
    std::string interval;                    ///< "±0.4%"; empty where there is none
    std::string covers;                      ///< "between 3 processes"
    std::string share;                       ///< "98%" of the ceiling; empty without one
    std::optional<std::size_t> ceiling_note; ///< index into Section::ceilings
    std::vector<std::string> notes;          ///< reasons, warnings of this case alone
    std::vector<Figure> figures;             ///< the other metrics
    std::string settings;                    ///< "core type SkylakeX; 134 MiB"
    std::optional<double> number;            ///< of the headline, SI base unit; for charts
    std::optional<double> low;
    std::optional<double> high;
    std::optional<double> ceiling;
    std::vector<OtherCeiling> other_ceilings; ///< their shares stand among the notes, too
    std::string unit;
    bool higher_is_better = true;
    std::vector<Strip> strips; ///< one per replica with values; only in the first rows of a report
    bool on_curve = false;     ///< drawn as a point of one of the section's curves
};

/// Curves with the same axes.
struct CurveChart {
    std::string benchmark;
    std::string title; ///< of the metric: "latency"
    std::string unit;  ///< of y
    bool higher_is_better = true;
    std::string x_title; ///< "footprint"
    std::string x_unit;  ///< "B" or ""
    std::string common;  ///< parameters that all curves share
    std::vector<Curve> curves;
    std::vector<Mark> marks;
};

/// A matrix that a case measured.
struct HeatMap {
    std::string benchmark;
    std::string what;  ///< the case
    std::string title; ///< of the metric
    std::string unit;
    bool higher_is_better = true;
    std::string row_title;
    std::string column_title;
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    std::vector<std::optional<double>> values; ///< row by row
    std::size_t merged = 1;        ///< each cell is the median of merged x merged of the original
    std::vector<std::string> slow; ///< who slows pairs down, in sentences
};

struct Section {
    std::string family; ///< gemm
    std::string title;  ///< "Matrix multiplication"
    std::string question;
    std::vector<Row> rows;
    std::vector<CurveChart> curves;
    std::vector<HeatMap> maps;
    std::string covers;                ///< what every interval covers; empty where rows differ
    std::vector<std::string> ceilings; ///< where the limits come from, referred to by number
};

/// A limit that was measured, in FLOP/s or B/s.
struct Roof {
    std::string name;
    double value = 0;
};
/// A case under the roofs.
struct RoofCase {
    std::string identity;
    std::string benchmark;
    std::string what;
    std::string library;
    double intensity = 0; ///< FLOP per byte
    double rate = 0;      ///< FLOP/s
};
/// Cases of one place by how much they compute for each byte they move; see roofline.hpp.
struct Roofline {
    std::string place;            ///< "host", "cuda", "cuda:3"
    std::vector<Roof> peaks;      ///< FLOP/s, the highest first
    std::vector<Roof> bandwidths; ///< B/s, the highest first
    std::vector<RoofCase> cases;
};

/// Cases without a figure that share status and reason.
struct Missing {
    record::Status status = record::Status::skipped;
    std::string reason;
    std::vector<std::string> cases; ///< identities
};

/// How a group of cases was checked.
struct Check {
    std::string what; ///< the case
    std::string error;
    std::string bound;
    bool passed = false;
    std::string detail;
};
struct CheckGroup {
    std::string benchmark;
    std::string method;
    std::string outcome; ///< "12 of 12 passed; the largest error was 34% of its bound"
    std::vector<Check> checks;
    std::size_t passed = 0;
    std::size_t total = 0; ///< more than are listed in a large run
    double largest = 0;    ///< error as a share of its bound, among those that passed
};

struct Report {
    std::string label;  ///< the user's name for the run, or the machine's
    std::string source; ///< file name
    std::string title;  ///< "AMD EPYC 9R14, 2 cores"
    std::vector<Fact> run;
    std::vector<Fact> machine;
    std::vector<Fact> software;
    std::string cause;         ///< "The machine was busy: ..."; empty where it was quiet
    std::vector<Fact> summary; ///< five lines
    std::vector<Finding> findings;
    std::vector<Section> sections;
    std::vector<Roofline> rooflines; ///< one for each place
    std::vector<Missing> missing;
    std::vector<CheckGroup> checks;
    std::vector<std::string> caps; ///< what was left out because the run is large
};

struct ReportOptions {
    std::string label;
    std::string source;
    std::size_t strip_rows =
        100; ///< rows that keep their batch values: 100 x 600 dots stay printable
    std::size_t listed_checks = 200; ///< passed checks listed; those that failed always are
};
Report make_report(const record::Run& run, const ReportOptions& options = {});

} // namespace assay::report
