// SPDX-License-Identifier: Apache-2.0
//
// What the report of a soak says, in both languages.

#include "document/language.hpp"
#include "latin.hpp"
#include "record/reader.hpp"
#include "rendered.hpp"
#include "report/soak.hpp"
#include "sample.hpp"
#include "support/made_soak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace assay::report {
namespace {

using document::Tone;
using test::flip_in;
using test::made_soak;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

record::Run soaked(const std::function<double(int)>& factor = [](int) { return 1.0; }) {
    auto run = test::golden_run();
    run.cases.resize(1);
    run.cases[0].parameters.push_back({"soak", true});
    run.soak = made_soak(record::identity(run.cases[0]), factor);
    return run;
}

template <class Block>
std::vector<Block> blocks_of(const record::Run& run) {
    std::vector<Block> found;
    const auto section = soak_section(run).value();
    for (const auto& block : section.blocks)
        if (const auto* one = std::get_if<Block>(&block)) found.push_back(*one);
    return found;
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

class OfASoak : public testing::Test {
protected:
    void TearDown() override { use_language(Language::en); }
};

TEST_F(OfASoak, OtherRunsHaveNone) {
    EXPECT_FALSE(soak_section(test::golden_run()));
    EXPECT_THAT(test::terminal_of(test::golden_run()), Not(HasSubstr("Soak")));
}

TEST_F(OfASoak, AllRightSaysHowMuchWasLookedAt) {
    auto run = soaked();
    EXPECT_THAT(
        paragraphs(run),
        ElementsAre("Nothing was wrong in 1:00:00 of load: 60.0 k calls, of which 60.0 k were "
                    "compared bit by bit and 0 seen by the check of their benchmark.",
                    "No case that was visited often enough lost more than 3.0% of its rate."));
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

TEST_F(OfASoak, AWrongResultIsPlaced) {
    auto run = soaked();
    flip_in(*run.soak);
    run.soak->seconds = 1200;
    EXPECT_THAT(
        paragraphs(run),
        AllOf(Contains(HasSubstr("1 call computed something wrong within 0:20:00 of load.")),
              Contains("It ended after 0:20:00 of the 1:00:00 that were asked for.")));
    EXPECT_EQ(blocks_of<document::Paragraph>(run).front().tone, Tone::bad);
    EXPECT_THAT(cells(blocks_of<document::Table>(run).at(0)),
                ElementsAre("GEMM fp64, size 2048, all threads (2) (openblas)",
                            "2026-01-31T12:55:03Z", "21, 417", "array 1, element 12345",
                            "0000000000020000 (expected 41a2b3c400000000, got 41a2b3c400020000)",
                            "other calls", "in the next call: a passing fault"));
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

TEST_F(OfASoak, LostSpeedIsPlacedInTime) {
    EXPECT_THAT(
        paragraphs(soaked([](int i) { return i < 30 ? 1.0 : 1.25; })),
        Contains(testing::MatchesRegex("GEMM .* fell behind by (19|20|21)% from 0:30:00 on.")));
    EXPECT_THAT(
        paragraphs(soaked([](int i) { return i < 20 || i >= 40 ? 1.0 : 1.25; })),
        Contains(testing::MatchesRegex(".* behind by (19|20|21)% from 0:20:00 to 0:40:00.")));
    auto few = soaked();
    few.soak->phases[0].points.resize(5);
    EXPECT_THAT(paragraphs(few), Contains(HasSubstr("Of 1 case there are too few undisturbed")));
}

TEST_F(OfASoak, AllOfItIsChineseInChinese) {
    use_language(Language::zh);
    auto run = soaked([](int i) { return i < 30 ? 1.0 : 1.25; });
    flip_in(*run.soak);
    run.soak->seconds = 1200;
    EXPECT_THAT(paragraphs(run),
                AllOf(Contains(HasSubstr("在 0:20:00 的负载中有 1 次调用的结果错误")),
                      Contains(HasSubstr("自 0:30:00 起慢了"))));
    for (const int kind : {0, 1, 2}) {
        run.soak->corruptions[0].held_against = static_cast<record::HeldAgainst>(kind);
        run.soak->corruptions[0].right_again = static_cast<record::Replay>(kind);
        document::Document of_soak;
        of_soak.sections = {soak_section(run).value()};
        EXPECT_THAT(test::latin_sentences(std::vector{of_soak}), IsEmpty());
    }
    EXPECT_THAT(test::terminal_of(run), HasSubstr("长时间压力测试"));
}

} // namespace
} // namespace assay::report
