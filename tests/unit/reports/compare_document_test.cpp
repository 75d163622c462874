// SPDX-License-Identifier: Apache-2.0
//
// The answer of a comparison: its first sentence, the ranking, families that agree with their rows, tables of many
// sides that fit, and outputs whose every text is hostile.

#include "base/terminal.hpp"
#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "document/text.hpp"
#include "exchange/data.hpp"
#include "json/json.hpp"
#include "markup.hpp"
#include "support/collection_maker.hpp"
#include "support/document.hpp"
#include "support/noise.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

namespace assay::compare {
namespace {

using namespace testing;
using test::about;
using test::CollectionMaker;
using test::gemm;
using test::Noise;

std::string verdict(const Comparison& comparison) { return verdict_of(comparison).text; }

/// `cases` sizes, three replicas each; `speeds` for sides A, B, ...
Comparison made(const std::vector<double>& speeds, std::int64_t cases, double spread = 0.002,
                const CompareOptions& options = {}) {
    CollectionMaker maker;
    Noise noise{11};
    for (std::size_t side = 0; side < speeds.size(); ++side) {
        const auto run = maker.run({.label = std::string(1, static_cast<char>('A' + side))});
        for (std::int64_t size = 1; size <= cases; ++size)
            maker.observe(run, gemm("openblas", size),
                          noise.replicas(1e11 * speeds[side], spread, 3));
    }
    return *compare(maker.collection(), options);
}

TEST(CompareAnswer, SaysWhichIsFasterByHowMuchAndHowSure) {
    EXPECT_THAT(
        verdict(made({1, 1.25}, 5)),
        MatchesRegex(
            R"(B is 2[45][.0-9]*% faster than A \(95%: 24\.[0-9]+ to 25\.[0-9]+%; 5 cases\)\.)"));
    EXPECT_THAT(verdict(made({1, 0.8}, 5)),
                MatchesRegex("B is (20|19\\.9|20\\.1)% slower than A .95%: .*"));
    EXPECT_EQ(verdict_of(made({1, 0.8}, 5)).tone, document::Tone::bad);
    EXPECT_THAT(verdict(made({1, 1}, 5, 0.001)),
                MatchesRegex(R"(B and A are equally fast within 0\.[0-9]+% \(5 cases\)\.)"));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(verdict(made({1, 1.25}, 5)), MatchesRegex("B 比 A 快 2[45][.0-9]*%（.*"));
}

TEST(CompareAnswer, SaysWhatWouldNotBeSeenAndHowManyPairsWouldShowIt) {
    Noise noise{5};
    const auto pairs = [&](int count, double change, bool in_turns) {
        CollectionMaker maker;
        for (const char* label : {"A", "B"}) {
            const auto run = maker.run({.label = label});
            maker.observe(run, gemm("openblas", 1),
                          noise.replicas(label[0] == 'B' ? 100 * change : 100, 0.05, count));
            if (in_turns)
                maker.collection().runs[run].pairing =
                    record::Pairing{.id = "p", .setting = label, .order = "ABBA"};
        }
        return *compare(maker.collection());
    };
    const auto unresolved = pairs(20, 1, false);
    const auto& mean = unresolved.overall[1];
    ASSERT_TRUE(mean.more && mean.detectable);
    EXPECT_GT(*mean.detectable, 0.05);
    EXPECT_EQ(mean.more->shows, 0.05);
    EXPECT_THAT(
        verdict(unresolved),
        AllOf(StartsWith("No difference found between B and A ("),
              HasSubstr(fmt::format(" {} interleaved pairs would show 5%.", mean.more->count))));
    // It is true: so many pairs find 5% in 95 of 100, give or take two standard errors.
    int found = 0;
    for (int i = 0; i < 100; ++i)
        if (pairs(static_cast<int>(mean.more->count), 1.05, true).overall[1].outcome ==
            ContrastOutcome::better)
            ++found;
    EXPECT_GE(found, 90);
    // Pairs at hand count.
    const auto some = pairs(20, 1, true);
    ASSERT_TRUE(some.overall[1].more);
    EXPECT_LT(some.overall[1].more->count, mean.more->count);
    EXPECT_THAT(verdict(some), HasSubstr(" more interleaved pairs would show 5%."));
}

TEST(CompareAnswer, OfSeveralSidesNamesTheFastestAndHowFarItIsAhead) {
    const auto clear = made({1, 1.2, 1.5, 0.9}, 5);
    EXPECT_THAT(verdict(clear),
                MatchesRegex("C is the fastest of 4: 2[45][.0-9]*% faster than B, the next "
                             ".95%: .*; 5 cases.[.]"));
    std::vector<std::size_t> order;
    for (const auto& entry : clear.ranking) order.push_back(entry.side);
    EXPECT_THAT(order, ElementsAre(2, 1, 0, 3));
    // Two sides that cannot be told apart share a rank, and neither is the fastest.
    const auto close = made({1, 1.5, 1.505}, 5, 0.03);
    EXPECT_THAT(verdict(close), AllOf(HasSubstr(" faster than A"), Not(HasSubstr("fastest"))));
    EXPECT_EQ(close.ranking[0].rank, 1U);
    EXPECT_EQ(close.ranking[1].rank, 1U);
    EXPECT_EQ(close.ranking[2].rank, 3U);
    // The baseline may be the fastest.
    EXPECT_THAT(verdict(made({1.5, 1, 1.2}, 5)),
                MatchesRegex("A is the fastest of 3: 2[45][.0-9]*% faster than C, the next.*"));
}

TEST(CompareAnswer, OneTestCaseHasNoMean) {
    for (const double spread : {0.001, 0.05}) {
        const auto comparison = made({1, 1.1}, 1, spread);
        const auto& row = *comparison.tables[0].rows[0].cells[1].contrast;
        for (const auto& mean : {comparison.overall[1], comparison.tables[0].means[1]}) {
            EXPECT_EQ(mean.count, 1U);
            EXPECT_EQ(mean.outcome, row.outcome);
            EXPECT_EQ(mean.low, row.low);
            EXPECT_EQ(mean.high, row.high);
            EXPECT_EQ(mean.p, row.p);
            EXPECT_EQ(mean.detectable, row.detectable);
        }
        EXPECT_THAT(verdict(comparison), HasSubstr("1 case)"));
    }
}

/// Families of one to three rows, on one run, several runs or several machines a side.
Comparison families(std::uint64_t seed, int runs, bool machines, double change) {
    CollectionMaker maker;
    Noise noise{seed};
    for (const char* label : {"A", "B"})
        for (int i = 0; i < runs; ++i) {
            const auto run = maker.run(
                {.label = label, .machine = machines ? fmt::format("{}-{}", label, i) : "m-1"});
            const double level = noise.about(label[0] == 'B' ? change : 1, runs > 1 ? 0.02 : 0.001);
            maker.observe(run, test::triad(), noise.replicas(2e10 * level, 0.02, 3));
            maker.observe(run, test::latency(64), noise.replicas(4e-9 / level, 0.01, 3));
            for (std::int64_t size = 1; size <= 3; ++size)
                maker.observe(run, gemm("openblas", size), noise.replicas(1e11 * level, 0.02, 3));
        }
    return *compare(maker.collection());
}

TEST(CompareAnswer, FamiliesAgreeWithTheirRows) {
    std::size_t all_called = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        for (const auto& [runs, machines] : {std::pair{1, false}, {3, false}, {2, true}, {4, true}})
            for (const double change : {1.0, 1.05, 1.1, 1.2})
                for (const auto& table : families(seed, runs, machines, change).tables) {
                    const auto& mean = table.means[1];
                    const auto& first = *table.rows.front().cells[1].contrast;
                    const bool alike = std::ranges::all_of(table.rows, [&](const auto& row) {
                        return row.cells[1].contrast->outcome == first.outcome;
                    });
                    const bool called = first.outcome == ContrastOutcome::better ||
                                        first.outcome == ContrastOutcome::worse;
                    if (table.rows.size() == 1) {
                        EXPECT_EQ(mean.outcome, first.outcome) << table.name << ' ' << seed;
                        EXPECT_EQ(mean.low, first.low);
                    }
                    if (alike && called) {
                        EXPECT_EQ(mean.outcome, first.outcome) << table.name << ' ' << seed;
                        all_called += table.rows.size() > 1 ? 1 : 0;
                    }
                }
    EXPECT_GT(all_called, 100U);
}

TEST(CompareAnswer, EveryFamilyCountsAlike) {
    CollectionMaker maker;
    for (std::int64_t size = 1; size <= 9; ++size)
        maker.sides(gemm("openblas", size), {about(100), about(100)});
    maker.sides(test::latency(64), {about(4e-9), about(2e-9)});
    const auto comparison = *compare(maker.collection());
    EXPECT_NEAR(*comparison.overall[1].ratio, std::sqrt(2), 0.001);
}

/// Whoever reads the first table can work out its last row, and the old and new value of a family give its change.
TEST(CompareAnswer, OverallChangeFollowsFromTheFamiliesShown) {
    for (const auto& comparison : {families(3, 3, false, 1.2), families(5, 4, true, 0.8)}) {
        const auto document = make_document(comparison);
        const auto& table = std::get<document::Table>(document.sections.front().blocks.front());
        const auto column = [&](const char* title) {
            return static_cast<std::size_t>(
                std::ranges::find(table.columns, title, &document::Column::title) -
                table.columns.begin());
        };
        ASSERT_EQ(table.rows.size(), 4U);
        double logs = 0;
        double cases = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto& cells = table.rows[i].cells;
            const double change = cells.at(column("change")).number.value();
            const double values =
                cells.at(column("B")).number.value() / cells.at(column("A")).number.value();
            EXPECT_NEAR(cells[0].text == "Memory (latency)" ? 1 / values : values, change, 0.02);
            logs += std::log(change) / 3;
            cases += cells.at(column("cases")).number.value();
        }
        EXPECT_EQ(table.rows[3].cells[0].text, "All families");
        EXPECT_NEAR(table.rows[3].cells.at(column("change")).number.value(), std::exp(logs), 1e-9);
        EXPECT_EQ(table.rows[3].cells.at(column("cases")).number.value(), cases);
        EXPECT_THAT(verdict(comparison), HasSubstr(amount_in_words(std::exp(logs), true) +
                                                   (logs > 0 ? " faster" : " slower")));
        // The confidence and the level are said once.
        const auto text = write::to_terminal({{document}}, {.width = 400});
        for (const std::string said : {"95% intervals", "adjusted for 5 tests"}) {
            const auto at = text.find(said);
            ASSERT_NE(at, std::string::npos) << text;
            EXPECT_EQ(text.find(said, at + 1), std::string::npos) << text;
        }
    }
}

TEST(CompareAnswer, CoresThatDifferGiveARatioPerCore) {
    CollectionMaker maker;
    for (const char* label : {"A", "B"}) {
        const bool other = label[0] == 'B';
        const auto run = maker.run({.label = label, .machine = label});
        auto& machine = maker.collection().machines.back();
        machine.cores = other ? 8 : 2;
        machine.threads = 2 * *machine.cores;
        const double rate = other ? 200 : 100;
        maker.observe(run, gemm("openblas", 1), {rate, 1.001 * rate, 0.999 * rate});
    }
    const auto document = make_document(*compare(maker.collection()));
    const auto& families = std::get<document::Table>(document.sections.front().blocks.front());
    const auto change = static_cast<std::size_t>(
        std::ranges::find(families.columns, "change", &document::Column::title) -
        families.columns.begin());
    EXPECT_EQ(families.rows.back().cells.front().text, "All families, per core");
    EXPECT_NEAR(*families.rows.back().cells[change].number, 0.5, 0.001);
}

TEST(CompareAnswer, SizesThatDifferAreSaidNearTheTop) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {about(100), about(100)});
    for (const std::int64_t size : {100, 200}) {
        maker.observe(0, gemm("openblas", size), about(100));
        maker.observe(1, gemm("openblas", size + 1), about(100));
    }
    const auto text =
        write::to_terminal({{make_document(*compare(maker.collection()))}}, {.width = 300});
    const auto said = text.find("4 of 5 cases could not be compared (different parameters).");
    ASSERT_NE(said, std::string::npos) << text;
    EXPECT_LT(said, text.find("Sides compared"));
    EXPECT_THAT(text, AllOf(HasSubstr("size 100 on A"), HasSubstr("size 101 on B")));
}

