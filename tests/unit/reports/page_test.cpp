// SPDX-License-Identifier: Apache-2.0

#include "json/json.hpp"
#include "rendered.hpp"
#include "report/roofline.hpp"
#include "sample.hpp"
#include "support/document.hpp"
#include "support/results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::report {
namespace {

using write::find_page;
using write::pack_json;

using document::Document;
using namespace testing;

constexpr std::string_view skeleton =
    "<html lang=\"@LANGUAGE@\"><title>@TITLE@</title><style>@BASE@</style>@BODY@"
    "<script type=\"application/json\">@DATA@</script><script>let @TITLE@</script>";

std::string between(const std::string& text, const std::string& from, const std::string& to) {
    const auto begin = text.find(from) + from.size();
    return text.substr(begin, text.find(to, begin) - begin);
}
std::string data_of(const std::string& page) {
    return between(page, "application/json\">", "</script>");
}

TEST(PackJson, LeavesBlanksAndDigitsAwayAndSaysTheSame) {
    EXPECT_EQ(pack_json("{\n  \"a b\": [1, 2.50000000001, -0.1],\n  \"c\": null\n}\n"),
              R"({"a b":[1,2.5,-0.1],"c":null})");
    EXPECT_EQ(pack_json("[5.051234567891234e11, 1.23456789e-9, 1767225600.0, 123456789012345678]"),
              "[505123456789,1.234568e-09,1767225600,123456789012345678]");
    EXPECT_EQ(pack_json("[0.0, 1e300, true]"), "[0,1e300,true]");
}

TEST(PackJson, NothingInItEndsTheElementItStandsIn) {
    const auto packed = pack_json(R"(["</script><!-- <img>", "a \" < \\", "5 < 6"])"
                                  "\xe2\x80\xa8");
    EXPECT_THAT(packed, Not(HasSubstr("<")));
    const auto lines = pack_json("[\"a\xe2\x80\xa8"
                                 "b\xe2\x80\xa9"
                                 "c \xe2\x80\xa6\"]");
    EXPECT_EQ(lines, "[\"a\\u2028b\\u2029c \xe2\x80\xa6\"]");
    const auto value = json::parse(pack_json(R"(["</script>", "a \" < \\"])"), "test");
    ASSERT_TRUE(value);
    EXPECT_EQ((*value)[0], "</script>");
    EXPECT_EQ((*value)[1], "a \" < \\");
}

TEST(PackJson, SurvivesWhatIsNoJson) {
    EXPECT_EQ(pack_json("\"abc\\"), "\"abc\\");
    EXPECT_EQ(pack_json("-"), "-");
    EXPECT_EQ(pack_json("1.5.5e"), "1.5.5e");
    EXPECT_EQ(pack_json("\"\xe2"), "\"\xe2");
}

Document document_of(const std::string& text) {
    Document document{
        .kicker = text, .title = text, .verdict = text, .sections = {{.title = text}}};
    document.sections[0].blocks = {
        document::Paragraph{.text = text},
        document::Findings{.findings = {{.what = text, .action = text}}},
        document::Table{.caption = text,
                        .columns = {{.title = text}, {.title = text, .key = "value"}},
                        .rows = {{.cells = {{.text = text, .notes = {text}}, {.text = text}},
                                  .group = text,
                                  .tags = {.family = text, .libraries = {text}}}}},
        document::Chart{.title = text,
                        .caption = text,
                        .data = document::CurveChart{.curves = {{.label = text}}}}};
    return document;
}

TEST(Pages, HoldTheirDataAndNeverMoreThanTheirOwnMarkup) {
    const test::Speaking chinese{document::Language::zh};
    const std::string hostile = "</script></title><img onerror=alert(1)>\"'&";
    const Document document = document_of(hostile);
    const auto page = must(write::to_html(
        {&document, 1}, {.page = std::string{skeleton}, .created = "2026-01-31T12:34:56Z"}));
    EXPECT_THAT(page, AllOf(HasSubstr("lang=\"zh-CN\""), HasSubstr("--paper:"),
                            HasSubstr("&lt;/script&gt;"), HasSubstr("2026-01-31 12:34:56 UTC"),
                            HasSubstr("let @TITLE@"))); // the script is left alone
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    const auto data = must(json::parse(data_of(page), "page"));
    EXPECT_EQ(data["charts"][0]["kind"], "curves");
    EXPECT_EQ(data["charts"][0]["curves"][0]["label"], hostile);
}

TEST(Pages, RowsOfALongTableAreAllThereMostOfThemBehindALine) {
    document::Table table{.columns = {{.title = "t"}}};
    for (int i = 0; i < 1000; ++i)
        table.rows.push_back({.cells = {{.text = fmt::format("row {}.", i)}}});
    const auto page_of = [&] {
        const Document document{.title = "x", .sections = {{.title = "y", .blocks = {table}}}};
        return write::to_html({&document, 1}, {.page = std::string{skeleton}, .created = ""})
            .value();
    };
    const auto page = page_of();
    const auto line = page.find("<details><summary>900 more rows</summary>");
    ASSERT_NE(line, std::string::npos);
    EXPECT_LT(page.find("row 99."), line);
    EXPECT_GT(page.find("row 100."), line);
    EXPECT_NE(page.find("row 999."), std::string::npos);
    table.rows.front().tags.outcomes = {"ok"};
    EXPECT_THAT(page_of(), Not(HasSubstr("<details>"))) << "rows that are filtered stay together";
}

