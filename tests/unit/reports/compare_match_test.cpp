// SPDX-License-Identifier: Apache-2.0
//
// Which figures stand side by side, and what is said of those that do not?

#include "compare/comparison.hpp"
#include "record/conditions.hpp"
#include "store/keys.hpp"
#include "support/collection_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace assay::compare {
namespace {

using test::CollectionMaker;
using test::gemm;
using namespace testing;

const std::vector<double> three{100, 101, 99};

std::vector<std::string> labels(const Comparison& comparison) {
    std::vector<std::string> list;
    for (const auto& side : comparison.sides) list.push_back(side.label);
    return list;
}
auto reason_for(const std::string& what, const std::string& reason) {
    return Contains(AllOf(Field(&NotCompared::what, HasSubstr(what)),
                          Field(&NotCompared::reason, HasSubstr(reason))));
}

TEST(CompareMatch, LabelsMakeSidesAndEqualLabelsMakeOne) {
    CollectionMaker maker;
    for (const char* label : {"old", "new", "old"})
        maker.observe(maker.run({.label = label}), gemm("openblas", 1024), three);
    const auto comparison = compare(maker.collection()).value();
    EXPECT_THAT(labels(comparison), ElementsAre("old", "new"));
    EXPECT_EQ(comparison.sides[0].runs, 2U);
    EXPECT_EQ(comparison.sides[0].machines, 1U);
    EXPECT_THAT(comparison.sides[0].what, HasSubstr("2 runs on 1 machine, 2026-01-31"));
    EXPECT_THAT(comparison.not_compared, IsEmpty());
}

TEST(CompareMatch, TheBaselineComesFirst) {
    CollectionMaker maker;
    for (const char* label : {"a", "b", "c"})
        maker.observe(maker.run({.label = label}), gemm("openblas", 1024), three);
    EXPECT_THAT(labels(*compare(maker.collection(), {.baseline = "c"})),
                ElementsAre("c", "a", "b"));
    const auto unknown = compare(maker.collection(), {.baseline = "d"});
    ASSERT_FALSE(unknown.has_value());
    EXPECT_THAT(unknown.error().message, HasSubstr("expected one of a, b, c"));
}

TEST(CompareMatch, OneSideSaysWhatWouldMakeSeveral) {
    CollectionMaker maker;
    for (const char* instance : {"c7a.large", "c6a.large"})
        maker.observe(maker.run({.label = "x", .instance = instance}), gemm("openblas", 1024),
                      three);
    const auto comparison = compare(maker.collection());
    ASSERT_FALSE(comparison.has_value());
    EXPECT_THAT(comparison.error().message,
                AllOf(HasSubstr("only \"x\" to compare"), HasSubstr("--column instance")));
    const auto by_instance = compare(maker.collection(), {.column = {"instance"}}).value();
    EXPECT_THAT(labels(by_instance), ElementsAre("c6a.large", "c7a.large"));
}

TEST(CompareMatch, UnlikeParametersAreNamedAndNotCompared) {
    CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), gemm("openblas", 1024), three);
    maker.observe(maker.run({.label = "B"}), gemm("openblas", 2048), three);
    const auto comparison = compare(maker.collection()).value();
    EXPECT_THAT(comparison.not_compared, SizeIs(1));
    EXPECT_THAT(comparison.not_compared, reason_for("size=1024", "size 1024 on A, size 2048 on B"));
    EXPECT_EQ(comparison.tallies[1].missing, 2U);
    EXPECT_EQ(comparison.overall[1].count, 0U);
    EXPECT_FALSE(comparison.overall[1].ratio.has_value());
}

