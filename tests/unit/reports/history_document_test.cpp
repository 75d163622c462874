// SPDX-License-Identifier: Apache-2.0
//
// Answers and marks of a history; and two years of a generated fleet: every planted change is found on its date with
// its cause, and by a comparison; nothing else is found.

#include "compare/comparison.hpp"
#include "document/text.hpp"
#include "history/document.hpp"
#include "history/history.hpp"
#include "store/digest.hpp"
#include "support/document.hpp"
#include "support/fleet.hpp"
#include "support/generated_runs.hpp"
#include "support/results.hpp"
#include "write/formats.hpp"

#include <gmock/gmock.h>

namespace assay::history {
namespace {

using namespace document;
using namespace testing;
using test::blocks_of;
using test::day;
using test::quarter_start;

class HistoryDocument : public test::EveryFortnight {
protected:
    HistoryDocument() : EveryFortnight{3} {}
    History made(const HistoryOptions& options = {}) const {
        return make_history(fleet.collection, options).value();
    }
    Document written(const HistoryOptions& options = {}) const {
        return make_document(made(options));
    }
    std::string verdict(const HistoryOptions& options = {}) const {
        return written(options).verdict;
    }
};

document::Table table_with(const Document& document, const std::string& column) {
    for (auto& table : blocks_of<document::Table>(document))
        if (std::ranges::find(table.columns, column, &Column::title) != table.columns.end())
            return table;
    ADD_FAILURE() << "no table has a column \"" << column << '"';
    return {};
}
document::Cell cell_of(const document::Table& table, const document::Row& row,
                       const std::string& column) {
    const auto at = std::ranges::find(table.columns, column, &Column::title);
    return at == table.columns.end()
               ? document::Cell{}
               : row.cells.at(static_cast<std::size_t>(at - table.columns.begin()));
}

TEST_F(HistoryDocument, AnswersFirstWithTheMostSeriousChange) {
    for (const char* id : {"m-1", "m-2"}) {
        fleet.machine.kernel = "6.1.0";
        measure(id, 0, 10);
        fleet.machine.kernel = "6.8.0";
        measure(id, 10, 20, 0.93);
        fleet.machine.kernel = "6.9.0";
        measure(id, 20, 30, 1.1);
    }
    const auto document = written();
    EXPECT_THAT(document.verdict,
                AllOf(HasSubstr("gemm.square"), HasSubstr("Memory latency"),
                      HasSubstr(" became 6."),
                      HasSubstr("slower on aws c7a.large from 2024-05-20 on, with kernel 6.1.0 → "
                                "6.8.0.")));
    EXPECT_THAT(document.lead, ElementsAre("One more change: 1 faster."));
    EXPECT_EQ(document.tone, Tone::bad);
    // A row for each cause, the most serious first.
    const auto table = table_with(document, "cause");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_EQ(table.rows[0].cells[0].text, "kernel 6.1.0 → 6.8.0");
    EXPECT_THAT(table.rows[0].cells[0].notes.at(0), StartsWith("2 of 2 cases: "));
    EXPECT_EQ(cell_of(table, table.rows[0], "change").tone, Tone::bad);
    EXPECT_EQ(table.rows[1].cells[0].text, "kernel 6.8.0 → 6.9.0");
    EXPECT_EQ(cell_of(table, table.rows[1], "change").tone, Tone::good);
}

/// Three instance types: one has 20 cases that a kernel slowed, one a case that drifts, one nothing.
TEST_F(HistoryDocument, ShowsWhatChangedBeforeAllTheRest) {
    std::vector<std::uint32_t> sizes;
    for (int size = 0; size < 20; ++size)
        sizes.push_back(fleet.series("fft.transform", "fftw", "flop_rate", 64 + size));
    for (const std::string type : {"c7a.large", "c7i.large", "m7.large"}) {
        fleet.machine.instance = type;
        for (int run = 0; run < 78; ++run) {
            fleet.machine.kernel = run / 3 < 13 ? "6.1.0" : "6.8.0";
            std::vector<test::Figure> values;
            for (const auto series : sizes) {
                double value = 1e11 * std::exp(0.005 * gauss());
                if (type == "c7a.large" && run / 3 >= 13) value *= 0.9;
                if (type == "c7i.large" && series == sizes[3]) value *= 1 - 0.0005 * run / 3;
                values.push_back({series, value});
            }
            fleet.run(fmt::format("{}-{}", type, run % 3), day(14.0 * (run / 3)), values);
        }
    }
    const auto document = written();
    const auto& first = document.sections.front().blocks;
    ASSERT_TRUE(std::holds_alternative<Chart>(first.at(0))) << "the chart first";
    EXPECT_THAT(std::get<Chart>(first[0]).title,
                AllOf(HasSubstr("c7a.large"), Not(HasSubstr("["))));
    const auto table = table_with(document, "cause");
    ASSERT_THAT(table.rows, SizeIs(1)) << table.rows.back().cells[0].text;
    EXPECT_THAT(table.rows[0].cells[0].text, HasSubstr("kernel 6.1.0 → 6.8.0"));
    EXPECT_THAT(table.rows[0].cells[0].notes.at(0),
                AllOf(StartsWith("20 of 20 cases: "), HasSubstr(" → "), HasSubstr("and 18 more")));
    EXPECT_THAT(table_with(document, "drifting case").rows, SizeIs(1));
    EXPECT_THAT(blocks_of<Chart>(document), SizeIs(2)) << "of what changed or drifts";
    EXPECT_THAT(sentences(document.lead),
                AllOf(HasSubstr("39 of 60 cases did not change"), HasSubstr("1 case drifts")));
    const auto text = write::to_terminal({{document}}, {.width = 80});
    EXPECT_LT(std::ranges::count(text.substr(0, text.find("Notes")), '\n'), 24) << text;
}

TEST_F(HistoryDocument, WhereNothingChangedSaysWhatWouldHaveBeenFound) {
    for (const char* id : {"m-1", "m-2", "m-3"}) measure(id, 0, 26);
    EXPECT_THAT(verdict(), StartsWith("Nothing changed in 4 quarters; a lasting change above 1."));
    EXPECT_EQ(written().tone, Tone::plain);
    const auto table = table_with(written(), "change found");
    for (const auto& row : table.rows) {
        EXPECT_THAT(cell_of(table, row, "change found").text, StartsWith("none above 1."));
        EXPECT_THAT(row.tags.outcomes, ElementsAre("same"));
    }
}

TEST_F(HistoryDocument, OfTooFewPointsItDoesNotSayThatNothingChanged) {
    EXPECT_THAT(verdict(), StartsWith("Nothing to compare yet"));
    EXPECT_EQ(written().tone, Tone::weak);
    measure("m-1", 0, 4);
    EXPECT_THAT(verdict(), StartsWith("Too few runs to find a change"));
    EXPECT_FALSE(made().groups.at(0).series.at(0).detectable);
    const auto table = table_with(written(), "change found");
    EXPECT_THAT(table.rows.at(0).tags.outcomes, ElementsAre("cannot_tell"));
}

/// A change of that size is found nearly always, and one of a third of it is not.
TEST_F(HistoryDocument, WhatItSaysWouldHaveBeenFoundIsFound) {
    constexpr int trials = 40;
    int found = 0;
    int found_third = 0;
    for (unsigned trial = 0; trial < trials; ++trial) {
        const auto with = [&](double size) {
            test::Gauss noise{100 + trial};
            test::Fleet one;
            const auto series = one.series("gemm.square", "openblas", "flop_rate");
            for (const std::string id : {"m-1", "m-2", "m-3", "m-4"})
                for (int run = 0; run < 24; ++run)
                    one.run(id, day(14.0 * run),
                            {{series, 1e11 / (run >= 18 && id == "m-2" ? 1 + size : 1) *
                                          std::exp(0.01 * noise())}});
            return make_history(one.collection).value();
        };
        const double size = with(0).groups.at(0).series.at(0).detectable.value();
        found += has_regression(with(size)) ? 1 : 0;
        found_third += has_regression(with(size / 3)) ? 1 : 0;
    }
    EXPECT_GE(found, trials * 9 / 10) << "of " << trials;
    EXPECT_LE(found_third, trials / 10) << "of " << trials;
}

/// 0.6% between two years with hardly any noise: below what is called, so nothing is marked.
TEST_F(HistoryDocument, ADifferenceBetweenQuartersThatNoTestFoundIsQuiet) {
    measure("m-1", 0, 26, 1, 0.0005);
    measure("m-1", 26, 52, 1.006, 0.0005);
    const auto history = made();
    const auto& series = history.groups.at(0).series.at(0);
    ASSERT_TRUE(series.change && series.change->low);
    EXPECT_GT(*series.change->low, 1) << "it would look sure by its interval";
    EXPECT_FALSE(series.change->found);
    const auto table = table_with(make_document(history), "2025 Q1");
    ASSERT_THAT(table.rows, SizeIs(2));
    for (const auto& row : table.rows) {
        EXPECT_THAT(row.cells[3].text, StartsWith("~ +0.5"));
        EXPECT_EQ(row.cells[3].tone, Tone::quiet);
        for (const auto& cell : row.cells) {
            EXPECT_NE(cell.tone, Tone::good) << cell.text;
            EXPECT_NE(cell.tone, Tone::bad) << cell.text;
        }
    }
}

/// A change in the middle of a quarter moves the mean of that one and of the next; it happened once.
TEST_F(HistoryDocument, MarksTheDayOfAChangeAndNoOther) {
    measure("m-1", 0, 10);
    measure("m-1", 10, 27, 0.95); // 2024-05-20
    const auto document = written();
    const auto quarters = table_with(document, "2024 Q2");
    ASSERT_THAT(quarters.rows, SizeIs(2));
    for (const auto& row : quarters.rows)
        for (const char* quarter : {"2024 Q1", "2024 Q2", "2024 Q3", "2024 Q4"})
            EXPECT_EQ(cell_of(quarters, row, quarter).tone,
                      std::string{quarter} == "2024 Q2" ? Tone::bad : Tone::plain)
                << quarter;
    const auto charts = blocks_of<Chart>(document);
    ASSERT_THAT(charts, SizeIs(1)) << "one cause";
    for (const auto& chart : charts) {
        const auto& marks = std::get<TimeChart>(chart.data).marks;
        ASSERT_THAT(marks, SizeIs(1));
        EXPECT_EQ(date_of(marks[0].seconds), "2024-05-20");
        EXPECT_EQ(marks[0].outcome, "worse");
    }
}

TEST_F(HistoryDocument, WhereANewMachineBeginsIsNoChange) {
    measure("m-1", 0, 10);
    measure("m-2", 10, 20, 0.9);
    const auto document = written();
    EXPECT_THAT(document.verdict, StartsWith("Nothing changed"));
    for (const auto& chart : blocks_of<Chart>(document)) {
        const auto& marks = std::get<TimeChart>(chart.data).marks;
        ASSERT_THAT(marks, SizeIs(1));
        EXPECT_EQ(marks[0].outcome, "");
    }
}

TEST_F(HistoryDocument, WhatChangedComesFirst) {
    fleet.machine.instance = "a1.large"; // by name before the other
    measure("m-9", 0, 12);
    fleet.machine.instance = "c7a.large";
    for (int i = 0; i < 24; ++i)
        fleet.run("m-1", day(14.0 * i),
                  {{gemm, 1e11 * std::exp(0.005 * gauss())},
                   {latency, 1e-7 * (i < 12 ? 1 : 1.1) * std::exp(0.005 * gauss())}});
    const auto document = written();
    ASSERT_THAT(document.sections, SizeIs(Ge(3U)));
    EXPECT_EQ(document.sections[0].title, "Changes found");
    EXPECT_EQ(document.sections[1].title, "aws c7a.large");
    const auto table = table_with(document, "change found");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_EQ(table.rows[0].group, "memory.latency");
    EXPECT_THAT(table.rows[0].tags.outcomes, ElementsAre("worse"));
    EXPECT_EQ(table.rows[0].tags.family, "memory");
    EXPECT_THAT(table.rows[0].tags.libraries, ElementsAre("host"));
    EXPECT_THAT(table.rows[1].tags.outcomes, ElementsAre("same"));
}

/// A collection as store reads it, without files.
store::Collection collection_of(const test::GeneratorOptions& options) {
    const test::Generator generator{options};
    store::Pools pools;
    std::vector<store::Candidate> candidates;
    for (std::size_t i = 0; i < generator.size(); ++i) {
        const auto run = generator.run(i);
        auto digest = store::Digester{run, store::MetricChoice{{}}}.finish(pools);
        digest.run.file = test::Generator::path(run);
        candidates.push_back({.digest = std::move(digest)});
    }
    return gather(std::move(candidates), std::move(pools), {.now = quarter_start(100)});
}

test::GeneratorOptions fleet() {
    auto types = test::usual_types();
    types.resize(3);
    return {.types = types,
            .machines = 4,
            .quarters = 8,
            .runs = 2,
            .values = 2, // batch values are not looked at here
            .benchmarks = {"gemm.", "memory.", "peak."}};
}

class HistoryTruth : public testing::Test {
protected:
    static record::Named fact(const char* name, const char* value) {
        return {name, std::string{value}};
    }
    static History made(const test::GeneratorOptions& options) {
        return make_history(collection_of(options)).value();
    }
    static const HistoryGroup& group(const History& history, const std::string& name) {
        return *std::ranges::find(history.groups, name, &HistoryGroup::name);
    }
};

TEST_F(HistoryTruth, AComparisonFindsAnOlderLibraryWhereItIsUsed) {
    auto options = fleet();
    options.types.resize(1);
    options.quarters = 2;
    options.steps = {{.benchmark = "gemm.",
                      .library = "openblas",
                      .seconds = quarter_start(1),
                      .ratio = 0.93,
                      .recorded = {fact("software.openblas.version", "0.3.99")}}};
    const auto comparison =
        must(compare::compare(collection_of(options), {.column = {"openblas.version"}}));
    std::size_t found = 0;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows) {
            const auto& contrast = *row.cells[1].contrast;
            const bool planted = row.family == "gemm" && row.library == "openblas";
            EXPECT_EQ(contrast.outcome == compare::ContrastOutcome::worse, planted) << row.identity;
            EXPECT_NE(contrast.outcome, compare::ContrastOutcome::better) << row.identity;
            if (!planted) continue;
            ++found;
            EXPECT_NEAR(*contrast.ratio, 0.93, 0.02);
        }
    EXPECT_GT(found, 0U);
}

TEST_F(HistoryTruth, NothingPlantedNothingFound) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        auto options = fleet();
        options.seed = seed;
        const auto history = made(options);
        ASSERT_THAT(history.groups, SizeIs(3));
        for (const auto& one : history.groups) {
            EXPECT_GT(one.series.size(), 8U);
            EXPECT_THAT(one.events, IsEmpty()) << seed << ": " << one.events.front().text;
        }
    }
}

