// SPDX-License-Identifier: Apache-2.0
//
// Words and numbers for people, in both languages.

#include "document/text.hpp"
#include "document/texts.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "rendered.hpp"
#include "sample.hpp"
#include "support/document.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay::document {
namespace {

using namespace testing;
using record::human;
using record::human_bytes;
using record::human_percent;

TEST(InALanguage, MetricsHaveTheTitleOfTheirTableInEnglishAndOneInChinese) {
    for (const auto& metric : record::metric_table)
        EXPECT_EQ(metric_title(metric.name), metric.title);
    const test::Speaking chinese{Language::zh};
    for (const auto& metric : record::metric_table)
        EXPECT_NE(metric_title(metric.name), metric.title);
}

TEST(InALanguage, WhatTheCatalogueDoesNotKnowKeepsItsName) {
    const test::Speaking chinese{Language::zh};
    EXPECT_EQ(metric_title("queries"), "queries");
    EXPECT_EQ(family_words("database").title, "database");
    EXPECT_EQ(family_words("database").question, "");
    EXPECT_EQ(find_text("metric", "band"), std::nullopt);
    EXPECT_EQ(find_text("metric", ""), std::nullopt);
    EXPECT_EQ(find_text("", "bandwidth"), std::nullopt);
}

TEST(InALanguage, EveryStatusHasWords) {
    for (const auto language : {Language::en, Language::zh}) {
        const test::Speaking in{language};
        for (int i = 0; i <= static_cast<int>(record::Status::interrupted); ++i)
            EXPECT_NE(status_in_words(static_cast<record::Status>(i)), "") << i;
    }
}

TEST(InALanguage, ListsAndSentencesReadAsPeopleWriteThem) {
    EXPECT_EQ(list_of({}, 3), "");
    EXPECT_EQ(list_of({"a"}, 3), "a");
    EXPECT_EQ(list_of({"a", "b", "c"}, 3), "a, b and c");
    EXPECT_EQ(list_of({"a", "b", "c", "d"}, 2), "a, b and 2 more");
    EXPECT_EQ(sentences({"One.", "Two."}), "One. Two.");
    EXPECT_EQ(as_sentence("the governor is powersave"), "the governor is powersave.");
    EXPECT_EQ(as_sentence("It ends."), "It ends.");
    EXPECT_EQ(as_sentence(""), "");
    EXPECT_EQ(say_count<text::count::cores>(1), "1 core");
    EXPECT_EQ(say_count<text::count::cores>(0), "0 cores");
    const test::Speaking chinese{Language::zh};
    EXPECT_EQ(list_of({"带宽", "延迟"}, 3), "带宽和延迟");
    EXPECT_EQ(list_of({"avx2", "fma", "sve"}, 3), "avx2、fma 和 sve");
    EXPECT_EQ(list_of({"a", "b", "c"}, 2), "a、b 等（另有 1 项）");
    EXPECT_EQ(join({"fp64", "全部线程"}), "fp64，全部线程");
    EXPECT_EQ(sentences({"一。", "二。"}), "一。二。");
    EXPECT_EQ(as_sentence("结束。"), "结束。");
    EXPECT_EQ(say_count<text::count::cores>(1), "1 个核心");
}

TEST(InALanguage, DisturbancesAreSaidOncePerKindByCodeAndByTextWhereThereIsNone) {
    using record::DisturbanceCode;
    record::Telemetry telemetry;
    disturb(telemetry, DisturbanceCode::steal, {{"share", 0.03}}, "Stolen: 3%.");
    disturb(telemetry, DisturbanceCode::steal, {{"share", 0.05}}, "Now 5% more.");
    for (const char* reason : {"thermal", "power_brake"})
        disturb(telemetry, DisturbanceCode::device_slowed,
                {{"reason", std::string{reason}}, {"share", 0.5}}, "Slowed.");
    disturb(telemetry, DisturbanceCode::foreign_cpu,
            {{"share", 0.21}, {"programs", std::string{"chromium"}}}, "Others (chromium).");
    disturb(telemetry, DisturbanceCode::quota, {}, "Its values are not here.");
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre("Stolen: 3%.", "Slowed.", "Slowed.", "Others (chromium).",
                            "Its values are not here."));
    const test::Speaking chinese{Language::zh};
    EXPECT_THAT(disturbances_in_words(telemetry),
                ElementsAre(HasSubstr("3.0%"), "设备降频，原因：温度，占窗口的 50%。",
                            "设备降频，原因：供电限制，占窗口的 50%。",
                            HasSubstr("其他程序（chromium）占用了 21%"),
                            "Its values are not here."));
    telemetry.disturbed_by.clear(); // a file from before there were codes
    telemetry.disturbances = {"Lost 3%.", "Lost 12%.", "Slowed."};
    EXPECT_THAT(disturbances_in_words(telemetry), ElementsAre("Lost 3%.", "Slowed."));
}

