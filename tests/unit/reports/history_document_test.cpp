// SPDX-License-Identifier: Apache-2.0
//
// What a history answers, and what it marks: changes that a test found, on the day they happened.

#include "document/dates.hpp"
#include "history/document.hpp"
#include "support/fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace assay::report {
namespace {

using namespace document;
using test::day;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class HistoryDocument : public testing::Test {
protected:
    History made(const HistoryOptions& options = {}) const {
        return make_history(fleet.collection, options).value();
    }
    Document written(const HistoryOptions& options = {}) const {
        return make_document(made(options));
    }
    std::string verdict(const HistoryOptions& options = {}) const {
        return written(options).verdict;
    }
    /// A run every fortnight; `factor` makes everything so many times as fast.
    void measure(const std::string& id, int from, int to, double factor = 1, double noise = 0.005) {
        for (int i = from; i < to; ++i)
            fleet.run(id, day(14.0 * i),
                      {{gemm, 1e11 * factor * std::exp(noise * gauss())},
                       {latency, 1e-7 / factor * std::exp(noise * gauss())}});
    }

    test::Fleet fleet;
    test::Gauss gauss{3};
    std::uint32_t gemm = fleet.series("gemm.square", "openblas", "flop_rate");
    std::uint32_t latency = fleet.series("memory.latency", "host", "latency");
};

template <class T>
std::vector<T> blocks_of(const Document& document) {
    std::vector<T> found;
    for (const auto& section : document.sections)
        for (const auto& block : section.blocks)
            if (const auto* one = std::get_if<T>(&block)) found.push_back(*one);
    return found;
}
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
    EXPECT_THAT(verdict(), StartsWith("2 of 2 test items became 6."));
    EXPECT_THAT(verdict(), HasSubstr("slower on aws c7a.large since 2024-05-20: "
                                     "kernel 6.1.0 → 6.8.0. One more change was found: 1 for the "
                                     "better."));
    EXPECT_EQ(written().tone, Tone::bad);
    // The last first.
    const auto findings = blocks_of<Findings>(written()).front().findings;
    ASSERT_THAT(findings, SizeIs(2));
    EXPECT_THAT(findings[0].what, HasSubstr("6.8.0 → 6.9.0"));
    EXPECT_EQ(findings[0].severity, Severity::note);
    EXPECT_EQ(findings[1].severity, Severity::caution);
}

TEST_F(HistoryDocument, WhereNothingChangedSaysWhatWouldHaveBeenFound) {
    for (const char* id : {"m-1", "m-2", "m-3"}) measure(id, 0, 26);
    EXPECT_THAT(verdict(), StartsWith("Nothing changed in 4 quarters: a lasting change above 1."));
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
    EXPECT_THAT(verdict(), StartsWith("No change can be found yet: that takes 5 points"));
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
    ASSERT_THAT(charts, SizeIs(2));
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
    ASSERT_THAT(document.sections, SizeIs(testing::Ge(2U)));
    EXPECT_EQ(document.sections[0].title, "aws c7a.large");
    const auto table = table_with(document, "change found");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_EQ(table.rows[0].group, "memory.latency");
    EXPECT_THAT(table.rows[0].tags.outcomes, ElementsAre("worse"));
    EXPECT_EQ(table.rows[0].tags.family, "memory");
    EXPECT_THAT(table.rows[0].tags.libraries, ElementsAre("host"));
    EXPECT_THAT(table.rows[0].cells[0].notes, SizeIs(1));
    EXPECT_THAT(table.rows[1].tags.outcomes, ElementsAre("same"));
    EXPECT_THAT(table.rows[1].cells[0].notes, IsEmpty());
}

TEST_F(HistoryDocument, EveryTableHasACellForEachColumn) {
    for (int m = 0; m < 6; ++m) measure("m-" + std::to_string(m), 0, 20);
    measure("m-0", 20, 26, 0.9);
    const auto tables = blocks_of<document::Table>(written());
    EXPECT_THAT(tables, SizeIs(5));
    for (const auto& table : tables) {
        EXPECT_THAT(table.rows, testing::Not(IsEmpty())) << table.sheet;
        for (const auto& row : table.rows) EXPECT_THAT(row.cells, SizeIs(table.columns.size()));
    }
}

TEST_F(HistoryDocument, TheMethodSaysWhichLevelAndSizeItWasAskedFor) {
    measure("m-1", 0, 6);
    EXPECT_THAT(written({.alpha = 0.05, .minimum_effect = 0.03}).foot.at(0).text,
                testing::AllOf(HasSubstr("rate of 5%"), HasSubstr("3% or more")));
}

} // namespace
} // namespace assay::report
