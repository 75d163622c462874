// SPDX-License-Identifier: Apache-2.0
//
// What the report of a run answers first, and how it names and shows values.

#include "document/language.hpp"
#include "document/words.hpp"
#include "rendered.hpp"
#include "report/answer.hpp"
#include "report/curves.hpp"
#include "report/pairs.hpp"
#include "sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace assay::report {
namespace {

using document::Tone;
using record::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class OfARun : public testing::Test {
protected:
    void TearDown() override { use_language(Language::en); }
};

/// Two cases that are all right.
record::Run quiet_run() {
    auto run = test::golden_run();
    run.cases.erase(run.cases.begin() + 2, run.cases.end());
    for (auto& c : run.cases) c.warnings.clear();
    run.machine.huge_pages = "madvise";
    return run;
}

record::Case message(std::int64_t bytes, double seconds, const char* metric = "bus_bandwidth") {
    record::Case c{.benchmark = "collective.allreduce",
                   .place = {.kind = "host"},
                   .library = "mpi",
                   .parameters = {{"ranks", "all"}, {"bytes", bytes}},
                   .headline = metric,
                   .status = Status::ok};
    const auto time = record::Metric{.name = "time",
                                     .unit = "s",
                                     .higher_is_better = false,
                                     .value = seconds,
                                     .low = seconds * 0.99,
                                     .high = seconds * 1.01};
    if (c.headline != "time")
        c.metrics.push_back(
            {.name = metric, .unit = "B/s", .value = static_cast<double>(bytes) / seconds});
    c.metrics.push_back(time);
    return c;
}

const Fact* tile_named(const Report& report, const std::string& name) {
    const auto found = std::ranges::find(report.tiles, name, &Fact::name);
    return found == report.tiles.end() ? nullptr : &*found;
}

std::vector<document::Table> tables_of(const document::Document& document) {
    std::vector<document::Table> tables;
    for (const auto& section : document.sections)
        for (const auto& block : section.blocks)
            if (const auto* table = std::get_if<document::Table>(&block)) tables.push_back(*table);
    return tables;
}
std::vector<document::Chart> charts_of(const document::Document& document) {
    std::vector<document::Chart> charts;
    for (const auto& section : document.sections)
        for (const auto& block : section.blocks)
            if (const auto* chart = std::get_if<document::Chart>(&block)) charts.push_back(*chart);
    return charts;
}

TEST_F(OfARun, TheVerdictSaysWhetherToTrustIt) {
    auto run = quiet_run();
    auto report = make_report(run);
    EXPECT_EQ(report.verdict, "All 2 values are verified and reliable.");
    EXPECT_EQ(report.tone, Tone::good);
    run.cases[1].status = Status::unstable;
    report = make_report(run);
    EXPECT_EQ(report.verdict, "All 2 values are verified; 1 of them is not reliable.");
    EXPECT_EQ(report.tone, Tone::weak);
    run.cases[0].verification->passed = false;
    report = make_report(run);
    EXPECT_THAT(report.verdict,
                StartsWith("1 result is WRONG: GEMM fp64, size 2048, all threads (2) (openblas). "
                           "Do not use this library here."));
    EXPECT_EQ(report.tone, Tone::bad);
    run = quiet_run();
    run.cases[0].status = Status::crashed;
    run.cases[0].metrics.clear();
    report = make_report(run);
    EXPECT_THAT(report.verdict, StartsWith("1 case failed, crashed or timed out."));
    EXPECT_EQ(report.tone, Tone::weak);
    EXPECT_EQ(make_report({}).verdict, "Nothing was measured.");
}

TEST_F(OfARun, TheVerdictOnDisturbedValuesNamesTheCause) {
    auto run = quiet_run();
    for (auto& c : run.cases) {
        c.status = Status::disturbed;
        c.spread = record::Spread{.replicas = 2};
        c.replicas.front().telemetry.disturbed_by = {
            {.code = record::DisturbanceCode::foreign_cpu,
             .values = {{"share", 0.6}, {"programs", std::string{"make"}}}}};
    }
    const auto report = make_report(run);
    EXPECT_EQ(report.verdict, "Do not quote: 2 of 2 values were disturbed. The machine was busy: "
                              "make used up to 60% of the CPU.");
    EXPECT_EQ(report.tone, Tone::bad);
    EXPECT_THAT(report.findings.front().what, HasSubstr("2 stay disturbed"));
    EXPECT_THAT(report.findings.front().action, HasSubstr("Stop them"));
}

TEST_F(OfARun, LostDataIsSaidFirst) {
    auto run = quiet_run();
    run.error_counters = {
        {.source = "edac", .device = "mc0", .counter = "ue_count", .before = 0, .after = 1}};
    const auto report = make_report(run);
    EXPECT_THAT(report.verdict, StartsWith("Counters of uncorrected errors rose"));
    EXPECT_EQ(report.tone, Tone::bad);
    ASSERT_THAT(report.errors, SizeIs(1));
    EXPECT_EQ(report.errors[0].text, "0 → 1");
}

TEST_F(OfARun, AnImportedOneIsNotCalledVerified) {
    auto run = quiet_run();
    for (auto& c : run.cases) c.verification.reset();
    run.imported = record::Imported{.tool = "osu"};
    const auto report = make_report(run);
    EXPECT_EQ(report.verdict, "2 values of osu, not verified by assay.");
    EXPECT_EQ(report.tone, Tone::plain);
}

TEST_F(OfARun, TilesHoldTheBestOfEachKind) {
    const auto report = make_report(test::golden_run());
    const auto* gemm = tile_named(report, "GEMM fp32");
    ASSERT_NE(gemm, nullptr);
    EXPECT_EQ(gemm->text, "226 GFLOP/s");
    EXPECT_EQ(gemm->detail, "±0.48%, 101% of bound, onednn");
    EXPECT_EQ(gemm->tone, Tone::plain);
    EXPECT_EQ(tile_named(report, "Peak fp32"), nullptr) << "the product says how near it comes";
    // The fastest of the reliable ones, and the memory itself, not a cache.
    EXPECT_EQ(tile_named(report, "Memory bandwidth")->text, "45.1 GB/s");
    EXPECT_EQ(tile_named(report, "Memory latency")->text, "105 ns");
}

TEST_F(OfARun, AnUnreliableTileSaysSo) {
    auto run = quiet_run();
    run.cases.resize(1);
    run.cases[0].status = Status::unstable;
    EXPECT_EQ(tile_named(make_report(run), "GEMM fp64")->tone, Tone::weak);
}

TEST_F(OfARun, ASmallMessageIsATimeAndALargeOneABandwidth) {
    record::Run run;
    run.cases = {message(8, 331e-9), message(1 << 24, 5e-3)};
    const auto report = make_report(run);
    ASSERT_NE(tile_named(report, "All-reduce 8 B"), nullptr);
    EXPECT_EQ(tile_named(report, "All-reduce 8 B")->text, "331 ns");
    EXPECT_EQ(tile_named(report, "All-reduce 16 MiB")->text, "3.36 GB/s");
    const auto tables = tables_of(make_document(report));
    const auto& values = tables.at(0);
    EXPECT_EQ(values.rows.at(0).cells.at(2).text, "331 ns");
    EXPECT_EQ(values.rows.at(1).cells.at(2).text, "3.36 GB/s");
    EXPECT_THAT(tables.at(1).rows.at(0).cells.at(2).text, HasSubstr("24.2 MB/s"));
}

TEST_F(OfARun, TheBestOfImportedTimesIsNoEmptyMessage) {
    record::Run run;
    for (const auto& [bytes, seconds] :
         {std::pair{0, 33.8e-6}, std::pair{8, 35e-6}, std::pair{1 << 20, 9e-4}})
        run.cases.push_back(message(bytes, seconds, "time"));
    for (const char* benchmark : {"collective.allreduce", "external.osu_allreduce"}) {
        for (auto& c : run.cases) c.benchmark = benchmark;
        const auto report = make_report(run);
        ASSERT_THAT(report.tiles, SizeIs(1)) << benchmark;
        EXPECT_THAT(report.tiles[0].name, HasSubstr("8 B"));
        EXPECT_EQ(report.tiles[0].text, "35.0 µs");
    }
}

TEST_F(OfARun, AValueThatIsHardlyKnownIsGrey) {
    auto run = quiet_run();
    auto& metric = run.cases[0].metrics.front();
    metric.low = *metric.value * 0.6;
    metric.high = *metric.value * 1.4;
    const auto report = make_report(run);
    const auto cell = tables_of(make_document(report)).at(0).rows.at(0).cells.at(2);
    EXPECT_EQ(cell.text, "not measurable here (about 105 GFLOP/s)");
    EXPECT_EQ(cell.tone, Tone::quiet);
    EXPECT_EQ(tile_named(report, "GEMM fp64")->text, "about 105 GFLOP/s");
    EXPECT_THAT(report.verdict, HasSubstr("1 of them is not reliable"));
}

TEST_F(OfARun, AWrongResultHasNoValueAnywhereAndIsTheFirstFinding) {
    auto run = quiet_run();
    run.cases[0].status = Status::incorrect;
    run.cases[0].verification->passed = false;
    const auto report = make_report(run);
    EXPECT_EQ(report.findings.front().severity, Severity::serious);
    const auto tables = tables_of(make_document(report));
    const auto& row = tables.at(0).rows.at(0);
    EXPECT_EQ(row.cells[2].text, "");
    EXPECT_FALSE(row.cells[2].number.has_value());
    EXPECT_EQ(row.cells[4].tone, Tone::bad);
    for (const auto& table : tables)
        for (const auto& other : table.rows)
            if (other.cells.size() > 2 && other.cells[0].text == row.cells[0].text) {
                EXPECT_FALSE(other.cells[2].number.has_value());
            }
}

TEST_F(OfARun, WhatAllRowsShareIsSaidOnce) {
    const auto report = make_report(test::golden_run());
    EXPECT_EQ(report.sections[0].common, "all threads (2)");
    EXPECT_EQ(report.sections[0].rows[0].short_name, "GEMM fp64, size 2048");
    EXPECT_EQ(report.sections[0].rows[0].name, "GEMM fp64, size 2048, all threads (2)");
    EXPECT_EQ(tables_of(make_document(report)).at(0).caption, "All: all threads (2).");
}

TEST_F(OfARun, ChartsAreNamedByTheirBenchmark) {
    const auto charts = charts_of(make_document(make_report(test::golden_run())));
    ASSERT_THAT(charts, SizeIs(3));
    EXPECT_EQ(charts[0].title, "Memory latency: latency by footprint");
    EXPECT_EQ(charts[1].title, "All-reduce: bus bandwidth by bytes");
    EXPECT_EQ(charts[2].title, "Core to core latency: latency (from core → to core)");
    EXPECT_THAT(charts[0].lines.at(0), StartsWith("pages huge: 1.10 ns at 8 KiB ▁▁▃"));
    EXPECT_THAT(charts[2].lines, ElementsAre(HasSubstr("worst 0 → 2 with 110 ns")));
}

TEST_F(OfARun, CoreToCoreHasOneValue) {
    auto run = test::golden_run();
    std::erase_if(run.cases, [](const auto& c) { return c.benchmark != "latency.core_to_core"; });
    ASSERT_THAT(run.cases, SizeIs(1));
    for (const char* name : {"fastest_latency", "slowest_latency"})
        run.cases[0].metrics.push_back(
            {.name = name, .unit = "s", .higher_is_better = false, .value = 77e-9});
    // Of two cores the matrix has one value, which is that of the row again.
    auto& table = run.cases[0].tables[0];
    table.rows = table.columns = {"0", "1"};
    table.values = {std::nullopt, 61e-9, 61e-9, std::nullopt};
    const auto text = test::terminal_of(run) + test::html_of(run);
    EXPECT_THAT(text, HasSubstr("60.0 ns"));
    EXPECT_THAT(text, Not(HasSubstr("77.0 ns")));
    EXPECT_THAT(text, Not(HasSubstr("61.0 ns")));
}

TEST_F(OfARun, APairFarBeyondAllOthersAsksForAction) {
    auto run = test::golden_run();
    std::erase_if(run.cases, [](const auto& c) { return c.benchmark != "latency.core_to_core"; });
    auto& table = run.cases.at(0).tables.at(0);
    constexpr std::size_t cores = 65; // more lines than are drawn: squares are medians of four
    table.rows.clear();
    for (std::size_t i = 0; i < cores; ++i) table.rows.push_back(std::to_string(i));
    table.columns = table.rows;
    table.values.assign(cores * cores, 100e-9);
    table.values[3 * cores + 17] = 526e-9;
    const auto report = make_report(run);
    EXPECT_THAT(report.sections.at(0).maps.at(0).extremes, HasSubstr("worst 3 → 17 with 526 ns"));
    EXPECT_THAT(report.summary.at(1).text, HasSubstr("the worst pair, 3 → 17, has 526 ns"));
    table.values[3 * cores + 17] = 190e-9; // another socket
    EXPECT_THAT(find_slow_pairs(run), testing::IsEmpty());
}

TEST_F(OfARun, ReasonsSayTheirNumbersForPeople) {
    record::Case c{.status = Status::unstable,
                   .reason = "known to 1.7e+02%, the target is 3%",
                   .reason_code = record::ReasonCode::wide_interval,
                   .reason_values = {{"half_width_share", 1.7}, {"target_share", 0.03}}};
    EXPECT_EQ(reason_in_words(c), "known to 170%, the target is 3.0%");
    c.reason = "drift: first half 6.243e-07 s, second half 7e-07 s";
    c.reason_code = record::ReasonCode::drift;
    c.reason_values = {{"first_seconds", 6.243e-7}, {"second_seconds", 7e-7}};
    EXPECT_EQ(reason_in_words(c), "drift: first half 624 ns, second half 700 ns");
    c.reason_values.clear(); // an older file
    EXPECT_EQ(reason_in_words(c), c.reason);
}

TEST_F(OfARun, SizesAreThoseThatPeopleChose) {
    EXPECT_EQ(size_in_words(65536), "64 KiB");
    EXPECT_EQ(size_in_words(100000), "100 kB");
    EXPECT_EQ(size_in_words(1500000), "1.5 MB");
    EXPECT_EQ(size_in_words(3 << 19), "1.5 MiB");
    EXPECT_EQ(size_in_words(8), "8 B");
}

TEST_F(OfARun, CasesHaveNamesThatPeopleUse) {
    const record::NamedList stream{
        {"kernel", "triad"}, {"stores", "streaming"}, {"threads", "all"}};
    EXPECT_EQ(case_name("memory.stream", stream, {{"threads", std::int64_t{2}}}),
              "STREAM triad, streaming stores, all threads (2)");
    EXPECT_EQ(case_name("memory.stream", stream, {}, {"kernel", "stores", "threads"}),
              "STREAM triad");
    EXPECT_EQ(case_name("memory.stream", {}), "STREAM");
    EXPECT_EQ(case_name("memory.stream", {{"threads", "all"}}), "memory.stream, all threads")
        << "of a version without kernels";
    EXPECT_EQ(case_name("example.polynomial", {{"degree", std::int64_t{3}}}),
              "example.polynomial, degree 3");
    EXPECT_EQ(case_name("collective.allreduce", {{"bytes", std::int64_t{1 << 20}}}),
              "All-reduce 1 MiB");
    use_language(Language::zh);
    EXPECT_EQ(case_name("memory.stream", stream), "STREAM triad，存储方式 streaming，全部线程");
}

/// A product, and what bounds it.
record::Run run_with_roofs() {
    auto run = quiet_run();
    run.cases[0].work = {{"flops", 2.0 * 2048 * 2048 * 2048}};
    auto peak = run.cases[0];
    peak.benchmark = "peak.fma";
    auto stream = peak;
    stream.benchmark = "memory.stream";
    stream.metrics = {{.name = "bandwidth", .unit = "B/s", .value = 4e10}};
    auto& product = run.cases[0];
    product.ceiling.measured_by = record::identity(peak);
    auto copy = stream;
    copy.library = "other";
    copy.ceiling = {.value = 4e10,
                    .kind = record::CeilingKind::measured,
                    .measured_by = record::identity(stream)};
    run.cases = {product, peak, stream, copy};
    return run;
}

TEST_F(OfARun, TheRooflineHoldsProducts) {
    const auto report = make_report(test::golden_run());
    for (const auto& roofline : report.rooflines)
        for (const auto& point : roofline.cases) EXPECT_GT(point.intensity, 0);
    const auto run = run_with_roofs();
    const auto both = make_report(run);
    ASSERT_THAT(both.rooflines, SizeIs(1));
    const auto& cases = both.rooflines[0].cases;
    const auto found = std::ranges::find(cases, "gemm.square", &RoofCase::benchmark);
    ASSERT_NE(found, cases.end());
    EXPECT_NEAR(found->intensity, 2048.0 / 12, 0.01); // 2 n^3 / (3 n^2 x 8)
    EXPECT_THAT(found->label, StartsWith("GEMM fp64"));
}

/// A sweep of reads: 800 GB/s to 64 KiB, 400 GB/s to 2 MiB, then memory.
void add_sweep(record::Run& run, const std::string& threads, double scale) {
    for (double bytes = 8192; bytes <= 0x1p28; bytes *= 2) {
        auto c = run.cases.front();
        c.benchmark = "memory.hierarchy";
        c.library = "host";
        c.work = {};
        c.ceiling = {};
        c.parameters = {{"access", std::string{"read"}},
                        {"footprint", static_cast<std::int64_t>(bytes)},
                        {"threads", threads}};
        c.settings = {{"footprint", bytes}};
        const double rate = bytes <= 65536 ? 8e11 : bytes <= 0x1p21 ? 4e11 : 4e10;
        c.headline = "bandwidth";
        c.metrics = {{.name = "bandwidth", .unit = "B/s", .value = scale * rate}};
        run.cases.push_back(c);
    }
}

TEST_F(OfARun, TheRooflineHasARoofForEachCache) {
    auto run = run_with_roofs();
    const auto before = make_report(run).rooflines;
    ASSERT_THAT(before, SizeIs(1));
    EXPECT_TRUE(before[0].levels.empty());
    add_sweep(run, "one", 0.5);
    add_sweep(run, "all", 1);
    const auto rooflines = make_report(run).rooflines;
    ASSERT_THAT(rooflines, SizeIs(before.size()));
    const auto& levels = rooflines[0].levels;
    ASSERT_THAT(levels, SizeIs(2)); // of all cores; memory is a roof already
    EXPECT_NEAR(levels[0].value, 8e11, 1);
    EXPECT_EQ(levels[0].name, "Caches, reads of up to 64 KiB");
    EXPECT_NEAR(levels[1].value, 4e11, 1);
    EXPECT_THAT(rooflines[0].bandwidths, SizeIs(before[0].bandwidths.size()));
}

TEST_F(OfARun, SeveralAreSeveralDocuments) {
    auto documents = test::document_of(quiet_run(), {.label = "old"});
    documents.push_back(test::document_of(quiet_run(), {.label = "new"}).front());
    const auto text = write::to_terminal(documents);
    EXPECT_THAT(text, HasSubstr("old: AMD EPYC"));
    EXPECT_THAT(text, HasSubstr("new: AMD EPYC"));
}

TEST_F(OfARun, ItSaysHowToRepeatIt) {
    EXPECT_THAT(test::terminal_of(quiet_run()), HasSubstr("assay run quick"));
}

} // namespace
} // namespace assay::report
