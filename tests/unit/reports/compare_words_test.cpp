// SPDX-License-Identifier: Apache-2.0
//
// Words of comparisons made by hand: the headline and exceptions, gaps, and ratios as text.

#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "support/document.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

namespace assay::compare {
namespace {

using namespace testing;

Contrast contrast(double ratio, double half = 0.002) {
    const bool differs = std::abs(ratio - 1) > half;
    return {.outcome = !differs    ? ContrastOutcome::same
                       : ratio > 1 ? ContrastOutcome::better
                                   : ContrastOutcome::worse,
            .ratio = ratio,
            .low = ratio - half,
            .high = ratio + half,
            .detectable = 0.03};
}
Contrast unresolved(double ratio, double half, double detectable) {
    auto made = contrast(ratio, half);
    made.outcome = ContrastOutcome::cannot_tell;
    made.detectable = detectable;
    return made;
}
Contrast bound(RatioKind kind, double ratio, ContrastOutcome outcome) {
    Contrast made{.outcome = outcome, .kind = kind, .ratio = ratio};
    if (kind == RatioKind::at_least) made.low = ratio;
    if (kind == RatioKind::at_most) made.high = ratio;
    if (outcome == ContrastOutcome::cannot_tell) made.no_verdict = NoVerdict::disturbed;
    return made;
}
MeanRatio mean_of(const Contrast& contrast, std::size_t count) {
    MeanRatio mean;
    static_cast<Contrast&>(mean) = contrast;
    mean.count = count;
    return mean;
}

ComparedTable family(const std::string& title, const Contrast& mean,
                     const std::vector<Contrast>& rows) {
    ComparedTable table{.name = title, .title = title};
    std::size_t counted = 0;
    for (const auto& one : rows) {
        const bool missing = one.outcome == ContrastOutcome::missing;
        counted += !missing && one.kind == RatioKind::exact ? 1 : 0;
        const auto id = fmt::format("{}.case[host] size={}", title, table.rows.size());
        table.rows.push_back(
            {.identity = id, .family = title, .benchmark = title, .name = id, .unit = "B/s"});
        table.rows.back().cells = {{.value = 1e9}, {.contrast = one}};
        if (!missing) table.rows.back().cells[1].value = 1e9 * one.ratio.value_or(1);
    }
    table.means = {mean_of({.ratio = 1}, counted), mean_of(mean, counted)};
    table.tallies.resize(2);
    return table;
}
Comparison made(const Contrast& overall, std::vector<ComparedTable> tables) {
    Comparison comparison{.sides = {{.label = "A"}, {.label = "B"}}, .tables = std::move(tables)};
    std::size_t count = 0;
    Tally tally;
    for (const auto& table : comparison.tables) {
        comparison.series += table.rows.size();
        count += table.means[1].count;
        for (const auto& row : table.rows)
            ++(row.cells[1].contrast->outcome == ContrastOutcome::missing ? tally.missing
                                                                          : tally.cannot_tell);
    }
    comparison.tallies = {{}, tally};
    comparison.overall = {mean_of({.ratio = 1}, count), mean_of(overall, count)};
    if (count > 0) comparison.ranking = {{.side = 1}, {.side = 0, .rank = 2}};
    return comparison;
}
std::vector<Contrast> times(std::size_t count, const Contrast& contrast) {
    return std::vector(count, contrast);
}
std::string said(const Comparison& comparison) { return verdict_of(comparison).text; }

TEST(CompareHeadline, NamesFamilyThatWentTheOtherWay) {
    auto comparison = made(contrast(1.066, 0.0006),
                           {family("Matrix products", contrast(1.24), times(18, contrast(1.24))),
                            family("Memory", contrast(0.88), times(4, contrast(0.88)))});
    for (auto& side : comparison.sides) side.machines = 3;
    EXPECT_EQ(said(comparison), "B is 6.6% faster than A (95%: 6.5 to 6.7%; 22 cases, 3 machines "
                                "each), but 12% slower in memory.");
    EXPECT_EQ(verdict_of(comparison).tone, document::Tone::good);
    EXPECT_THAT(gaps_of(comparison), IsEmpty());
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(said(comparison), StartsWith("B 比 A 快 6.6%（95% 区间 6.5 至 6.7%；22 个测试项"));
}

TEST(CompareHeadline, NamesCasesWhereNoFamilyWentTheOtherWay) {
    auto rows = times(18, contrast(1.1));
    for (const double ratio : {0.88, 0.95, 0.97, 0.98}) rows.push_back(contrast(ratio));
    EXPECT_EQ(said(made(contrast(1.07), {family("Memory", contrast(1.07), rows)})),
              "B is 7% faster than A (95%: 6.8 to 7.2%; 22 cases), but slower in 4 of 22 cases "
              "(by up to 12%).");
    EXPECT_EQ(said(made(contrast(0.8), {family("Memory", contrast(0.8), times(5, contrast(0.8)))})),
              "B is 20% slower than A (95%: 19.8 to 20.2%; 5 cases).");
    EXPECT_EQ(
        said(made(contrast(3.1, 0.1), {family("Memory", contrast(3.1), times(5, contrast(3.1)))})),
        "B is 3.1 times as fast as A (95%: 3.0 to 3.2; 5 cases).");
}

TEST(CompareHeadline, SaysWhatDiffersWhereTheWholeDoesNot) {
    const auto comparison = made(unresolved(0.999, 0.004, 0.006),
                                 {family("Matrix products", contrast(0.9), times(4, contrast(0.9))),
                                  family("Memory", contrast(1.001), times(19, contrast(1.001)))});
    EXPECT_EQ(said(comparison), "No overall difference found between B and A (within 0.5%; 23 "
                                "cases), but B is 10% slower in matrix products: 4 of 23 cases.");
    EXPECT_EQ(verdict_of(comparison).tone, document::Tone::weak);
}

TEST(CompareHeadline, SaysWithinWhatSidesAgreeAndNeverZero) {
    const auto of = [](double half) {
        const auto same = contrast(1, half);
        return said(made(same, {family("Memory", same, times(22, same))}));
    };
    EXPECT_EQ(of(0.0128), "B and A are equally fast within 1.3% (22 cases).");
    EXPECT_EQ(of(0), "B and A are equally fast within 0.1% (22 cases).");
}

TEST(CompareHeadline, SaysWhatWouldShowAndHowManyRunsMore) {
    const auto open = unresolved(1.01, 0.03, 0.03);
    auto comparison = made(open, {family("Memory", open, times(22, open))});
    comparison.unit = Unit::run;
    comparison.overall[1].more = MoreValues{.count = 5, .shows = 0.02};
    EXPECT_EQ(said(comparison), "No difference found between B and A (22 cases); a difference "
                                "above 3% would show. 5 more runs each would show 2%.");
}

TEST(CompareHeadline, GivesRangeOfFewCommonCases) {
    auto rows = times(168, {});
    for (const double ratio : {51.0, 286.0, 290.0}) rows.push_back(contrast(ratio, 1));
    auto comparison = made({}, {family("Memory", contrast(121, 3), rows)});
    comparison.sides[0].label = "host";
    comparison.sides[1].label = "the H100";
    EXPECT_EQ(said(comparison), "Where both were measured, the H100 is 51 to 290 times as fast as "
                                "host. 3 of 171 cases are common: no overall figure.");
    EXPECT_THAT(gaps_of(comparison),
                ElementsAre(StartsWith("168 of 171 cases could not be compared")));
}

TEST(CompareHeadline, CountsCasesWhereMostAreBounds) {
    auto rows = times(6, bound(RatioKind::at_least, 1.2, ContrastOutcome::better));
    rows.push_back(bound(RatioKind::at_least, 3.1, ContrastOutcome::better));
    rows.push_back(bound(RatioKind::at_most, 0.9, ContrastOutcome::worse));
    for (int i = 0; i < 4; ++i)
        rows.push_back(bound(RatioKind::about, 1.02, ContrastOutcome::cannot_tell));
    auto comparison = made({}, {family("Memory", {}, rows)});
    EXPECT_EQ(said(comparison), "Compared with A, B is slower in 1 of 12 cases (by 10%) and faster "
                                "in 7 of 12 cases (by up to 3.1x).");
    EXPECT_THAT(gaps_of(comparison),
                ElementsAre("4 of 4 unresolved cases: measured under load or too noisy."));
    comparison = made({}, {family("Memory", {}, times(3, rows.back()))});
    EXPECT_THAT(said(comparison), StartsWith("None of 3 cases shows whether B or A is faster: the "
                                             "median change is +2.0%"));
}

TEST(CompareHeadline, NamesFastestOfManyAndWhereTheNextIsFaster) {
    auto comparison =
        made(contrast(1.5), {family("Memory", contrast(1.5), times(5, contrast(1.5))),
                             family("Sorting", contrast(0.9), times(5, contrast(0.9)))});
    comparison.sides.push_back({.label = "C"});
    for (auto& table : comparison.tables) {
        table.means.push_back(mean_of(contrast(1.2), 5));
        for (auto& row : table.rows) row.cells.push_back({.value = 1e9, .contrast = contrast(1.2)});
    }
    comparison.overall.push_back(mean_of(contrast(1.2), 10));
    comparison.tallies.emplace_back();
    comparison.ranking = {{.side = 1, .over_next = mean_of(contrast(1.25), 10)},
                          {.side = 2, .rank = 2},
                          {.side = 0, .rank = 3}};
    EXPECT_EQ(said(comparison), "B is the fastest of 3: 25% faster than C, the next (95%: 24.8 to "
                                "25.2%; 10 cases), but 25% slower in sorting.");
}

TEST(CompareGaps, AreGroupedByCause) {
    auto comparison =
        made(contrast(1.1), {family("Memory", contrast(1.1), times(9, contrast(1.1)))});
    comparison.series = 29;
    for (int i = 0; i < 20; ++i)
        comparison.not_compared.push_back({.what = fmt::format("fft.one[fftw] size={}", i),
                                           .reason = fmt::format("size {} on A, size 0 on B", i),
                                           .where = {i % 2 == 0 ? "A" : "B"},
                                           .cause = "different parameters",
                                           .code = NotComparedCode::unlike});
    comparison.not_compared.push_back(
        {.what = "gemm.square[blis]", .reason = "crashed", .where = {"B"}});
    comparison.not_compared.push_back({.what = "x/run.json",
                                       .reason = "truncated",
                                       .cause = "not used",
                                       .code = NotComparedCode::file});
    EXPECT_THAT(gaps_of(comparison), ElementsAre("1 file or case was not used."));
    const std::vector documents{make_document(comparison)};
    EXPECT_THAT(write::to_terminal(documents, {.width = 200}),
                AllOf(HasSubstr("- different parameters, 20 cases: fft.one (20)\n"),
                      HasSubstr("- B: crashed: gemm.square[blis]\n"),
                      HasSubstr("- truncated: x/run.json\n")));
}

TEST(CompareGaps, HaveOneLineForEachCauseWithoutAVerdict) {
    auto levels = unresolved(1.1, 0.01, 0.2);
    levels.no_verdict = NoVerdict::two_levels;
    auto rows = times(9, bound(RatioKind::about, 1.1, ContrastOutcome::cannot_tell));
    rows.push_back(levels);
    const auto comparison = made({}, {family("Memory", {}, rows)});
    EXPECT_THAT(group_not_compared(comparison),
                ElementsAre(Field(&NotComparedGroup::entries, SizeIs(9)),
                            AllOf(Field(&NotComparedGroup::cause, "two performance levels"),
                                  Field(&NotComparedGroup::entries, SizeIs(1)))));
}

TEST(CompareRatio, IsPercentNearOneAndTimesElsewhere) {
    EXPECT_EQ(contrast_in_short(contrast(1.24)), "+24.0% ±0.20%");
    EXPECT_EQ(contrast_in_short(contrast(0.88)), "-12.0% ±0.20%");
    EXPECT_EQ(contrast_in_short(contrast(3.12, 0.0624)), "3.12x ±2.0%");
    EXPECT_EQ(contrast_in_short(contrast(1.001)), "= +0.1% ±0.20%");
    auto wide = unresolved(0.92, 0.3, 0.5);
    wide.high = 1.41;
    EXPECT_EQ(contrast_in_short(wide), "~ -8.0% (-38 to +41%)");
    EXPECT_EQ(ratio_in_words(contrast(1.08, 0.03)), "+8.0% (95%: +5.0 to +11.0%)");
}

TEST(CompareRatio, SaysBoundsAndWhatMadeThem) {
    auto least = bound(RatioKind::at_least, 3.1, ContrastOutcome::better);
    least.about = "B: gzip used 61% of the CPU";
    EXPECT_EQ(contrast_in_short(least), "at least 3.10x");
    EXPECT_EQ(contrast_in_words(least), "at least 3.10x (B: gzip used 61% of the CPU)");
    const auto most = bound(RatioKind::at_most, 0.52, ContrastOutcome::worse);
    EXPECT_EQ(contrast_in_short(most), "at most 0.52x");
    const auto about = bound(RatioKind::about, 1.02, ContrastOutcome::cannot_tell);
    EXPECT_EQ(contrast_in_short(about), "about 1.02x");
    // Once in the legend, and as a note of the row, but not where both sides are open.
    const auto comparison = made({}, {family("Memory", {}, {least, about})});
    const auto text = write::to_terminal({{make_document(comparison)}}, {.width = 200});
    EXPECT_THAT(text, AllOf(HasSubstr("At least, at most: one of"), HasSubstr("About: both"),
                            Not(HasSubstr("not resolved at that level")),
                            HasSubstr("      B: gzip used 61% of the CPU\n")));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(contrast_in_short(least), "至少 3.10 倍");
    EXPECT_EQ(contrast_in_short(most), "至多 0.52 倍");
    EXPECT_EQ(contrast_in_short(about), "约 1.02 倍");
}

TEST(CompareDelivered, IsSaidBesideTheValueAndOverall) {
    auto comparison =
        made(contrast(1.1), {family("Memory", contrast(1.1), times(5, contrast(1.1)))});
    for (auto& row : comparison.tables[0].rows) row.common = true;
    EXPECT_EQ(delivered_overall(comparison), "");
    auto& cell = comparison.tables[0].rows[0].cells[1];
    cell.delivered = *cell.value * 0.9;
    cell.fast_share = 0.8;
    EXPECT_EQ(delivered_in_words(cell, "B/s"),
              "990 MB/s with slow replicas included; 80% of the replicas are fast");
    EXPECT_EQ(delivered_overall(comparison),
              "Overall change with slow replicas included: B: +7.7%.");
    cell.fast_share = 1; // without slow replicas there is nothing to include
    EXPECT_EQ(delivered_in_words(cell, "B/s"), "");
    EXPECT_EQ(delivered_overall(comparison), "");
    cell.fast_share = 0.8;
    cell.delivered = *cell.value * 0.995;
    EXPECT_EQ(delivered_in_words(cell, "B/s"), "");
}

} // namespace
} // namespace assay::compare