TEST_F(HistoryTruth, WhatIsPlantedIsFoundWithItsCause) {
    auto options = fleet();
    const double kernel = quarter_start(2.4);
    const double library = quarter_start(3.6);
    const double cpu = quarter_start(4.0);
    const double unknown = quarter_start(5.5);
    options.steps = {
        {"c7a.large", "memory.", "", kernel, 0.93, {fact("kernel", "6.6.30")}},
        {"c7i.xlarge",
         "gemm.",
         "openblas",
         library,
         1.06,
         {fact("software.openblas.version", "0.3.99")}},
        {"c8g.2xlarge", "", "", cpu, 1.2, {fact("cpu_model", "Neoverse-V3")}},
        {"c7a.large", "peak.", "", unknown, 0.95, {}},
        {"c7i.xlarge", "", "", quarter_start(6), 1, {fact("kernel", "6.6.30")}}, // no effect
    };
    const auto history = made(options);

    const auto& a = group(history, "aws c7a.large");
    ASSERT_THAT(a.events, SizeIs(2));
    EXPECT_EQ(a.events[0].cause, ChangeCause::software);
    EXPECT_THAT(a.events[0].facts, Contains(Field(&ChangedFact::name, "kernel")));
    // Five runs before it and 3% of noise: not every machine can show it alone, but none speaks against.
    EXPECT_THAT(a.events[0].machines, SizeIs(Ge(3U)));
    EXPECT_EQ(a.events[0].facts[0].without_effect, 0U);
    EXPECT_EQ(a.events[0].better, 0U);
    EXPECT_EQ(a.events[1].cause, ChangeCause::unexplained);
    EXPECT_THAT(a.events[1].machines, SizeIs(4));
    EXPECT_LE(a.events[1].earliest, unknown);
    EXPECT_GE(a.events[1].latest, unknown);

    const auto& b = group(history, "aws c7i.xlarge");
    ASSERT_THAT(b.events, SizeIs(1));
    EXPECT_EQ(b.events[0].cause, ChangeCause::software);
    EXPECT_THAT(b.events[0].facts,
                Contains(Field(&ChangedFact::name, "software.openblas.version")));
    for (const auto& series : b.series)
        EXPECT_EQ(series.change_points.size(), series.library == "openblas" ? 4U : 0U)
            << series.identity;

    const auto& c = group(history, "aws c8g.2xlarge");
    ASSERT_THAT(c.events, SizeIs(1));
    EXPECT_EQ(c.events[0].cause, ChangeCause::instance);
    EXPECT_EQ(c.events[0].better, c.series.size());
    EXPECT_NEAR(c.series[0].change_points.at(0).ratio, 1.2, 0.04);

    // Between the last run before and the first one after, on every machine.
    constexpr double turn = 91 * 86400 / 2.0; // seconds between runs of a machine
    for (const auto& series : a.series)
        for (const auto& step : series.change_points) {
            const double planted = series.family == "memory" ? kernel : unknown;
            EXPECT_NEAR(step.seconds, planted, 2 * turn) << series.identity;
            EXPECT_LT(step.high.value_or(2), 1) << series.identity;
        }
}

} // namespace
} // namespace assay::history
