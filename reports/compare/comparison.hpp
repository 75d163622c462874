// SPDX-License-Identifier: Apache-2.0
//
// "Is B really faster than A, and by how much?", answered for every series that both sides have: a model
// that the document, CSV and JSON are made from.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "document/document.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

ASSAY_ENUM(ContrastOutcome, better, worse,
           same,        // a difference of the minimum effect would have been seen
           cannot_tell, // too few or too noisy data: `detectable` says below what
           missing)     // no figure on one of the sides

/// Why there is no verdict, where it is not the noise of the values alone.
ASSAY_ENUM(
    NoVerdict, none,
    disturbed,  // one side or both were under load or rough: see RatioKind
    two_levels, // the difference lies within the levels between which replicas of a side alternate
    cpus_moved, // a hypervisor had put the CPUs of the sides at different distances
    between_times, // smaller than what runs at different times may differ by
    zero)          // there is no ratio to nothing: at most an order
/// Meaning of the ratio. A value measured under load (record::Knowledge::at_least, rough) shows what its side can do at
/// least, so that beside a known value it bounds the ratio on one side.
ASSAY_ENUM(RatioKind, exact, at_least, at_most,
           about) // both sides were under load or rough: no interval either

/// The standard deviation of the logarithm between runs at different times.
struct BetweenRuns {
    double deviation = 0;
    std::size_t history =
        0; ///< runs of the machine that show it; 0: a default for the kind of benchmark
};

/// One side against the first.
struct Contrast {
    ContrastOutcome outcome = ContrastOutcome::missing;
    RatioKind kind = RatioKind::exact; ///< at_least has no `high`, at_most no `low`
    /// Times as good: above 1 is better, also where a low figure is (half the latency is 2).
    std::optional<double> ratio;
    std::optional<double> low; ///< 95% interval
    std::optional<double> high;
    std::optional<double> p;          ///< adjusted for the number of series in the table
    std::optional<double> detectable; ///< the smallest change that would be found: 0.03 is 3%
    bool paired = false;
    NoVerdict no_verdict = NoVerdict::none;
    std::string about{}; ///< which side, and why: "A: the hypervisor took 12%"
    std::optional<BetweenRuns> between_runs{}; ///< where runs were too few to show it themselves
};

/// A series on one side.
struct Cell {
    std::optional<double> value; ///< geometric mean over its units of replication
    std::optional<double> low;   ///< 95% interval
    std::optional<double> high;
    std::size_t count = 0;      ///< units of replication behind it
    std::vector<double> values; ///< one for each unit, in time order; at most 200
    std::string library;        ///< of the best one, in tables by question
    std::optional<double> share_of_ceiling;
    /// On rented guests: the mean over all verified replicas, slow ones too, and the share of these on the fast level.
    std::optional<double> delivered;
    std::optional<double> fast_share;
    record::Knowledge knowledge = record::Knowledge::none;
    std::optional<Contrast> contrast; ///< absent on the first side
    std::vector<std::string> notes;   ///< "unstable in 2 of 6 runs"
};

struct ComparedRow {
    std::string identity; ///< the series in words, whole: unique in its table
    std::string family;   ///< gemm
    std::string benchmark;
    std::string what;    ///< "fp64, size 1024, all threads"
    std::string name;    ///< "GEMM fp64, size 1024, all threads"
    std::string beside;  ///< the device, and conditions that are not as usual
    std::string extra;   ///< values of row keys that belong to runs
    std::string library; ///< empty in tables by question
    std::size_t libraries =
        1; ///< that have a figure on any side; of interest in tables by question
    record::NamedList parameters;
    std::string metric; ///< title: "floating point rate"
    std::string unit;
    bool higher_is_better = true;
    bool common = false;     ///< counted by the means: every side has an exact ratio
    std::vector<Cell> cells; ///< one for each side
};

/// How many more values would show a change of `shows` (0.05 is 5%).
struct MoreValues {
    std::size_t count = 0; ///< a side; of pairs: pairs
    double shows = 0;
    bool are_pairs = false; ///< interleaved, which takes one machine
};

/// Geometric mean of the ratios of rows that every side has, under the test of a row. For one row it is that row's.
struct MeanRatio : Contrast {
    std::size_t count = 0;            ///< rows behind it
    std::optional<MoreValues> more{}; ///< where it cannot be told
};

/// A side in the order of the overall ratio.
struct Ranked {
    std::size_t side = 0;
    std::size_t rank = 1;                 ///< that of the one before where neither is faster
    std::optional<MeanRatio> over_next{}; ///< against the one behind
};

