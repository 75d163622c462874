// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts.hpp"
#include "document/words.hpp"
#include "record/metrics.hpp"
#include "rendered.hpp"
#include "report/json.hpp"
#include "sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class InALanguage : public testing::Test {
protected:
    void TearDown() override { use_language(Language::en); }
};

TEST_F(InALanguage, MetricsHaveTheTitleOfTheirTableInEnglishAndOneInChinese) {
    for (const auto& metric : record::metric_table)
        EXPECT_EQ(metric_title(metric.name), metric.title);
    use_language(Language::zh);
    for (const auto& metric : record::metric_table)
        EXPECT_NE(metric_title(metric.name), metric.title);
}

TEST_F(InALanguage, WhatTheCatalogueDoesNotKnowKeepsItsName) {
    use_language(Language::zh);
    EXPECT_EQ(metric_title("queries"), "queries");
    EXPECT_EQ(family_words("database").title, "database");
    EXPECT_EQ(family_words("database").question, "");
    EXPECT_EQ(find_text("metric", "band"), std::nullopt);
    EXPECT_EQ(find_text("metric", ""), std::nullopt);
    EXPECT_EQ(find_text("", "bandwidth"), std::nullopt);
}

TEST_F(InALanguage, EveryStatusHasWords) {
    for (const auto language : {Language::en, Language::zh}) {
        use_language(language);
        for (int i = 0; i <= static_cast<int>(record::Status::interrupted); ++i)
            EXPECT_NE(status_in_words(static_cast<record::Status>(i)), "") << i;
    }
}

TEST_F(InALanguage, ListsAreChinese) {
    use_language(Language::zh);
    EXPECT_EQ(list_of({"带宽", "延迟"}, 3), "带宽和延迟");
    EXPECT_EQ(list_of({"avx2", "fma", "sve"}, 3), "avx2、fma 和 sve");
    EXPECT_EQ(list_of({"a", "b", "c"}, 2), "a、b 等（另有 1 项）");
    EXPECT_EQ(join({"fp64", "全部线程"}), "fp64，全部线程");
    EXPECT_EQ(sentences({"一。", "二。"}), "一。二。");
    EXPECT_EQ(say_count<text::count::cores>(1), "1 个核心");
}

TEST_F(InALanguage, DisturbancesAreSaidOncePerKindByCodeAndByTextWhereThereIsNone) {
    using record::DisturbanceCode;
    record::Telemetry telemetry;
    disturb(telemetry, DisturbanceCode::steal, {{"share", 0.03}}, "Stolen: 3%.");
    disturb(telemetry, DisturbanceCode::steal, {{"share", 0.05}}, "Now 5% more.");
    for (const char* reason : {"thermal", "power_brake"})
        disturb(telemetry, DisturbanceCode::device_slowed,
                {{"reason", std::string{reason}}, {"share", 0.5}}, "Slowed.");
    disturb(telemetry, DisturbanceCode::quota, {}, "Its values are not here.");
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre("Stolen: 3%.", "Slowed.", "Slowed.", "Its values are not here."));
    use_language(Language::zh);
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre(HasSubstr("3.0%"), "设备降频，原因：温度，占窗口的 50%。",
                            "设备降频，原因：供电限制，占窗口的 50%。",
                            "Its values are not here."));
    telemetry.disturbed_by.clear(); // a file from before there were codes
    telemetry.disturbances = {"Lost 3%.", "Lost 12%.", "Slowed."};
    EXPECT_THAT(disturbances_in_words(telemetry), ElementsAre("Lost 3%.", "Slowed."));
}