TEST(InALanguage, PartsOfATextWithoutTheirValuesAreLeftOut) {
    EXPECT_EQ(filled("{a}[ on {host}][: {b} and {c}].", {{"a", "x"}, {"b", "y"}}), "x.");
    EXPECT_EQ(filled("[{a}: ]{limit_seconds}, {rank}",
                     {{"rank", std::int64_t{1024}}, {"limit_seconds", 0.5}, {"a", "x"}}),
              "x: 500 ms, 1024");
    EXPECT_EQ(filled("[{a}] {b}", {{"a", "x"}}), std::nullopt);
}

TEST(InALanguage, ReasonsAreSaidFromTheirCodesAndValues) {
    using record::ReasonCode;
    struct Case {
        ReasonCode code;
        record::Values values;
        const char* en;
        const char* zh;
    };
    const Case cases[] = {
        {ReasonCode::wide_interval,
         {{"half_width_share", 1.7}, {"target_share", 0.03}},
         "±170%, target ±3.0%",
         "170%"},
        {ReasonCode::drift,
         {{"first_seconds", 6.243e-7}, {"second_seconds", 7e-7}, {"replica", 2}, {"replicas", 3}},
         "replica 2 of 3: drift: first half 624 ns, second half 700 ns",
         "第 2 次重复（共 3 次）：漂移，前半 624 ns"},
        {ReasonCode::process_died,
         {{"rank", 1}, {"host", "node1"}, {"phase", "warming up"}, {"signal", 11}},
         "as the file has it",
         "进程 1（node1）异常终止，信号 11，阶段：预热"},
        {ReasonCode::time_limit,
         {{"limit_seconds", 90.0}, {"phase", "a phase of a later version"}},
         "as the file has it",
         "90.0 s 内未完成，阶段：a phase of a later version"},
        {ReasonCode::benchmark_error,
         {{"function", "verify"}, {"message", "out of memory"}},
         "as the file has it",
         "基准测试报错，函数 verify：out of memory"},
        {ReasonCode::not_applicable,
         {{"message", "not applicable: needs avx512_bf16"}},
         "needs avx512_bf16",
         "需要 avx512_bf16"},
        {ReasonCode::drift, {}, "as the file has it", "as the file has it"}, // an older file
    };
    for (const auto& [code, values, en, zh] : cases) {
        const record::Case c{
            .reason = "as the file has it", .reason_code = code, .reason_values = values};
        EXPECT_EQ(reason_in_words(c), en);
        const test::Speaking chinese{Language::zh};
        EXPECT_THAT(reason_in_words(c), HasSubstr(zh));
    }
}

TEST(InALanguage, LinesBreakBetweenChineseCharactersButNotBeforePunctuation) {
    EXPECT_THAT(wrap("内存带宽，很高。", 8), ElementsAre("内存带", "宽，很", "高。"));
    EXPECT_THAT(wrap("测得（实测）", 6), ElementsAre("测得", "（实", "测）"));
    EXPECT_THAT(wrap("最高 45.1 GB/s。", 8), ElementsAre("最高", "45.1", "GB/s。"));
    EXPECT_THAT(wrap("延迟latency值", 11), ElementsAre("延迟latency", "值"));
}

