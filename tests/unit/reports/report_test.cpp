// SPDX-License-Identifier: Apache-2.0
//
// What the report of a run answers first, and how it names and shows values.

#include "document/words.hpp"
#include "record/reader.hpp"
#include "rendered.hpp"
#include "report/answer.hpp"
#include "report/curves.hpp"
#include "report/pairs.hpp"
#include "sample.hpp"
#include "support/document.hpp"

#include <gmock/gmock.h>

namespace assay::report {
namespace {

using namespace testing;
using document::Tone;
using record::Status;

/// Two cases that are all right.
record::Run quiet_run() {
    auto run = test::golden_run();
    run.cases.erase(run.cases.begin() + 2, run.cases.end());
    for (auto& c : run.cases) c.warnings.clear();
    run.machine.huge_pages = "madvise";
    return run;
}

record::Case message(std::int64_t bytes, double seconds, const char* metric = "bus_bandwidth") {
    const bool is_time = std::string_view{metric} == "time";
    auto c = test::case_of("collective.allreduce", "mpi", {{"ranks", "all"}, {"bytes", bytes}},
                           metric, is_time ? seconds : static_cast<double>(bytes) / seconds);
    if (!is_time) c.metrics.push_back(test::metric_of("time", seconds));
    return c;
}

const document::Fact* tile_named(const Report& report, const std::string& name) {
    const auto found = std::ranges::find(report.tiles, name, &document::Fact::name);
    return found == report.tiles.end() ? nullptr : &*found;
}

TEST(OfARun, TheVerdictSaysWhetherToTrustIt) {
    auto run = quiet_run();
    auto report = make_report(run);
    EXPECT_EQ(report.verdict, "GEMM 93 to 94% of peak. 2 cases verified, all known.");
    EXPECT_EQ(report.tone, Tone::good);
    run.cases[1].status = Status::unstable;
    report = make_report(run);
    EXPECT_EQ(
        report.verdict,
        "GEMM 89% of the data sheet. 1 of 2 values is too noisy to quote (below: GEMM fp32).");
    EXPECT_EQ(report.tone, Tone::weak);
    run.cases[0].verification->passed = false;
    report = make_report(run);
    EXPECT_THAT(report.verdict,
                StartsWith("1 result is WRONG: GEMM fp64, size 2048, all threads (2) (openblas). "
                           "Do not use this library on this machine."));
    EXPECT_EQ(report.tone, Tone::bad);
    run = quiet_run();
    run.cases[0].status = Status::crashed;
    run.cases[0].metrics.clear();
    report = make_report(run);
    EXPECT_THAT(report.verdict, StartsWith("1 case failed, crashed or timed out."));
    EXPECT_EQ(report.tone, Tone::weak);
    EXPECT_EQ(make_report({}).verdict, "Nothing was measured.");
}

/// A verified case whose bound makes `share` of its value, which is 100.
record::Case bounded(const char* benchmark, const char* precision, const char* place, double share,
                     record::CeilingKind kind) {
    const bool is_memory = std::string_view{benchmark} == "memory.stream";
    auto c = test::case_of(benchmark, place, {{is_memory ? "kernel" : "precision", precision}},
                           is_memory ? "bandwidth" : "flop_rate", 100e9);
    c.place.kind = place;
    c.verification = record::Verification{.passed = true};
    if (share > 0) c.ceiling = {.value = 100e9 / share, .kind = kind};
    return c;
}

TEST(OfARun, SaysFirstWhatADeviceReachesOfItsDataSheet) {
    using enum record::CeilingKind;
    record::Run run;
    run.machine.devices = {{.kind = "cuda", .name = "NVIDIA H100 80GB HBM3"}};
    run.cases = {bounded("gemm.square", "bf16", "cuda", 0.851, datasheet),
                 bounded("gemm.square", "fp64", "cuda", 0.99, datasheet),
                 bounded("memory.stream", "triad", "cuda", 0.98, datasheet)};
    EXPECT_EQ(make_report(run).verdict,
              "This H100 reaches these shares of its data sheet: GEMM 85 to 99%, memory 98%. "
              "3 cases verified, all known.");
    run.cases[0].status = Status::unstable; // its share is not quoted
    EXPECT_EQ(make_report(run).verdict,
              "This H100 reaches these shares of its data sheet: GEMM 99%, memory 98%. "
              "1 of 3 values is too noisy to quote (below: GEMM bf16).");
    {
        const test::Speaking chinese{document::Language::zh};
        EXPECT_EQ(make_report(run).verdict,
                  "H100 达到规格书的比例：矩阵乘法 99%，内存 98%。"
                  "3 个测量值中有 1 个噪声过大，不宜引用（下列中：GEMM bf16）。");
    }
    run.machine.devices.resize(2, run.machine.devices[0]);
    run.machine.devices[0].name = run.machine.devices[1].name = "NVIDIA GeForce RTX 4090";
    EXPECT_THAT(make_report(run).verdict, StartsWith("The RTX 4090 devices reach these shares of"));
    run.cases[1].ceiling.kind = measured;
    EXPECT_THAT(make_report(run).verdict,
                StartsWith("GEMM 99% of peak, memory 98% of the data sheet."));
}

/// The first table of a run's report.
document::Table first_table(const record::Run& run) {
    return test::blocks_of<document::Table>(make_document(make_report(run))).at(0);
}

TEST(OfARun, ARowHasTheShareOfTheDataSheetThenThatOfTheMeasuredBound) {
    using enum record::CeilingKind;
    record::Run run;
    run.cases = {bounded("gemm.square", "bf16", "cuda", 0.95, measured)};
    run.cases[0].other_ceilings = {{.value = 125e9, .kind = datasheet, .source = "nominal clock"},
                                   {.value = 200e9, .kind = datasheet, .source = "printed"}};
    const auto cells = first_table(run).rows.at(0).cells;
    EXPECT_EQ(cells.at(3).text, "80%");
    EXPECT_EQ(cells.at(4).text, "95%");
    EXPECT_EQ(make_report(run).tiles.at(0).detail, "80% of data sheet");
    EXPECT_NEAR(make_report(run).tiles.at(0).share.value(), 0.8, 1e-9);
}

TEST(OfARun, OneProcessHasNoInterval) {
    auto run = quiet_run();
    for (auto& c : run.cases) c.metrics[0].interval_scope = record::IntervalScope::within_process;
    for (const auto& row : first_table(run).rows) {
        EXPECT_EQ(row.cells.at(2).detail, "");
        EXPECT_FALSE(row.cells.at(2).low.has_value());
    }
    for (const auto& tile : make_report(run).tiles) EXPECT_THAT(tile.detail, Not(HasSubstr("±")));
}

TEST(OfARun, MemoryIsTheTriadWhateverIsFaster) {
    using enum record::CeilingKind;
    record::Run run;
    run.cases = {bounded("memory.stream", "copy", "host", 0, none),
                 bounded("memory.stream", "triad", "host", 0, none),
                 bounded("memory.stream", "triad", "host", 0, none)};
    run.cases[0].metrics[0].value = 300e9;
    run.cases[2].metrics[0].value = 90e9;
    EXPECT_EQ(make_report(run).tiles.at(0).name, "Memory triad");
    EXPECT_EQ(make_report(run).tiles.at(0).text, "100 GB/s");
    for (auto& c : run.cases) c.status = Status::unstable; // the largest would be the luckiest
    for (const std::size_t i : {1U, 2U}) {
        auto& metric = run.cases[i].metrics[0];
        metric.low = *metric.value * (i == 1 ? 0.8 : 0.95);
        metric.high = *metric.value * (i == 1 ? 1.2 : 1.05);
    }
    EXPECT_EQ(make_report(run).tiles.at(0).text, "90.0 GB/s");
    EXPECT_EQ(make_report(run).tiles.at(0).tone, Tone::weak);
}

TEST(OfARun, SaysFirstWhatAHostReachesOfItsPeak) {
    using enum record::CeilingKind;
    record::Run run;
    run.cases = {bounded("gemm.square", "fp64", "host", 0.91, measured),
                 bounded("gemm.square", "int8", "host", 1.01, measured),
                 bounded("memory.stream", "triad", "host", 0, none),
                 bounded("memory.stream", "copy", "host", 0, none)};
    run.cases[3].metrics[0].value = 50e9;
    run.cases[3].status = Status::unstable;
    EXPECT_EQ(make_report(run).verdict,
              "GEMM 91 to 101% of peak, memory 100 GB/s. "
              "1 of 4 values is too noisy to quote, none of those below.");
    run.cases[0].status = Status::crashed;
    run.cases[0].metrics.clear();
    EXPECT_THAT(make_report(run).verdict,
                StartsWith("1 case failed, crashed or timed out. GEMM 101%"));
}

TEST(OfARun, TheVerdictOnDisturbedValuesNamesTheCause) {
    auto run = quiet_run();
    for (auto& c : run.cases) {
        c.status = Status::disturbed;
        c.spread = record::Spread{.replicas = 2};
        c.replicas.front().telemetry.disturbed_by = {
            {.code = record::DisturbanceCode::foreign_cpu,
             .values = {{"share", 0.6}, {"programs", std::string{"make"}}}}};
    }
    const auto report = make_report(run);
    EXPECT_EQ(
        report.verdict,
        "GEMM fp64 at least 105 GFLOP/s. 2 of 2 values were disturbed and are lower limits "
        "(below: GEMM fp64 and GEMM fp32). The machine was busy: make used up to 60% of the CPU.");
    EXPECT_EQ(report.tone, Tone::weak);
    EXPECT_THAT(report.cause,
                StartsWith("The machine was busy: make used up to 60% of the CPU; 2 of"));
    EXPECT_THAT(report.findings.front().what, HasSubstr("the values of 2 are lower limits"));
    for (const auto& finding : report.findings)
        EXPECT_THAT(finding.what, Not(HasSubstr("Other programs used up to")));
    EXPECT_THAT(report.findings.front().action, HasSubstr("Stop them"));
}

TEST(OfARun, LostDataIsSaidFirst) {
    auto run = quiet_run();
    run.error_counters = {
        {.source = "edac", .device = "mc0", .counter = "ue_count", .before = 0, .after = 1}};
    const auto report = make_report(run);
    EXPECT_THAT(report.verdict, StartsWith("Uncorrected errors were counted"));
    EXPECT_EQ(report.tone, Tone::bad);
    ASSERT_THAT(report.errors, SizeIs(1));
    EXPECT_EQ(report.errors[0].text, "0 → 1");
}

TEST(OfARun, AHiddenAddressIsLeftAway) {
    auto run = quiet_run();
    run.cases[0].other_ceilings = {
        {.value = 2e11,
         .kind = record::CeilingKind::datasheet,
         .source = "printed for NVIDIA H100 (retrieved: https:/<path:0c108e>)"}};
    const auto text = test::terminal_of(run, {.width = 200}) + test::html_of(run);
    EXPECT_THAT(text, AllOf(HasSubstr("printed for NVIDIA H100 (retrieved)"),
                            Not(HasSubstr("path:0c108e"))));
}

TEST(OfARun, DurationsAreInWords) {
    using document::duration_in_words;
    EXPECT_EQ(duration_in_words(0.107), "107 ms");
    EXPECT_EQ(duration_in_words(1.36), "1.36 s");
    EXPECT_EQ(duration_in_words(59.4), "59 s");
    EXPECT_EQ(duration_in_words(59.6), "1 min");
    EXPECT_EQ(duration_in_words(290), "4 min 50 s");
    EXPECT_EQ(duration_in_words(3599.7), "1 h");
    EXPECT_EQ(duration_in_words(11100), "3 h 5 min");
    EXPECT_EQ(duration_in_words(187200), "2 days 4 h");
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(duration_in_words(290), "4 分 50 秒");
}

TEST(OfARun, AnImportedOneIsNotCalledVerified) {
    auto run = quiet_run();
    for (auto& c : run.cases) c.verification.reset();
    run.imported = record::Imported{.tool = "osu"};
    const auto report = make_report(run);
    EXPECT_EQ(report.verdict, "2 values from osu, not verified by assay.");
    EXPECT_EQ(report.tone, Tone::plain);
}

TEST(OfARun, AnUnreliableTileSaysSo) {
    auto run = quiet_run();
    run.cases.resize(1);
    run.cases[0].status = Status::unstable;
    EXPECT_EQ(tile_named(make_report(run), "GEMM fp64")->tone, Tone::weak);
}

TEST(OfARun, ASmallMessageIsATimeAndALargeOneABandwidth) {
    record::Run run;
    run.cases = {message(8, 331e-9), message(1 << 24, 5e-3)};
    const auto report = make_report(run);
    ASSERT_NE(tile_named(report, "All-reduce 8 B"), nullptr);
    EXPECT_EQ(tile_named(report, "All-reduce 8 B")->text, "331 ns");
    EXPECT_EQ(tile_named(report, "All-reduce 16 MiB")->text, "3.36 GB/s");
    const auto tables = test::blocks_of<document::Table>(make_document(report));
    const auto& values = tables.at(0);
    EXPECT_EQ(values.rows.at(0).cells.at(2).text, "331 ns");
    EXPECT_EQ(values.rows.at(1).cells.at(2).text, "3.36 GB/s");
    EXPECT_THAT(tables.at(1).rows.at(0).cells.at(2).text, HasSubstr("24.2 MB/s"));
}

TEST(OfARun, TheBestOfImportedTimesIsNoEmptyMessage) {
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

TEST(OfARun, AValueThatIsHardlyKnownIsGrey) {
    auto run = quiet_run();
    auto& metric = run.cases[0].metrics.front();
    metric.low = *metric.value * 0.6;
    metric.high = *metric.value * 1.4;
    const auto report = make_report(run);
    const auto cell =
        test::blocks_of<document::Table>(make_document(report)).at(0).rows.at(0).cells.at(2);
    EXPECT_EQ(cell.text, "about 105 GFLOP/s");
    EXPECT_EQ(cell.tone, Tone::quiet);
    EXPECT_EQ(tile_named(report, "GEMM fp64")->text, "about 105 GFLOP/s");
    EXPECT_THAT(report.verdict,
                HasSubstr("1 of 2 values is too noisy to quote (below: GEMM fp64)"));
}

TEST(OfARun, CoreToCoreHasOneValue) {
    auto run = test::golden_run();
    std::erase_if(run.cases, [](const auto& c) { return c.benchmark != "latency.core_to_core"; });
    ASSERT_THAT(run.cases, SizeIs(1));
    for (const char* name : {"fastest_latency", "slowest_latency"})
        run.cases[0].metrics.push_back(
            {.name = name, .unit = "s", .higher_is_better = false, .value = 77e-9});
    // The matrix of two cores has one value, which is that of the row again.
    auto& table = run.cases[0].tables[0];
    table.rows = table.columns = {"0", "1"};
    table.values = {std::nullopt, 61e-9, 61e-9, std::nullopt};
    const auto text = test::terminal_of(run) + test::html_of(run);
    EXPECT_THAT(text, HasSubstr("60.0 ns"));
    EXPECT_THAT(text, Not(HasSubstr("77.0 ns")));
    EXPECT_THAT(text, Not(HasSubstr("61.0 ns")));
}

TEST(OfARun, APairFarBeyondAllOthersAsksForAction) {
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
    EXPECT_THAT(find_slow_pairs(run), IsEmpty());
}

TEST(OfARun, SizesAreThoseThatPeopleChose) {
    EXPECT_EQ(document::size_in_words(65536), "64 KiB");
    EXPECT_EQ(document::size_in_words(100000), "100 kB");
    EXPECT_EQ(document::size_in_words(1500000), "1.5 MB");
    EXPECT_EQ(document::size_in_words(3 << 19), "1.5 MiB");
    EXPECT_EQ(document::size_in_words(8), "8 B");
}

TEST(OfARun, CasesHaveNamesThatPeopleUse) {
    const record::NamedList stream{
        {"kernel", "triad"}, {"stores", "streaming"}, {"threads", "all"}};
    EXPECT_EQ(document::case_name("memory.stream", stream, {{"threads", std::int64_t{2}}}),
              "STREAM triad, streaming stores, all threads (2)");
    EXPECT_EQ(document::case_name("memory.stream", stream, {}, {"kernel", "stores", "threads"}),
              "STREAM triad");
    EXPECT_EQ(document::case_name("memory.stream", {}), "STREAM");
    EXPECT_EQ(document::case_name("model.llm_decode", {{"model", "llama3_8b"},
                                                       {"batch", std::int64_t{1}},
                                                       {"layers", std::int64_t{0}},
                                                       {"shards", "8"},
                                                       {"cache", "bf16"}}),
              "LLM decoding, llama3 8b, batch 1, shards 8")
        << "all layers and a cache in bf16 need no words";
    EXPECT_EQ(document::case_name("memory.stream", {{"threads", "all"}}),
              "memory.stream, all threads")
        << "of a version without kernels";
    EXPECT_EQ(document::case_name("example.polynomial", {{"degree", std::int64_t{3}}}),
              "example.polynomial, degree 3");
    EXPECT_EQ(document::case_name("collective.allreduce", {{"bytes", std::int64_t{1 << 20}}}),
              "All-reduce 1 MiB");
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(document::case_name("memory.stream", stream),
              "STREAM triad，存储方式 streaming，全部线程");
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
        c.settings = {{"footprint", bytes - 1000}}; // what a device rounds it to
        const double rate = bytes <= 65536 ? 8e11 : bytes <= 0x1p21 ? 4e11 : 4e10;
        c.headline = "bandwidth";
        c.metrics = {{.name = "bandwidth", .unit = "B/s", .value = scale * rate}};
        run.cases.push_back(c);
    }
}

TEST(OfARun, TheRooflineHasARoofForEachCache) {
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
    EXPECT_EQ(levels[0].name, "Caches, reads of up to 63 KiB");
    EXPECT_NEAR(levels[1].value, 4e11, 1);
    EXPECT_THAT(rooflines[0].bandwidths, SizeIs(before[0].bandwidths.size()));
}

} // namespace
} // namespace assay::report