TEST_F(InALanguage, DisturbancesNameTheProgramsWhereTheyAreKnown) {
    using record::DisturbanceCode;
    record::Telemetry telemetry;
    const record::Values named{{"share", 0.21}, {"programs", std::string{"chromium, cc1plus"}}};
    disturb(telemetry, DisturbanceCode::foreign_cpu, named, "Other programs (chromium, cc1plus).");
    disturb(telemetry, DisturbanceCode::foreign_cpu,
            {{"share", 0.2}, {"programs", std::string{"rsync"}}}, "Other programs (rsync).");
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre("Other programs (chromium, cc1plus)."));
    use_language(Language::zh);
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre(HasSubstr("其他程序（chromium, cc1plus）占用了 21%")));
    telemetry.disturbed_by[0].values.pop_back();
    EXPECT_THAT(disturbances_in_words(telemetry), ElementsAre(HasSubstr("其他程序占用了 21%")));
}

TEST_F(InALanguage, AReasonIsSaidFromItsCodeAndValues) {
    record::Case c{.status = record::Status::unstable,
                   .reason = "replica 2 of 3: drift: first half 1 s, second half 2 s",
                   .reason_code = record::ReasonCode::drift,
                   .reason_values = {{"first_seconds", 1.0},
                                     {"second_seconds", 2.0},
                                     {"replica", std::int64_t{2}},
                                     {"replicas", std::int64_t{3}}}};
    EXPECT_EQ(reason_in_words(c), "replica 2 of 3: drift: first half 1.00 s, second half 2.00 s");
    use_language(Language::zh);
    EXPECT_THAT(reason_in_words(c), HasSubstr("第 2 次重复（共 3 次）：漂移，前半 1"));
    EXPECT_THAT(reason_in_words(c), Not(HasSubstr("half")));
    c.reason_values.clear();
    EXPECT_THAT(reason_in_words(c), HasSubstr(c.reason));
}

TEST_F(InALanguage, PartsOfATextWithoutTheirValuesAreLeftOut) {
    EXPECT_EQ(filled("{a}[ on {host}][: {b} and {c}].", {{"a", "x"}, {"b", "y"}}), "x.");
    EXPECT_EQ(filled("[{a}: ]{limit_seconds}, {rank}",
                     {{"rank", std::int64_t{1024}}, {"limit_seconds", 0.5}, {"a", "x"}}),
              "x: 500 ms, 1024");
    EXPECT_EQ(filled("[{a}] {b}", {{"a", "x"}}), std::nullopt);
}

/// Every reason has a text for the values that the harness gives it.
TEST_F(InALanguage, ReasonsOfProcessesAreSaidInChinese) {
    use_language(Language::zh);
    record::Case c{.status = record::Status::crashed,
                   .reason = "killed by SIGSEGV while warming up",
                   .reason_code = record::ReasonCode::process_died,
                   .reason_values = {{"rank", std::int64_t{1}},
                                     {"host", "node1"},
                                     {"phase", "warming up"},
                                     {"signal", std::int64_t{11}}}};
    EXPECT_EQ(reason_in_words(c), "进程 1（node1）异常终止，信号 11，阶段：预热");
    c.reason_code = record::ReasonCode::time_limit;
    c.reason_values = {{"limit_seconds", 90.0}, {"phase", "a phase of a later version"}};
    EXPECT_EQ(reason_in_words(c), "90.0 s 内未完成，阶段：a phase of a later version");
    c.reason_code = record::ReasonCode::benchmark_error;
    c.reason_values = {{"function", "verify"}, {"message", "out of memory"}};
    EXPECT_EQ(reason_in_words(c), "基准测试报错，函数 verify：out of memory");
}

TEST_F(InALanguage, EnglishHasASingular) {
    EXPECT_EQ(say_count<text::count::cores>(1), "1 core");
    EXPECT_EQ(say_count<text::count::cores>(0), "0 cores");
    EXPECT_EQ(sentences({"One.", "Two."}), "One. Two.");
}