struct Tally {
    std::size_t better = 0;
    std::size_t worse = 0;
    std::size_t same = 0;
    std::size_t cannot_tell = 0;
    std::size_t missing = 0;
};

struct ComparedTable {
    std::string name;  ///< the value of the table's key: a family
    std::string title; ///< "Matrix multiplication"
    std::string question;
    std::vector<ComparedRow> rows;
    std::vector<MeanRatio> means; ///< one for each side; the first is 1
    std::vector<Tally> tallies;
};

struct ComparedSide {
    std::string label;
    std::string
        what; ///< "AMD EPYC 9R14, c7a.large: 12 runs on 4 machines, 2026-01-03 to 2026-02-11"
    std::optional<double> threads{}; ///< of each machine, where all have as many: vCPU
    std::optional<double> cores{};
    std::optional<double> memory{}; ///< bytes
    std::size_t runs = 0;
    std::size_t machines = 0;
    std::size_t measured = 0;             ///< series with a figure: coverage is this of all series
    std::vector<std::string> campaigns{}; ///< of its runs; several are pooled
    bool uses_devices = false;            ///< to what they do, no share of the cores says anything
    std::vector<std::string> files;
};

enum class NotComparedCode : std::uint8_t {
    other,
    unlike,     // both sides have something like it
    file,       // no case: an input that was not used
    no_verdict, // compared, but under load, at levels, on moved CPUs
};
/// A case that could not be compared, and why: unlike parameters, other versions, unreadable files, ...
struct NotCompared {
    std::string what;
    std::string reason;
    std::vector<std::string> where{};
    std::string cause{}; ///< in short, alike for many: "different parameters"; empty: the reason
    NotComparedCode code = NotComparedCode::other;
};

enum class Correction : std::uint8_t { false_discovery, family_wise };
ASSAY_NAMES(Correction, "benjamini_hochberg, holm")
/// Kind of one independent value: a process, a run (of several on one machine), a machine (of several).
ASSAY_ENUM(Unit, replica, run, machine)

struct Comparison {
    std::vector<ComparedSide> sides;      ///< the others are compared with the first
    std::vector<ComparedTable> tables;    ///< library by library
    std::vector<ComparedTable> questions; ///< the best library of each side
    std::vector<ComparedTable>
        others;            ///< further metrics, by library: tested by themselves, part of no mean
    bool by_family = true; ///< otherwise tables are what the user chose
    /// The mean over `tables`, one for each side: every family counts alike. No ratio where too few cases are common.
    std::vector<MeanRatio> overall;
    std::vector<Ranked> ranking; ///< the fastest first; empty without an overall ratio
    std::vector<Tally> tallies;
    std::vector<Tally> question_tallies; ///< of `questions`
    std::size_t series = 0;              ///< in the union of all sides
    std::size_t tests = 0;               ///< that p values are adjusted for
    double alpha = 0.01;
    Correction correction = Correction::false_discovery;
    double minimum_effect = 0.01;
    Unit unit = Unit::replica;
    bool paired = false;
    std::vector<std::string> notes;
    std::vector<NotCompared> not_compared;
};

struct CompareOptions {
    double alpha = 0.01;
    Correction correction = Correction::false_discovery;
    double minimum_effect = 0.01; ///< smaller changes are never called
    /// Keys that make tables, rows and columns, as in benchstat; see store/keys.hpp.
    std::vector<std::string> table{"family"};
    std::vector<std::string> row;
    std::vector<std::string> column{"label"};
    std::vector<std::string> filter; ///< "library=openblas", "family!=md"
    std::vector<std::string>
        across{};         ///< "device", "backend": one row for all of them, each side by its best
    std::string baseline; ///< label of the side to compare with; empty: the first
};
/// Fails where the options make no sense or fewer than two sides are left.
Result<Comparison> compare(const store::Collection& collection, const CompareOptions& options = {});
/// Is there any series that two sides have?
bool has_common(const Comparison& comparison);

// --- document ------------------------------------------------------------------------------------
// A comparison as a document: verdict, ranking, families, every case.

document::Document make_document(const Comparison& comparison);

/// Is the mean over so many rows an overall ratio? Not that of few of the cases that any side measured, nor, of two
/// sides, that of few of those that have a ratio.
bool stands_for_all(const Comparison& comparison, std::size_t common);

} // namespace assay::compare
