// SPDX-License-Identifier: Apache-2.0
//
// What reports and exports of one fixed run look like, byte by byte; the verdict on a made-up node; a comparison with one of
// everything; a history of two instance types over two years, with a kernel, a library, a new processor and something
// nobody wrote down; and a prediction of a known network. A change on purpose is taken over by running this test with
// ASSAY_GOLDEN=write, and read in the diff.

#include "compare/comparison.hpp"
#include "exchange/data.hpp"
#include "exchange/long_table.hpp"
#include "expect_golden.hpp"
#include "history/document.hpp"
#include "predict/document.hpp"
#include "report/report.hpp"
#include "sample.hpp"
#include "support/document.hpp"
#include "support/fleet.hpp"
#include "support/made_judgement.hpp"
#include "support/measured_collective.hpp"

#include <gmock/gmock.h>

namespace assay::report {
namespace {

using namespace testing;
using test::expect_golden;
using test::expect_golden_json;
using test::gemm;

Report report() {
    return make_report(test::golden_run(), {.label = "first look", .source = "run.json"});
}

TEST(Golden, Terminal) {
    expect_golden("report.txt", write::to_terminal({{make_document(report())}}));
}

TEST(Golden, Json) {
    const Report one = report();
    expect_golden_json("report.json", to_json({&one, 1}));
}

TEST(Golden, Csv) {
    auto run = test::golden_run();
    run.cases.resize(8);
    const store::FoundFile file{.path = "results/run.json"};
    expect_golden("export.csv", table_header(exchange::TableFormat::csv) +
                                    table_rows(run, file, exchange::TableFormat::csv));
}

TEST(JudgementGolden, Terminal) {
    expect_golden("check.txt", write::to_terminal({{make_document(test::made_judgement())}}));
}

void observe_old(test::CollectionMaker& maker, std::uint32_t run, double level) {
    maker.observe(run, gemm("openblas", 1024), {5.00e11 * level, 5.02e11 * level, 4.99e11 * level});
    maker.observe(run, gemm("onednn", 1024, "fp32"),
                  {9.1e11 * level, 9.12e11 * level, 9.09e11 * level});
    maker.observe(run, gemm("openblas", 1024, "fp32"),
                  {9.4e11 * level, 9.41e11 * level, 9.38e11 * level});
    auto& triad = maker.observe(run, test::triad(), {2.61e10 * level, 2.55e10, 2.66e10});
    triad.ceiling = 3.2e10;
    triad.status = record::Status::unstable;
    maker.observe(run, test::latency(65536), {3.9e-9, 3.91e-9 / level, 3.89e-9});
}

/// Two runs of an old machine and two of a new one.
store::Collection sides() {
    test::CollectionMaker maker;
    for (const double level : {1.0, 1.003}) {
        const auto run =
            maker.run({.label = "c6a.large", .instance = "c6a.large", .cpu = "EPYC 7R13"});
        observe_old(maker, run, level);
        maker.observe(run, gemm("openblas", 512), {4.4e11, 4.41e11});
        maker.observe(
            run, test::series_of("fft.one", "fftw", {{"size", std::int64_t{4096}}}, "flop_rate"),
            {2e10, 2.01e10 * level});
    }
    for (const double level : {1.0, 0.998}) {
        const auto run = maker.run({.label = "c7a.large <b>",
                                    .machine = "m-2",
                                    .instance = "c7a.large",
                                    .started = "2026-02-11T08:00:00Z",
                                    .cpu = "EPYC 9R14"});
        maker.observe(run, gemm("openblas", 1024), {6.1e11 * level, 6.12e11, 6.08e11 * level});
        maker.observe(run, gemm("onednn", 1024, "fp32"), {1.31e12 * level, 1.30e12, 1.32e12});
        maker.observe(run, gemm("openblas", 1024, "fp32"), {1.22e12 * level, 1.23e12, 1.21e12});
        maker.observe(run, test::triad(), {2.7e10 * level, 2.58e10, 2.63e10}).ceiling = 3.6e10;
        maker.observe(run, test::latency(65536), {4.4e-9 / level, 4.41e-9, 4.39e-9});
        maker.observe(run, gemm("openblas", 2048), {6.3e11, 6.31e11});
        maker.fail(run,
                   test::series_of("fft.one", "fftw", {{"size", std::int64_t{4096}}}, "flop_rate"),
                   record::Status::incorrect, "error 3.1 is above the bound 0.5");
    }
    maker.collection().problems.push_back(
        {"results/9/run.json", "not JSON (A string is opened, but never closed.)"});
    return maker.collection();
}

compare::Comparison comparison() { return *compare::compare(sides()); }

std::string in_terminal(const compare::Comparison& comparison, const Terminal& style = {}) {
    return write::to_terminal(std::vector{make_document(comparison)}, style);
}

TEST(CompareGolden, Terminal) { expect_golden("compare.txt", in_terminal(comparison())); }

TEST(CompareGolden, NarrowTerminalInColour) {
    expect_golden("compare-narrow.txt", in_terminal(comparison(), {.width = 64, .colour = true}));
}

TEST(CompareGolden, Markdown) {
    expect_golden("compare.md", write::to_markdown(std::vector{make_document(comparison())}));
}
TEST(CompareGolden, Csv) { expect_golden("compare.csv", exchange::to_csv(comparison())); }
TEST(CompareGolden, Json) {
    auto without = comparison();
    without.questions.clear(); // have the format of `tables`
    expect_golden_json("compare.json", exchange::to_json(without));
}

/// Six machines of one type, each measured every month; eight of another, which live for a day.
store::Collection collection() {
    test::Fleet fleet;
    test::Gauss gauss{5};
    const auto gemm = fleet.series("gemm.square", "openblas", "flop_rate");
    const auto stream = fleet.series("memory.stream", "host", "bandwidth");
    const auto latency = fleet.series("memory.latency", "host", "latency");
    const auto measure = [&](const std::string& id, double when, double all, double memory,
                             double library) {
        fleet.run(id, test::day(when),
                  {{gemm, 1.05e11 * all * library * std::exp(0.004 * gauss())},
                   {stream, 3.6e10 * all * memory * std::exp(0.012 * gauss())},
                   {latency, 1.1e-7 / all / memory * std::exp(0.006 * gauss())}});
    };
    for (int month = 0; month < 24; ++month)
        for (int m = 0; m < 6; ++m) {
            fleet.machine.kernel = month < 9 ? "6.1.0-18" : "6.8.0-31";
            fleet.machine.software = {
                {"openblas.version", std::string{month < 15 + m % 2 ? "0.3.21" : "0.3.26"}}};
            const double apart = 1 + 0.006 * m;
            const double unknown = m == 4 && month >= 19 ? 0.955 : 1;
            measure("m-000" + std::to_string(m), 30.4 * month + m, apart * unknown,
                    month < 9 ? 1 : 0.93, month < 15 + m % 2 ? 1 : 1.08);
        }
    fleet.machine.instance = "c7i.large";
    fleet.machine.kernel = "6.1.0-18";
    fleet.machine.cpu_model = "Example Xeon 8488C";
    for (int m = 0; m < 16; ++m) {
        if (m == 8) fleet.machine.cpu_model = "Example Xeon 6985P";
        measure("m-1" + std::to_string(100 + m), 45.0 * m, m < 8 ? 0.9 : 1.15, 1, 1);
    }
    fleet.collection.problems.push_back(
        {"results/old/run.json", "not JSON (A string is opened, but never closed.)"});
    return std::move(fleet.collection);
}

history::History history() { return history::make_history(collection()).value(); }

TEST(GoldenHistory, Terminal) {
    expect_golden("history.txt", write::to_terminal({{make_document(history())}}));
}

TEST(GoldenHistory, Json) {
    auto short_one = history::make_history(collection(), {.points = 8}).value();
    expect_golden_json("history.json", to_json(short_one));
}

predict::Prediction sample_prediction() {
    const auto collection = predict::measured_allreduce({}, {1, 2, 4}, 8, 0.02, 1);
    return *predict::predict_collective(collection, {.nodes = 1024,
                                                     .ranks_per_node = 8,
                                                     .sizes = {8, 1 << 20, 1 << 30},
                                                     .algorithm = {},
                                                     .node_bandwidth = 50e9,
                                                     .filter = {}});
}

TEST(PredictionGolden, Terminal) {
    expect_golden("predict.txt", write::to_terminal({{make_document(sample_prediction())}}));
}
/// Fits end in digits that differ between compilers: three are kept of what is longer.
std::string shortened(const std::string& text) {
    static const std::regex long_number{R"(-?\d+\.\d{2,}(e[-+]?\d+)?|\d+e[-+]?\d+)"};
    std::string out;
    auto rest = text.cbegin();
    for (std::sregex_iterator found{text.begin(), text.end(), long_number}, end; found != end;
         ++found) {
        out.append(rest, (*found)[0].first);
        out += fmt::format("{:.3g}", std::stod(found->str()));
        rest = (*found)[0].second;
    }
    return out.append(rest, text.cend());
}

TEST(PredictionGolden, Csv) {
    expect_golden("predict.csv", shortened(to_csv(sample_prediction())));
}
TEST(PredictionGolden, Json) {
    expect_golden_json("predict.json", shortened(to_json(sample_prediction())));
}

TEST(Golden, InChineseNothingIsEnglish) {
    const auto documents = [] {
        return std::vector{make_document(report()), make_document(comparison()),
                           make_document(history()), make_document(sample_prediction())};
    };
    EXPECT_THAT(test::latin_sentences(documents()), Not(IsEmpty()));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(test::latin_sentences(documents()), IsEmpty());
}

} // namespace
} // namespace assay::report