TEST_F(InALanguage, LinesBreakBetweenChineseCharactersButNotBeforePunctuation) {
    EXPECT_THAT(wrap("内存带宽，很高。", 8), ElementsAre("内存带", "宽，很", "高。"));
    EXPECT_THAT(wrap("测得（实测）", 6), ElementsAre("测得", "（实", "测）"));
    EXPECT_THAT(wrap("最高 45.1 GB/s。", 8), ElementsAre("最高", "45.1", "GB/s。"));
    EXPECT_THAT(wrap("延迟latency值", 11), ElementsAre("延迟latency", "值"));
}

/// What of a text is the same in every use of it: the longest piece between the places for values.
std::string longest_piece(std::string_view text) {
    std::string longest;
    while (!text.empty()) {
        const auto place = std::min(text.find('{'), text.size());
        if (place > longest.size()) longest = text.substr(0, place);
        const auto end = text.find('}', place);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return longest;
}

std::size_t words_in(const std::string& text) {
    std::istringstream in{text};
    return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>{in},
                                                  std::istream_iterator<std::string>{}));
}

TEST_F(InALanguage, NoEnglishTextOfTheCatalogueIsLeftInAChineseReport) {
    const auto run = test::golden_run();
    const auto everything = [&] {
        return test::terminal_of(run) + test::markdown_of(run) + test::html_of(run);
    };
    const std::string english = everything();
    use_language(Language::zh);
    const std::string chinese = everything();
    std::size_t said = 0;
    for (const Entry* entry : text::all) {
        const std::string piece = longest_piece(entry->en);
        // One or two words may be names that stand in the run.
        if (words_in(piece) < 3) continue;
        EXPECT_EQ(chinese.find(piece), std::string::npos) << entry->id << " says: " << piece;
        if (english.find(piece) != std::string::npos) ++said;
    }
    EXPECT_GT(said, 30U) << "the English report says many of them";
}

TEST_F(InALanguage, SentencesOfTheHarnessAreTranslatedByTheirEnglish) {
    const char* known = "measured in this run: peak.fma[host] threads=all";
    EXPECT_EQ(translated(known), known) << "in English";
    use_language(Language::zh);
    EXPECT_EQ(translated(known), "本次运行实测：peak.fma[host] threads=all");
    EXPECT_EQ(translated("none is known; its PCIe link is unknown"), "未知；未知其 PCIe 链路");
    EXPECT_EQ(translated("peak.fma or peak.dot was disturbed in this run"),
              "本次运行中 peak.fma 或 peak.dot 受到干扰")
        << "of several that fit, the one that says most";
    EXPECT_EQ(translated("not JSON (A string is opened, but never closed.)"),
              "不是 JSON（字符串没有结束）");
    for (const char* other : {"", "measured in this run: ", "said by somebody else; and this"})
        EXPECT_EQ(translated(other), other);
}

TEST_F(InALanguage, WhatASuiteLeftOutIsTranslated) {
    auto run = test::golden_run();
    run.left_out = {{"cases of the suite left out that need an RDMA device: 3"}};
    EXPECT_NE(test::terminal_of(run).find("need an RDMA device: 3"), std::string::npos);
    use_language(Language::zh);
    EXPECT_NE(test::terminal_of(run).find("略去需要 RDMA 设备的用例：3 个"), std::string::npos);
}

TEST_F(InALanguage, KeysOfJsonStayEnglish) {
    use_language(Language::zh);
    const Report report = make_report(test::golden_run());
    const std::string json = to_json({&report, 1});
    for (const char* key : {"\"Best figures\"", "\"Processor\"", "\"time per call\"", "\"caution\"",
                            "\"title\": \"矩阵乘法\""})
        EXPECT_THAT(json, HasSubstr(key));
}

TEST_F(InALanguage, PagesSayWhichOne) {
    EXPECT_THAT(test::html_of({}), HasSubstr("<html lang=\"en\">"));
    use_language(Language::zh);
    EXPECT_THAT(test::html_of({}),
                AllOf(HasSubstr("<html lang=\"zh-CN\">"), HasSubstr("Noto Sans CJK SC")));
}

} // namespace
} // namespace assay::report