TEST(Pages, WhatIsPutInIsNeverTakenForAPlace) {
    const Document document = document_of("@DATA@ @BASE@ @BODY@");
    const auto page =
        write::to_html({&document, 1}, {.page = std::string{skeleton}, .created = ""}).value();
    EXPECT_THAT(page, HasSubstr("<title>@DATA@ @BASE@ @BODY@</title>"));
    EXPECT_THAT(data_of(page), HasSubstr("\"label\":\"@DATA@ @BASE@ @BODY@\""));
}

TEST(Pages, WithoutTheScriptAPageSaysWhatItLacks) {
    const Document document = document_of("x");
    const auto page = write::to_html({&document, 1}, {.page = std::nullopt, .created = ""}).value();
    EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("No charts and filters"),
                            Not(HasSubstr("<script"))));
}

TEST(Pages, TheirTitleIsAStringInTheMarginOfPaper) {
    const Document document = document_of("a\"b\\}</style>\n");
    const auto page = write::to_html({&document, 1}, {.page = std::nullopt, .created = ""}).value();
    EXPECT_THAT(page, HasSubstr(R"(@top-left{content:"a\22 b\5c \7d \3c \2f style\3e)"));
}

TEST(Pages, OneOfAnotherVersionIsRefused) {
    const Document document = document_of("x");
    const auto page =
        write::to_html({&document, 1}, {.page = "<html>@TITLE@</html>", .created = ""});
    ASSERT_FALSE(page);
    EXPECT_THAT(page.error().message, HasSubstr("@LANGUAGE@"));
    EXPECT_EQ(page.error().fault, Fault::environment);
}

TEST(Roofline, HasTheMeasuredRoofsAndTheCasesThatCountTheirBytes) {
    auto run = test::golden_run();
    ASSERT_TRUE(make_rooflines({}).empty());
    const auto peak = test::case_of("peak.fma", "host", {}, "flop_rate", 1e11);
    auto stream = test::case_of("memory.stream", "host", {}, "bandwidth", 6e10);
    stream.work = {{"flops", 2.0}, {"bytes", std::int64_t{24}}};
    stream.metrics.push_back(test::metric_of("flop_rate", 5e9));
    record::Case judged = peak;
    judged.benchmark = "gemm.square";
    judged.ceiling = {.value = 1e11,
                      .kind = record::CeilingKind::measured,
                      .source = "measured in this run: " + record::identity(peak)};
    stream.ceiling = {.value = 6e10,
                      .kind = record::CeilingKind::measured,
                      .source = "measured in this run: " + record::identity(stream)};
    run.cases = {peak, stream, judged};
    // The same on a device, half as fast: its roofs are its own.
    const auto host_cases = run.cases;
    for (auto c : host_cases) {
        c.place = {.kind = "cuda", .uuid = {}};
        for (auto& metric : c.metrics)
            if (metric.value) *metric.value /= 2;
        if (c.ceiling.value) *c.ceiling.value /= 2;
        run.cases.push_back(std::move(c));
    }
    const auto both = make_rooflines(run);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[1].place, "cuda");
    EXPECT_EQ(both[1].peaks.front().value, both[0].peaks.front().value / 2);
    run.cases = host_cases;

    const auto rooflines = make_rooflines(run);
    ASSERT_EQ(rooflines.size(), 1U);
    const auto* roofline = &rooflines.front();
    ASSERT_EQ(roofline->peaks.size(), 1U); // the judged case is not a peak
    EXPECT_EQ(roofline->peaks[0].value, 1e11);
    ASSERT_EQ(roofline->bandwidths.size(), 1U);
    EXPECT_TRUE(roofline->levels.empty());
    ASSERT_EQ(roofline->cases.size(), 1U); // the others move bytes that nobody counted
    EXPECT_DOUBLE_EQ(roofline->cases[0].intensity, 2.0 / 24);
    EXPECT_EQ(roofline->cases[0].rate, 5e9);

    // The case that measured the bound, whatever values others have.
    auto named = run;
    named.cases[2].ceiling.value = 2e11;
    named.cases[2].ceiling.measured_by = record::identity(named.cases[0]);
    named.cases[1].ceiling.measured_by = record::identity(named.cases[1]);
    ASSERT_EQ(make_rooflines(named).size(), 1U);
    EXPECT_EQ(make_rooflines(named).front().peaks.size(), 1U);
    named.cases[2].ceiling.measured_by = "another case";
    EXPECT_TRUE(make_rooflines(named).empty());

    run.cases[1].status = record::Status::incorrect; // a wrong result has no rate
    EXPECT_TRUE(make_rooflines(run).empty());
}

} // namespace
} // namespace assay::report