TEST(CompareMatch, AnythingThatChangesTheMeaningKeepsSeriesApart) {
    struct Case {
        void (*change)(decide::Series&);
        std::string reason;
    };
    const std::vector<Case> cases{
        {[](decide::Series& s) { s.version = 2; }, "version 1 on A, version 2 on B"},
        {[](decide::Series& s) { s.metric = "time", s.unit = "s", s.higher_is_better = false; },
         "floating point rate on A, time per call on B"},
        {[](decide::Series& s) { s.unit = "FLOP/min"; }, "FLOP/s on A, FLOP/min on B"},
        {[](decide::Series& s) { s.parameters.push_back({"sparse", true}); },
         "no sparse on A, sparse true"},
        {[](decide::Series& s) { s.parameters.pop_back(); }, "size 1024 on A, no size on B"},
    };
    for (const auto& [change, reason] : cases) {
        CollectionMaker maker;
        maker.observe(maker.run({.label = "A"}), gemm("openblas", 1024), three);
        auto other = gemm("openblas", 1024);
        change(other);
        const auto run = maker.run({.label = "B"});
        maker.collection().series.push_back(other);
        maker.collection().observations.push_back(maker.collection().observations.front());
        maker.collection().observations.back().run = run;
        maker.collection().observations.back().series = 1;
        const auto comparison = compare(maker.collection()).value();
        EXPECT_THAT(comparison.not_compared, reason_for("gemm.square", reason));
        EXPECT_EQ(comparison.tallies[1].missing, 2U) << reason;
    }
}

/// One run for each list of conditions, its label "A", "B", ...
CollectionMaker under(const std::vector<record::NamedList>& conditions) {
    CollectionMaker maker;
    std::string label = "A";
    for (const auto& own : conditions) {
        auto series = gemm("cublaslt", 1024);
        series.conditions = own;
        maker.observe(maker.run({.label = label}), series, three);
        ++label[0];
    }
    return maker;
}
/// Cases side by side: "A B | C".
std::string rows_of(const Comparison& comparison) {
    std::string text;
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows) {
            std::string sides;
            for (std::size_t i = 0; i < row.cells.size(); ++i)
                if (row.cells[i].value)
                    sides += (sides.empty() ? "" : " ") + comparison.sides[i].label;
            text += (text.empty() ? "" : " | ") + sides;
        }
    return text;
}
record::NamedList ecc(const std::string& state) { return {{"ecc", state}}; }

TEST(CompareMatch, FiguresUnderOtherConditionsShareNoRow) {
    for (const auto& condition : record::condition_table()) {
        const std::string name{condition.name};
        const record::NamedList here{{name, std::string{"one"}}};
        const record::NamedList there{{name, std::string{"another"}}};
        auto apart = under({here, there});
        const auto comparison = compare(apart.collection()).value();
        EXPECT_EQ(rows_of(comparison), "A | B") << name;
        EXPECT_THAT(comparison.not_compared, reason_for("gemm.square", "another on B")) << name;
        auto alike = under({there, there});
        EXPECT_EQ(rows_of(*compare(alike.collection())), "A B") << name;
    }
}

TEST(CompareMatch, OtherSettingsSayHowAndNotWhat) {
    CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), gemm("cublaslt", 1024), three);
    maker.observe(maker.run({.label = "B"}), gemm("cublaslt", 1024), three).settings = 1;
    maker.collection().settings = {{{"algorithm", std::string{"7"}}},
                                   {{"algorithm", std::string{"9"}}}};
    EXPECT_EQ(rows_of(*compare(maker.collection())), "A B");
}

TEST(CompareMatch, WhatWasNotRecordedIsTakenToBeTheOnlyValueThereIs) {
    auto maker = under({{}, ecc("off")});
    const auto comparison = compare(maker.collection()).value();
    EXPECT_EQ(rows_of(comparison), "A B");
    const auto& row = comparison.tables[0].rows[0];
    EXPECT_THAT(row.identity, HasSubstr("ecc off"));
    EXPECT_THAT(row.cells[0].notes,
                ElementsAre("ecc not recorded in 1 of 1 runs; assumed to be off"));
    EXPECT_THAT(row.cells[1].notes, IsEmpty());
}

TEST(CompareMatch, TwoThatDifferNeverMeetThroughOneThatDoesNotSay) {
    std::vector<std::pair<std::string, record::NamedList>> sides{
        {"on", ecc("on")}, {"unknown", {}}, {"off", ecc("off")}};
    const auto label_of = [](const auto& side) { return side.first; };
    std::ranges::sort(sides, {}, label_of);
    do {
        CollectionMaker maker;
        for (const auto& [label, conditions] : sides) {
            auto series = gemm("cublaslt", 1024);
            series.conditions = conditions;
            maker.observe(maker.run({.label = label}), series, three);
        }
        const auto comparison = compare(maker.collection()).value();
        ASSERT_THAT(comparison.tables, SizeIs(1));
        std::vector<std::string> rows;
        for (const auto& row : comparison.tables[0].rows)
            rows.push_back(row.identity.substr(row.identity.find(')')));
        EXPECT_THAT(rows, UnorderedElementsAre(")", "), ecc off", "), ecc not recorded"));
    } while (std::ranges::next_permutation(sides, {}, label_of).found);
}