TEST(CompareAnswer, SaysWhyASideLacksCases) {
    const auto gaps = [](auto change) {
        CollectionMaker maker;
        maker.sides(gemm("openblas", 1), {about(100), about(100)});
        for (const std::int64_t size : {64, 128}) maker.observe(0, test::latency(size), about(1));
        change(maker.collection());
        return gaps_of(*compare(maker.collection()));
    };
    const auto because = [](const std::string& cause) {
        return ElementsAre("2 of 3 cases could not be compared (" + cause + ").");
    };
    EXPECT_THAT(gaps([](auto&) {}), because("not measured"));
    EXPECT_THAT(gaps([](auto& c) { c.runs[1].suite = "acceptance"; }), because("not in the suite"));
    EXPECT_THAT(gaps([](auto& c) { c.runs[1].partial = true; }),
                because("the run was interrupted"));
    // B measured one of them, in another version.
    EXPECT_THAT(gaps([](auto& c) {
                    c.series.back() = c.series[1];
                    c.series.back().version = 2;
                    c.observations.back().run = 1;
                }),
                because("different benchmark versions"));
}

TEST(CompareAnswer, SaysThatCampaignsArePooledAndRunsPartial) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {about(100), about(100)});
    maker.observe(maker.run({.label = "B"}), gemm("openblas", 1), about(100));
    maker.collection().runs[1].campaign = "2026Q1";
    maker.collection().runs[2].campaign = "2026Q2";
    maker.collection().runs[2].partial = true;
    const auto comparison = *compare(maker.collection());
    EXPECT_THAT(comparison.notes.front(), StartsWith("B pools 2 campaigns: 2026Q1 and 2026Q2."));
    EXPECT_THAT(comparison.sides[1].what,
                EndsWith("1 of 2 runs interrupted, pools 2 campaigns: 2026Q1 and 2026Q2"));
}