TEST(InALanguage, SentencesOfTheHarnessAreTranslatedByTheirEnglish) {
    const char* known = "measured in this run: peak.fma[host] threads=all";
    EXPECT_EQ(translated(known), known) << "in English";
    const test::Speaking chinese{Language::zh};
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

TEST(InALanguage, KeysOfJsonStayEnglish) {
    const test::Speaking chinese{Language::zh};
    const report::Report report = report::make_report(test::golden_run());
    const std::string json = report::to_json({&report, 1});
    for (const char* key : {"\"Best figures\"", "\"Processor\"", "\"time per call\"", "\"caution\"",
                            "\"title\": \"矩阵乘法\""})
        EXPECT_THAT(json, HasSubstr(key));
}

TEST(Human, GivesThreeDigitsAndAPrefix) {
    EXPECT_EQ(human(5.0496e11, "FLOP/s"), "505 GFLOP/s");
    EXPECT_EQ(human(4.123e10, "B/s"), "41.2 GB/s");
    EXPECT_EQ(human(7.7e11, "OP/s"), "770 GOP/s");
    EXPECT_EQ(human(1.2345e-5, "s"), "12.3 µs");
    EXPECT_EQ(human(4.2e-9, "s"), "4.20 ns");
    EXPECT_EQ(human(1234, "1/s"), "1.23 k/s");
    EXPECT_EQ(human(3.1e6, "atom-steps/s"), "3.10 Matom-steps/s");
    EXPECT_EQ(human(3.702e9, "Hz"), "3.70 GHz");
    EXPECT_EQ(human(0, "B/s"), "0.00 B/s");
    EXPECT_EQ(human(-5e3, "B/s"), "-5.00 kB/s");
    EXPECT_EQ(human(12, ""), "12.0");
}

TEST(Human, MovesToTheNextPrefixWhenRoundingDoes) {
    EXPECT_EQ(human(999.4, "B/s"), "999 B/s");
    EXPECT_EQ(human(999.7, "B/s"), "1.00 kB/s");
    EXPECT_EQ(human(99.97, "B/s"), "100 B/s");
    EXPECT_EQ(human(9.997, "B/s"), "10.0 B/s");
    EXPECT_EQ(human(9.997e-7, "s"), "1.00 µs");
}

TEST(Human, CountsLongTimesInSeconds) { EXPECT_EQ(human(1200, "s"), "1200 s"); }

TEST(Human, StaysShortForAnyNumber) {
    EXPECT_EQ(human(std::numeric_limits<double>::infinity(), "s"), "unknown");
    EXPECT_EQ(human(std::nan(""), "s"), "unknown");
    for (const double value : {1e308, -1e308, 5e-324, 1e-30, 1e21}) {
        EXPECT_LT(human(value, "B/s").size(), 20U) << value;
        EXPECT_LT(human(value, "B").size(), 20U) << value;
    }
}

TEST(Human, WritesSizesInPowersOfTwo) {
    EXPECT_EQ(human_bytes(67108864), "64 MiB");
    EXPECT_EQ(human_bytes(8), "8 B");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human_bytes(1023.7 * (1 << 20)), "1 GiB");
    EXPECT_EQ(human(1024, "B"), "1 KiB");
}

TEST(HumanPercent, KeepsTwoDigits) {
    EXPECT_EQ(human_percent(0.984), "98%");
    EXPECT_EQ(human_percent(0.0984), "9.8%");
    EXPECT_EQ(human_percent(0.0042), "0.42%");
    EXPECT_EQ(human_percent(0.00001), "<0.01%");
    EXPECT_EQ(human_percent(1.04), "104%");
    EXPECT_EQ(human_percent(0), "0%");
}

} // namespace
} // namespace assay::document