TEST(CompareMatch, AnotherConditionMayTellWhichItWas) {
    const record::Named two{"machines", std::int64_t{2}};
    const record::Named eight{"machines", std::int64_t{8}};
    auto maker = under(
        {{two}, {two, {"ecc", std::string{"on"}}}, {eight, {"ecc", std::string{"off"}}}, {eight}});
    EXPECT_EQ(rows_of(*compare(maker.collection())), "A B | C D");
}

TEST(CompareMatch, TagsAndCampaignsCanBeTheColumns) {
    CollectionMaker maker;
    for (const char* rack : {"b7", "c1"}) {
        const auto run = maker.run({.label = "x"});
        maker.collection().runs[run].tags = {{"rack", std::string{rack}}};
        maker.collection().runs[run].campaign = std::string{"moved from "} + rack;
        maker.observe(run, gemm("openblas", 1024), three);
    }
    const auto by = [&](const char* key) {
        const auto comparison = compare(maker.collection(), {.column = {key}});
        return comparison ? labels(*comparison) : std::vector{comparison.error().message};
    };
    EXPECT_THAT(by("tag.rack"), ElementsAre("b7", "c1"));
    EXPECT_THAT(by("campaign"), ElementsAre("moved from b7", "moved from c1"));
    EXPECT_THAT(by("tag.rak"), ElementsAre(HasSubstr("tag.rack")));
    const auto left =
        compare(maker.collection(), {.column = {"tag.rack"}, .filter = {"tag.rack=b7"}});
    ASSERT_FALSE(left.has_value());
    EXPECT_THAT(left.error().message, HasSubstr("only \"b7\" to compare"));
}

TEST(CompareMatch, ConditionsCanBeTheColumns) {
    auto maker = under({ecc("on"), ecc("off")});
    const auto comparison = compare(maker.collection(), {.column = {"ecc"}}).value();
    EXPECT_THAT(labels(comparison), ElementsAre("off", "on"));
    EXPECT_EQ(rows_of(comparison), "off on");
}

TEST(CompareMatch, OtherLibrariesMeetInTheTablesByQuestion) {
    CollectionMaker maker;
    const auto a = maker.run({.label = "A"});
    maker.observe(a, gemm("openblas", 1024), {500, 501, 502});
    maker.observe(a, gemm("onednn", 1024), {480, 481, 482});
    maker.observe(maker.run({.label = "B"}), gemm("onednn", 1024), {700, 701, 702});
    const auto comparison = compare(maker.collection()).value();
    ASSERT_THAT(comparison.tables, SizeIs(1));
    EXPECT_THAT(comparison.tables[0].rows, SizeIs(2)); // library by library
    ASSERT_THAT(comparison.questions, SizeIs(1));
    ASSERT_THAT(comparison.questions[0].rows, SizeIs(1));
    const auto& best = comparison.questions[0].rows[0];
    EXPECT_EQ(best.cells[0].library, "openblas");
    EXPECT_EQ(best.cells[1].library, "onednn");
    EXPECT_EQ(best.libraries, 2U);
    EXPECT_NEAR(*best.cells[1].contrast->ratio, 701.0 / 501.0, 1e-3);
}

TEST(CompareMatch, LibrariesCanBeTheColumns) {
    CollectionMaker maker;
    const auto run = maker.run({.label = "A"});
    maker.observe(run, gemm("openblas", 1024), {500, 501, 502});
    maker.observe(run, gemm("onednn", 1024), {480, 481, 482});
    const auto comparison = compare(maker.collection(), {.column = {"library"}}).value();
    EXPECT_THAT(labels(comparison), ElementsAre("onednn", "openblas"));
    ASSERT_THAT(comparison.tables[0].rows, SizeIs(1));
    EXPECT_EQ(comparison.tables[0].rows[0].identity,
              "gemm.square precision=fp64 size=1024 (flop_rate)");
    EXPECT_THAT(comparison.questions, IsEmpty());
}