TEST(CompareAnswer, SixSidesFitATerminalAndAMatrix) {
    const auto document = make_document(made({1, 1.1, 1.2, 1.3, 0.9, 0.8}, 3));
    const std::vector documents{document};
    const auto text = write::to_terminal(documents, {.width = 80});
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
    for (const char* ratio : {"+10.", "+20.", "+30.", "-10.", "-20."})
        EXPECT_THAT(text, HasSubstr(std::string{ratio}));
    const auto tables = test::blocks_of<document::Table>(document);
    const auto family = std::ranges::find_if(tables, [](const auto& table) {
        return !table.rows.empty() && table.rows.front().group == "gemm.square";
    });
    ASSERT_NE(family, tables.end());
    EXPECT_THAT(family->rows.front().tags.outcomes,
                ElementsAre("better", "better", "better", "worse", "worse"));
    EXPECT_THAT(write::to_markdown(documents),
                HasSubstr("| benchmark | case | library | A | B | C | D | E | F |"));
    // Sides apart are ranked by one chart; tables say the rest.
    EXPECT_THAT(test::blocks_of<document::Chart>(document), SizeIs(1));
}

TEST(CompareAnswer, AValueWithoutARatioIsStillShownOfManySides) {
    CollectionMaker maker;
    for (const char* label : {"A", "B", "C"}) {
        auto& seen = maker.observe(maker.run({.label = label}), gemm("openblas", 1),
                                   {1e11, 1.001e11, 0.999e11});
        if (label[0] == 'C') seen.status = record::Status::disturbed;
    }
    const std::vector documents{make_document(*compare(maker.collection()))};
    EXPECT_THAT(write::to_terminal(documents, {.width = 60}),
                HasSubstr("at least 1.00x 100 GFLOP/s"));
}

