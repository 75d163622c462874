// SPDX-License-Identifier: Apache-2.0
//
// What a run says, in words and numbers for people: document.cpp makes a document of it, and --json writes it. Every
// text is plain (text.hpp). A case whose result was wrong has no value here: nothing could show one.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"
#include "record/summary.hpp"
#include "report/serving.hpp"

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
using document::Roof;
using document::Severity;

/// A further metric of a case, beside its headline.
struct Figure {
    std::string title;
    std::string text;
    std::string key;              ///< the title in English: for programs
    std::optional<double> number; ///< SI base unit
    std::string unit;
    std::optional<double> low{}; ///< 95% interval
    std::optional<double> high{};
    std::string interval{}; ///< "±0.4%"
    std::string name{};     ///< as result files have it: "time"
};

/// A limit of a case's headline.
struct Bound {
    record::CeilingKind kind = record::CeilingKind::none; ///< data sheet or measured
    std::string share;                                    ///< "79%"
    std::size_t note = 0;                                 ///< index into Section::ceilings
    double number = 0;                                    ///< SI base unit
};

/// Values of one replica over time, for the strip that shows drift and modes.
struct Strip {
    std::vector<double> values; ///< seconds per call, at most 200
};

struct Row {
    std::string benchmark;               ///< gemm.square
    std::string name;                    ///< "GEMM fp64, size 1024, all threads (2)"
    std::string brief;                   ///< "GEMM fp64": what the name cannot do without
    std::string short_name;              ///< the same without what all rows of its table share
    std::string place;                   ///< "host", "cuda", "cuda:3"
    std::optional<double> bytes;         ///< of the message or footprint
    std::string what;                    ///< "fp64, size 1024, all threads (2)"
    std::vector<std::string> parts;      ///< of `what`, one per parameter
    std::vector<std::string> parameters; ///< their names
    std::string identity;                ///< the whole of it, as two runs match by
    std::string library;
    record::Status status = record::Status::ok;
    record::Knowledge knowledge = record::Knowledge::none;
    std::string value;              ///< "505 GFLOP/s"; empty where there is no figure
    std::string title;              ///< "floating point rate"
    std::string interval;           ///< "±0.4%"; empty if not known
    std::string covers;             ///< "between 3 processes"
    bool between_processes = false; ///< what it should cover
    std::vector<Bound> bounds;      ///< that of the data sheet first, then those measured
    std::vector<std::string> notes; ///< reasons, warnings of this case alone
    std::vector<Fact> details;      ///< what explains the value: the device's power and clock
    std::vector<std::string> disturbances; ///< what disturbed it, in sentences
    std::string cause;                     ///< the same in a few words
    std::vector<Figure> figures;           ///< the other metrics
    std::string settings;                  ///< "core type SkylakeX; 134 MiB"
    std::optional<double> number;          ///< of the headline, SI base unit; for charts
    std::optional<double> low;
    std::optional<double> high;
    std::string unit;
    bool higher_is_better = true;
    std::vector<Strip> strips; ///< one per replica with values; only in the first rows of a report
    bool has_matrix = false;   ///< which says what is best and worst
    bool on_curve = false;     ///< drawn as a point of one of the section's curves
};

/// Cases of a benchmark that differ in a number: curves with the same axes.
struct Sweep : document::CurveChart {
    std::string benchmark;
    std::string common; ///< parameters that all curves share
};

/// A matrix that a case measured.
struct Matrix : document::HeatMap {
    std::string benchmark;
    std::string what;  ///< the case
    std::string title; ///< of the metric
    bool higher_is_better = true;
    std::string extremes;          ///< best, worst and median of its pairs
    bool differs = false;          ///< not all pairs have the same value
    std::size_t merged = 1;        ///< each cell is the median of merged x merged of the original
    std::vector<std::string> slow; ///< who slows pairs down, in sentences
};

struct Section {
    std::string family; ///< gemm
    std::string title;  ///< "Matrix multiplication"
    std::string question;
    std::vector<Row> rows;
    std::string common; ///< parameters that all rows share, but for those on curves
    std::vector<Sweep> curves;
    std::vector<Matrix> maps;
    std::string covers;                ///< what every interval covers; empty where rows differ
    std::string library;               ///< of all rows; empty where they differ
    std::vector<std::string> ceilings; ///< where the limits come from, referred to by number
};

/// A case under the roofs.
struct RoofCase : document::RoofPoint {
    std::string identity;
    std::string benchmark;
    std::string what;
    std::string library;
};
/// Cases of one place by how much they compute for each byte they move; see roofline.hpp.
struct Roofline {
    std::string place;            ///< "host", "cuda", "cuda:3"
    std::vector<Roof> peaks;      ///< FLOP/s, the highest first
    std::vector<Roof> bandwidths; ///< B/s, the highest first
    std::vector<Roof> levels;     ///< B/s of caches, the first one first
    std::vector<RoofCase> cases;
};

/// Cases without a figure that share status and reason.
struct Missing {
    record::Status status = record::Status::skipped;
    std::string reason;
    std::vector<std::string> cases; ///< identities
};

/// How a group of cases was checked.
struct CheckedCase {
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
    std::vector<CheckedCase> checks;
    std::size_t passed = 0;
    std::size_t total = 0; ///< more than are listed in a large run
    double largest = 0;    ///< error as a share of its bound, among those that passed
};

struct Report {
    std::string label;          ///< the user's name for the run, or the machine's
    std::string source;         ///< file name
    std::string title;          ///< "AMD EPYC 9R14, 2 cores"
    std::optional<double> date; ///< the day it was started, in seconds since 1970
    std::vector<Fact> run;
    std::vector<Fact> machine;
    std::vector<Fact> software;
    std::vector<Fact> errors; ///< counters of errors
    std::string cause;        ///< "The machine was busy: ..."; empty where it was quiet
    std::string verdict;      ///< what to think of the values, in a sentence or two
    document::Tone tone = document::Tone::plain; ///< of that
    std::vector<Fact> tiles;                     ///< what the machine reached
    std::vector<Fact> summary;                   ///< five lines
    std::vector<Finding> findings;
    std::vector<Section> sections;
    std::vector<Roofline> rooflines; ///< one for each place
    Serving serving;
    std::vector<Missing> missing;
    std::vector<std::string> left_out; ///< what the plan does not contain, in sentences
    std::vector<CheckGroup> checks;
    std::optional<document::Section> soak; ///< nothing in other runs
    std::vector<std::string> caps;         ///< what was left out because the run is large
};

} // namespace assay::report