TEST(CompareMatch, WhatOneColumnAloneCanDoIsNoComparison) {
    CollectionMaker maker;
    const auto run = maker.run({.label = "A"});
    for (const char* library : {"openblas", "onednn"})
        maker.observe(run, gemm(library, 1024, "fp32"), three);
    maker.observe(run, gemm("openblas", 1024), three);
    maker.observe(run, test::triad(), three);
    const auto comparison = compare(maker.collection(), {.column = {"library"}}).value();
    EXPECT_THAT(labels(comparison), ElementsAre("onednn", "openblas")); // "host" shares nothing
    EXPECT_EQ(comparison.series, 1U);
    EXPECT_THAT(comparison.not_compared,
                Contains(AllOf(Field(&NotCompared::reason, "not measured elsewhere"),
                               Field(&NotCompared::where, ElementsAre("host")))));
}

TEST(CompareMatch, ParametersCanBeColumnsAndMetricsCannot) {
    CollectionMaker maker;
    const auto run = maker.run({.label = "A"});
    for (const std::int64_t size : {512, 1024, 2048})
        maker.observe(run, gemm("openblas", size), three);
    maker.observe(run, test::triad(), three);
    const auto comparison = compare(maker.collection(), {.column = {"size"}}).value();
    EXPECT_THAT(labels(comparison), ElementsAre("512", "1024", "2048"));
    ASSERT_THAT(comparison.tables, SizeIs(1));
    EXPECT_EQ(comparison.tables[0].rows[0].what, "fp64");
    EXPECT_THAT(comparison.not_compared, reason_for("1 value", "no parameter \"size\""));
    EXPECT_FALSE(compare(maker.collection(), {.column = {"metric"}}).has_value());
}

TEST(CompareMatch, TablesRowsAndFiltersGoByKeys) {
    CollectionMaker maker;
    for (const char* instance : {"c6a.large", "c7a.large"})
        for (const char* started : {"2026-02-01T00:00:00Z", "2025-11-01T00:00:00Z"}) {
            const auto run = maker.run({.label = "x", .instance = instance, .started = started});
            maker.observe(run, gemm("openblas", 1024), three);
            maker.observe(run, test::triad(), three);
        }
    CompareOptions options{
        .table = {"instance"}, .column = {"quarter"}, .filter = {"family!=memory"}};
    const auto comparison = compare(maker.collection(), options).value();
    EXPECT_THAT(labels(comparison), ElementsAre("2025Q4", "2026Q1"));
    EXPECT_THAT(comparison.tables, ElementsAre(Field(&ComparedTable::name, "c6a.large"),
                                               Field(&ComparedTable::name, "c7a.large")));
    EXPECT_EQ(comparison.series, 2U);
    options = {.row = {"instance"}, .column = {"quarter"}, .filter = {"benchmark=gemm.*"}};
    const auto by_row = compare(maker.collection(), options).value();
    ASSERT_THAT(by_row.tables[0].rows, SizeIs(2));
    EXPECT_THAT(by_row.tables[0].rows[0].what, HasSubstr("c6a.large: "));
}

TEST(CompareMatch, UnknownKeysSuggestTheNearest) {
    CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), gemm("openblas", 1024), three);
    const auto wrong = compare(maker.collection(), {.column = {"instanse"}});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().fault, Fault::usage);
    EXPECT_THAT(wrong.error().message, HasSubstr("did you mean \"instance\""));
    EXPECT_THAT(compare(maker.collection(), {.filter = {"library"}}).error().message,
                HasSubstr("expected KEY=VALUE"));
    EXPECT_EQ(store::quarter_of("2026-13-01T00:00:00Z"), "");
    EXPECT_EQ(store::quarter_of("2026"), "");
}

TEST(CompareMatch, WhatFailedSaysWhy) {
    CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), gemm("openblas", 1024), three);
    maker.fail(maker.run({.label = "B"}), gemm("openblas", 1024), record::Status::incorrect,
               "error 3.1 is above\x1b[31m the bound");
    maker.collection().problems.push_back({"results/9/run.json", "truncated at byte 17"});
    const auto comparison = compare(maker.collection()).value();
    EXPECT_THAT(comparison.not_compared,
                reason_for("gemm.square", "incorrect: error 3.1 is above the bound"));
    EXPECT_THAT(comparison.not_compared, reason_for("results/9/run.json", "truncated"));
    const auto& cell = comparison.tables[0].rows[0].cells[1];
    EXPECT_FALSE(cell.value.has_value());
    EXPECT_EQ(cell.contrast->outcome, ContrastOutcome::missing);
}

} // namespace
} // namespace assay::compare
