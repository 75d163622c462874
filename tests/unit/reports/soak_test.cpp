// SPDX-License-Identifier: Apache-2.0
//
// What the report of a soak answers first, and how it shows errors and lost speed.

#include "rendered.hpp"
#include "report/report.hpp"
#include "sample.hpp"
#include "support/document.hpp"
#include "support/made_soak.hpp"

#include <gmock/gmock.h>

namespace assay::report {
namespace {

using namespace testing;
using document::Tone;
using test::flip_in;
using test::made_soak;

record::Run soaked(const std::function<double(int)>& factor = [](int) { return 1.0; }) {
    auto run = test::golden_run();
    run.cases.resize(1);
    run.cases[0].parameters.push_back({"soak", true});
    run.soak = made_soak(record::identity(run.cases[0]), factor);
    return run;
}

template <class Block>
std::vector<Block> blocks_of(const record::Run& run) {
    return test::blocks_of<Block>({.sections = {soak_section(run).value()}});
}
std::vector<std::string> paragraphs(const record::Run& run) {
    std::vector<std::string> texts;
    for (const auto& one : blocks_of<document::Paragraph>(run)) texts.push_back(one.text);
    return texts;
}
std::vector<std::string> cells(const document::Table& table) {
    std::vector<std::string> texts;
    for (const auto& cell : table.rows.at(0).cells) texts.push_back(cell.text);
    return texts;
}

TEST(OfASoak, OtherRunsHaveNone) {
    EXPECT_FALSE(soak_section(test::golden_run()));
    EXPECT_THAT(test::terminal_of(test::golden_run()), Not(HasSubstr("Soak")));
}

TEST(OfASoak, AllRightSaysHowMuchWasLookedAt) {
    auto run = soaked();
    EXPECT_THAT(paragraphs(run), ElementsAre(HasSubstr("60.0 k calls, 60.0 k of them compared"),
                                             HasSubstr("lost more than 3.0% of its rate")));
    EXPECT_EQ(blocks_of<document::Paragraph>(run).front().tone, Tone::good);
    const auto tables = blocks_of<document::Table>(run);
    ASSERT_THAT(tables, SizeIs(1)) << "no table of wrong results";
    EXPECT_THAT(cells(tables[0]),
                ElementsAre("GEMM fp64, size 2048, all threads (2) (openblas)", "60", "60.0 k",
                            "60.0 k", "0", "none found", "none found", "", ""));
    EXPECT_THAT(blocks_of<document::Chart>(run), SizeIs(1)) << "rates; there are no temperatures";
    run.soak->phases[0].compared = 0;
    EXPECT_THAT(paragraphs(run), Contains("No result was compared or checked."));
}

TEST(OfASoak, IsAnsweredByErrorsAndLostSpeedBeforeAnyRate) {
    EXPECT_THAT(make_report(soaked()).verdict,
                StartsWith("No errors in 1 h of load: 60.0 k calls, 60.0 k of them compared "
                           "bitwise"));
    EXPECT_EQ(make_report(soaked()).tone, Tone::good);
    const auto slow = make_report(soaked([](int i) { return i < 30 ? 1.0 : 1.25; }));
    EXPECT_THAT(slow.verdict, HasSubstr("fell behind by"));
    EXPECT_EQ(slow.tone, Tone::bad);
    auto wrong = soaked();
    flip_in(*wrong.soak);
    EXPECT_THAT(make_report(wrong).verdict, StartsWith("1 call gave a wrong result in 1 h"));
    EXPECT_EQ(make_document(make_report(wrong)).sections.front().title, "Soak");
}

TEST(OfASoak, AWrongResultIsPlaced) {
    auto run = soaked();
    flip_in(*run.soak);
    run.soak->seconds = 1200;
    EXPECT_THAT(paragraphs(run), AllOf(Contains(HasSubstr("1 call gave a wrong result")),
                                       Contains(HasSubstr("after 20 min of the requested 1 h"))));
    EXPECT_EQ(blocks_of<document::Paragraph>(run).front().tone, Tone::bad);
    EXPECT_THAT(cells(blocks_of<document::Table>(run).at(0)),
                ElementsAre("GEMM fp64, size 2048, all threads (2) (openblas)",
                            "2026-01-31T12:55:03Z", "21, 417", "array 1, element 12345",
                            "0000000000020000 (expected 41a2b3c400000000, got 41a2b3c400020000)",
                            "other calls", "in the next call: transient fault"));
    auto& wrong = run.soak->corruptions[0];
    wrong.element.reset();
    wrong.bits.clear();
    wrong.held_against = record::HeldAgainst::others;
    wrong.right_again = record::Replay::none;
    const auto block = cells(blocks_of<document::Table>(run).at(0));
    EXPECT_EQ(block[3], "block 2");
    EXPECT_EQ(block[5], "other processes, devices or parts");
    wrong.held_against = record::HeldAgainst::check;
    wrong.detail = "row 17 is off";
    EXPECT_EQ(cells(blocks_of<document::Table>(run).at(0))[4], "row 17 is off");
    run.soak->corruptions.resize(100, wrong);
    EXPECT_THAT(blocks_of<document::Table>(run).at(0).rows, SizeIs(20));
}

TEST(OfASoak, LostSpeedIsPlacedInTime) {
    EXPECT_THAT(paragraphs(soaked([](int i) { return i < 30 ? 1.0 : 1.25; })),
                Contains(MatchesRegex("GEMM .* fell behind by (19|20|21)% after 30 min.")));
    EXPECT_THAT(paragraphs(soaked([](int i) { return i < 20 || i >= 40 ? 1.0 : 1.25; })),
                Contains(MatchesRegex(".* behind by (19|20|21)% between 20 min and 40 min.")));
    auto few = soaked();
    few.soak->phases[0].points.resize(5);
    EXPECT_THAT(paragraphs(few), Contains(HasSubstr("1 case has too few undisturbed visits")));
}

TEST(OfASoak, AllOfItIsChineseInChinese) {
    const test::Speaking chinese{document::Language::zh};
    auto run = soaked([](int i) { return i < 30 ? 1.0 : 1.25; });
    flip_in(*run.soak);
    run.soak->seconds = 1200;
    EXPECT_THAT(paragraphs(run),
                AllOf(Contains(HasSubstr("在 20 分钟的负载中有 1 次调用的结果错误")),
                      Contains(HasSubstr("在 30 分钟后慢了"))));
    for (const int kind : {0, 1, 2}) {
        run.soak->corruptions[0].held_against = static_cast<record::HeldAgainst>(kind);
        run.soak->corruptions[0].right_again = static_cast<record::Replay>(kind);
        const document::Document of_soak{.sections = {soak_section(run).value()}};
        EXPECT_THAT(test::latin_sentences({&of_soak, 1}), IsEmpty());
    }
    EXPECT_THAT(test::terminal_of(run), HasSubstr("长时间压力测试"));
}

} // namespace
} // namespace assay::report
