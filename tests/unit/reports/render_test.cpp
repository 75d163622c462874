// SPDX-License-Identifier: Apache-2.0
//
// Reports in every format: well formed, free of what others wrote into names, and done in time, also with very many names.

#include "document/text.hpp"
#include "hostile.hpp"
#include "json/json.hpp"
#include "markup.hpp"
#include "record/convert.hpp"
#include "rendered.hpp"
#include "report/curves.hpp"
#include "sample.hpp"
#include "support/results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <limits>
#include <regex>
#include <sstream>

namespace assay::report {
namespace {

using namespace testing;
using test::html_of;
using test::markdown_of;
using test::terminal_of;

constexpr std::string_view hostile = "</script><script>alert(1)</script><img src=x "
                                     "onerror=alert(1)> \" onload=\"x ' & | ` * _ [a](b) "
                                     "\x1b[31mred\x1b]0;t\a\n# heading\r\xff\u202E";

TEST(Html, IsWellFormed) {
    EXPECT_EQ(test::markup_problem(html_of(test::golden_run())), "");
    EXPECT_EQ(test::markup_problem(html_of({})), "");
}

TEST(Html, ForbidsScriptsAndRefersToNothing) {
    const auto page = html_of(test::golden_run());
    EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'"));
    for (const char* absent : {"<script", "http:", "https:", "src=", "href=", "@import", "url("})
        EXPECT_THAT(page, Not(HasSubstr(absent)));
}

TEST(Html, HostileTextInEveryFieldStaysText) {
    const auto page = html_of(test::filled_with(test::golden_run(), std::string{hostile}));
    EXPECT_EQ(test::markup_problem(page), "");
    EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(Markdown, HostileTextInEveryFieldStaysInItsCell) {
    const auto text = markdown_of(test::filled_with(test::golden_run(), std::string{hostile}));
    std::istringstream lines{text};
    std::string line;
    const std::regex bare{R"((^|[^\\])[<`\[])"};
    std::size_t columns = 0; // of the table that is read
    std::size_t rows = 0;
    while (std::getline(lines, line)) {
        constexpr std::string_view opening = "<details><summary>"; // the only markup of ours
        constexpr std::string_view closing = "</summary>";
        if (line == "</details>") continue;
        if (line.starts_with(opening) && line.ends_with(closing))
            line = line.substr(opening.size(), line.size() - opening.size() - closing.size());
        EXPECT_FALSE(std::regex_search(line, bare)) << line;
        EXPECT_FALSE(line.starts_with("# heading"));
        EXPECT_THAT(line, Not(HasSubstr("\x1b")));
        std::size_t cells = 0;
        for (std::size_t i = 0; line.starts_with("| ") && i < line.size(); ++i)
            if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++cells;
        if (columns == 0) columns = cells;
        EXPECT_TRUE(cells == 0 || cells == columns) << line;
        rows += cells > 0 ? 1 : 0;
        if (cells == 0) columns = 0;
    }
    EXPECT_GT(rows, 20U);
}

TEST(Terminal, HostileTextCannotSteerIt) {
    const auto text = terminal_of(test::filled_with(test::golden_run(), std::string{hostile}));
    for (const char c : text)
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << static_cast<int>(c);
}

TEST(Terminal, KeepsItsWidthAndColoursOnlyWhenAsked) {
    for (const std::size_t width : {60U, 80U, 100U})
        for (const bool colour : {false, true}) {
            std::string text = terminal_of(test::golden_run(), {.width = width, .colour = colour});
            EXPECT_EQ(text.find('\x1b') != std::string::npos, colour);
            text = std::regex_replace(text, std::regex{"\x1b\\[[0-9]+m"}, "");
            std::istringstream lines{text};
            std::string line;
            while (std::getline(lines, line)) EXPECT_LE(display_width(line), width) << line;
        }
}

TEST(Json, IsJsonWithTheFiguresAndFindings) {
    const Report report = make_report(test::filled_with(test::golden_run(), std::string{hostile}));
    const auto parsed = must(json::parse(to_json({&report, 1}), "report"));
    EXPECT_EQ(parsed["schema"], "assay.report/1");
    EXPECT_EQ(parsed["reports"][0]["summary"].size(), 5U);
}

TEST(Render, ExtremeNumbersAreDrawnSomehow) {
    auto run = test::golden_run();
    using Limits = std::numeric_limits<double>;
    const double extremes[] = {
        0.0, -1.0, 1e308, 5e-324, Limits::max(), 1e-300, Limits::infinity(), Limits::quiet_NaN()};
    std::size_t next = 0;
    for (auto& c : run.cases) {
        for (auto& metric : c.metrics) {
            metric.value = extremes[next % 8];
            metric.low = extremes[(next + 3) % 8];
            metric.high = extremes[(next + 5) % 8];
            ++next;
        }
        c.ceiling.value = extremes[next % 8];
        for (auto& replica : c.replicas)
            for (auto& value : replica.values) value = extremes[next++ % 8];
    }
    const auto page = html_of(run);
    EXPECT_EQ(test::markup_problem(page), "");
    EXPECT_THAT(page, Not(HasSubstr("nan%")));
    EXPECT_THAT(page, Not(HasSubstr("inf%")));
    EXPECT_FALSE(std::regex_search(page, std::regex{R"(d="M[^"]*(nan|inf))"}));
    EXPECT_FALSE(terminal_of(run).empty());
}

TEST(Render, OfALongTableATerminalHasTheRowsThatMatterInTheirOrder) {
    using document::Tone;
    document::Table table{.columns = {{.title = "case"}, {.title = "ratio", .numeric = true}}};
    for (int i = 0; i < 100; ++i) {
        const double ratio = i == 70 ? 0.5 : 1 + i / 1000.0;
        const auto tone = i == 20 ? Tone::weak : i == 90 ? Tone::bad : Tone::plain;
        table.rows.push_back(
            {.cells = {
                 {.text = fmt::format("case {}.", i)},
                 {.text = "x", .tone = tone, .number = ratio, .unit = document::unit_ratio}}});
    }
    const document::Document long_one{.title = "t",
                                      .sections = {{.title = "s", .blocks = {table}}}};
    const auto text = write::to_terminal({&long_one, 1}, {}, 4);
    const auto place = [&](const char* what) { return text.find(what); };
    EXPECT_LT(place("case 20."), place("case 70."));
    EXPECT_LT(place("case 70."), place("case 90."));
    EXPECT_LT(place("case 90."), place("case 99."));
    EXPECT_LT(place("case 99."), place("96 more rows: --all-rows"));
    EXPECT_NE(place("96 more rows: --all-rows"), std::string::npos);
    EXPECT_THAT(text, Not(HasSubstr("case 98.")));
    for (const std::size_t all : {0, 100})
        EXPECT_THAT(write::to_terminal({&long_one, 1}, {}, all),
                    AllOf(HasSubstr("case 0."), Not(HasSubstr("more rows"))));
}

#if defined(__OPTIMIZE__)
constexpr std::size_t less = 1;
#else
constexpr std::size_t less = 5; // `scripts/test --all` tries all
#endif

TEST(Render, TenThousandCasesStayUsable) {
    constexpr std::size_t count = 10'000 / less;
    const auto run = test::large_run(count);
    const auto begin = std::chrono::steady_clock::now();
    const auto document = test::document_of(run);
    const auto page = write::to_html(document, {.page = {}, .created = {}}).value();
    EXPECT_GT(write::to_terminal(document).size(), 0U);
    EXPECT_GT(write::to_markdown(document).size(), 0U);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // A second on a quiet core where optimised; the bound leaves room for a busy machine.
    EXPECT_LT(took.count(), 15 * less);
    EXPECT_LT(page.size(), std::size_t{12} << 20U);
    EXPECT_THAT(page, HasSubstr("Batch values are drawn for the first 100 of " +
                                std::to_string(count) + " cases"));
    EXPECT_EQ(test::markup_problem(page), "");
}

TEST(Render, ACurveOfThousandsOfPointsStaysADrawing) {
    auto run = test::large_run(4000);
    for (std::size_t i = 0; i < run.cases.size(); ++i)
        run.cases[i].parameters[1].value = static_cast<std::int64_t>(i + 1);
    const Report report = make_report(run);
    ASSERT_EQ(report.sections.size(), 1U);
    ASSERT_EQ(report.sections[0].curves.size(), 1U);
    for (const auto& curve : report.sections[0].curves[0].curves)
        EXPECT_LE(curve.points.size(), most_points);
    const auto page =
        write::to_html(std::vector{make_document(report)}, {.page = {}, .created = {}});
    EXPECT_EQ(test::markup_problem(page.value()), "");
}

record::NamedList many(std::size_t count, const std::string& name) {
    record::NamedList list;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back({name + std::to_string(i), static_cast<std::int64_t>(i + 1)});
    return list;
}

TEST(ManyNames, AMillionMembersMakeAnObject) {
    constexpr std::size_t count = 1'000'000 / less;
    record::Case c{.benchmark = "a", .settings = many(count, "s")};
    c.settings.push_back({"s7", std::string{"said twice"}});
    const auto settings = record::to_json(c)["settings"];
    EXPECT_EQ(settings.size(), count);
    const auto& members = settings.get_ref<const json::Value::object_t&>();
    EXPECT_EQ(std::next(members.begin(), 7)->second, "said twice");
}

TEST(ManyNames, FactsOfAMachineAreRendered) {
    constexpr std::size_t count = 200'000 / less;
    const auto last = "library" + std::to_string(count - 1);
    auto run = test::golden_run();
    run.machine.software = many(count, "library");
    const auto report = make_report(run);
    EXPECT_GE(report.software.size(), count);
    EXPECT_NE(to_json({&report, 1}).find(last), std::string::npos);
    EXPECT_NE(test::html_of(run).find(last), std::string::npos);
    EXPECT_NE(test::markdown_of(run).find(last), std::string::npos);
}

/// Parameters that all vary, each of which a curve could sweep, and settings of the same names.
TEST(ManyNames, ParametersOfSeveralCasesAreRendered) {
    constexpr std::size_t count = 8'000 / less;
    constexpr std::int64_t cases = 5;
    record::Run run;
    for (std::int64_t i = 1; i <= cases; ++i) {
        auto c = test::case_of("memory.latency", "host", many(count, "p"), "latency", 1e-9);
        c.settings = many(count, "p");
        for (auto& parameter : c.parameters) parameter.value = std::string{"all"};
        c.parameters.back().value = i;
        run.cases.push_back(std::move(c));
    }
    const auto found = find_curves(run);
    ASSERT_EQ(found.charts.size(), 1U);
    EXPECT_EQ(found.charts[0].x_title, "p" + std::to_string(count - 1));
    EXPECT_EQ(found.charts[0].curves.at(0).points.size(), static_cast<std::size_t>(cases));
    const auto before = "p" + std::to_string(count - 2);
    const auto report = make_report(run);
    EXPECT_NE(to_json({&report, 1}).find(before), std::string::npos);
    EXPECT_NE(test::html_of(run).find(before), std::string::npos);
}

} // namespace
} // namespace assay::report