Comparison hostile(const std::string& text) {
    test::CollectionMaker maker;
    for (const char* side : {"1", "2", "3"}) {
        const auto run = maker.run({.label = text + side,
                                    .machine = text + side,
                                    .instance = text,
                                    .started = text,
                                    .cpu = text});
        maker.observe(run, test::series_of("gemm." + text, text, {{text, text}}, "flop_rate"),
                      {1e9, 1.1e9});
        maker.fail(run, test::series_of(text, text, {}, "time"), record::Status::failed, text);
    }
    maker.collection().problems.push_back({text, text});
    return *compare(maker.collection());
}

TEST(CompareRender, HostileTextStaysText) {
    for (const std::string text :
         {"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
          "=cmd|' /C calc'!A0", "\x1b[31mred\x1b]0;title\a", "a|b`c\n# d", "\xff\xfe\x80",
          "\xE2\x80\xAE" // NOLINT(bugprone-suspicious-missing-comma): e is a hexadecimal digit
          "evil"}) {
        const auto comparison = hostile(text);
        const std::vector documents{make_document(comparison)};
        const auto html = write::to_html(documents, {}).value();
        for (const auto& output : {html, write::to_markdown(documents),
                                   write::to_terminal(documents), exchange::to_csv(comparison)})
            EXPECT_THAT(output, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xE2\x80\xAE"))))
                << text;
        EXPECT_EQ(test::MarkupReader{html}.problem(), "") << text;
        EXPECT_TRUE(json::parse(exchange::to_json(comparison), "json").has_value()) << text;
    }
}

TEST(CompareRender, CsvRunsNothingInASpreadsheet) {
    EXPECT_THAT(exchange::to_csv(hostile("a; =1+1")), HasSubstr("\"a;' =1+1\""));
    EXPECT_THAT(exchange::to_csv(hostile("=1+1")),
                AllOf(HasSubstr("\"'=1+1"), Not(HasSubstr(",=1+1"))));
}

TEST(CompareRender, LinesFitTheTerminalInBothLanguages) {
    const auto comparison = hostile("quite a long name of something ");
    for (const auto language : {document::Language::en, document::Language::zh})
        for (const std::size_t width : {60U, 80U, 100U}) {
            const test::Speaking in{language};
            const std::vector documents{make_document(comparison)};
            std::istringstream lines{write::to_terminal(documents, {.width = width})};
            for (std::string line; std::getline(lines, line);)
                EXPECT_LE(display_width(line), width) << line;
        }
}

TEST(CompareRender, NothingIsShownOfWhatWasNotMeasured) {
    test::CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), test::gemm("openblas", 1), {1e9});
    maker.fail(maker.run({.label = "B"}), test::gemm("openblas", 1), record::Status::incorrect,
               "off");
    const auto comparison = *compare(maker.collection());
    EXPECT_FALSE(has_common(comparison));
    EXPECT_THAT(make_document(comparison).verdict, HasSubstr("no case in common"));
    const auto parsed = json::parse(exchange::to_json(comparison), "json");
    const auto& cell = (*parsed)["tables"][0]["rows"][0]["cells"][1];
    EXPECT_TRUE(cell["value"].is_null());
    EXPECT_EQ(cell["contrast"]["outcome"], "missing");
    EXPECT_TRUE(cell["contrast"]["ratio"].is_null());
}

} // namespace
} // namespace assay::compare
