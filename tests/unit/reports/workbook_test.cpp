// SPDX-License-Identifier: Apache-2.0
//
// Workbooks, by the XML in them: numbers are numbers, text is text, equal data make equal files. The
// library deflates, so what is looked at is inflated with zlib, which it links itself.

#include "compare/comparison.hpp"
#include "history/document.hpp"
#include "predict/document.hpp"
#include "predict/prediction.hpp"
#include "rendered.hpp"
#include "sample.hpp"
#include "support/collection_maker.hpp"
#include "support/document.hpp"
#include "support/measured_collective.hpp"
#include "write/workbook_file.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <iterator>
#include <map>

namespace assay::history {
namespace {

using namespace testing;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;)
        value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

std::string inflated(std::string_view deflated, std::size_t size) {
    std::string out(size, '\0');
    z_stream stream{};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
    stream.avail_in = static_cast<uInt>(deflated.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    return out;
}

/// The files of a ZIP archive, by its central directory (PKWARE's application note, 4.3.12).
std::map<std::string, std::string> files_in(const std::string& zip) {
    std::map<std::string, std::string> files;
    const auto end = zip.rfind("PK\x05\x06");
    if (end == std::string::npos) return files;
    std::size_t at = number_at(zip, end + 16, 4);
    for (auto left = number_at(zip, end + 10, 2); left > 0; --left) {
        const auto packed = number_at(zip, at + 20, 4);
        const auto size = number_at(zip, at + 24, 4);
        const auto name_size = number_at(zip, at + 28, 2);
        const auto local = number_at(zip, at + 42, 4);
        const auto name = zip.substr(at + 46, name_size);
        const auto data =
            local + 30 + number_at(zip, local + 26, 2) + number_at(zip, local + 28, 2);
        files[name] = inflated(std::string_view{zip}.substr(data, packed), size);
        at += 46 + name_size + number_at(zip, at + 30, 2) + number_at(zip, at + 32, 2);
    }
    return files;
}

std::map<std::string, std::string> files_of(const Result<std::string>& book) {
    EXPECT_TRUE(book) << (book ? "" : book.error().message);
    return book ? files_in(*book) : std::map<std::string, std::string>{};
}

std::map<std::string, std::string> files_of(const record::Run& run) {
    return files_of(write::to_workbook(test::document_of(run, {.label = "first"})));
}

TEST(Workbook, AReportHasItsSheetsFrozenAndFiltered) {
    const auto files = files_of(test::golden_run());
    const auto& book = files.at("xl/workbook.xml");
    for (const char* name : {"Summary", "Values"})
        EXPECT_THAT(book, HasSubstr(std::string{"name=\""} + name + '"'));
    const auto& values = files.at("xl/worksheets/sheet2.xml");
    EXPECT_THAT(values, HasSubstr("state=\"frozen\""));
    EXPECT_THAT(values, HasSubstr("<autoFilter"));
    EXPECT_THAT(values, Not(HasSubstr("<f>")));
    // The golden run's start, not the moment of this test.
    EXPECT_THAT(files.at("docProps/core.xml"), HasSubstr("2026-01-31T00:00:00Z"));
    EXPECT_THAT(files.at("docProps/core.xml"), HasSubstr("<dc:creator></dc:creator>"));
}

TEST(Workbook, ValuesAreNumbersInBaseUnits) {
    const auto report = report::make_report(test::golden_run());
    const auto& row = report.sections.at(0).rows.at(0);
    ASSERT_GT(row.number.value_or(0), 0);
    const auto files = files_of(test::golden_run());
    for (const double number : {*row.number, *row.low}) {
        // libxlsxwriter prints with 16 digits.
        char digits[32];
        std::snprintf(digits, sizeof digits, "<v>%.16G</v>", number);
        EXPECT_THAT(files.at("xl/worksheets/sheet2.xml"), HasSubstr(digits));
    }
    EXPECT_THAT(files.at("xl/styles.xml"), HasSubstr("FLOP/s"));
    for (const char* text : {"floating point rate", "time per call", "between 3 processes",
                             "core type SkylakeX", "metric", "interval covers", "settings"})
        EXPECT_THAT(files.at("xl/sharedStrings.xml"), HasSubstr(text));
}

TEST(Workbook, TextIsTextWhateverItLooksLike) {
    auto run = test::golden_run();
    run.machine.cpu_model = "=HYPERLINK(\"http://x\")";
    run.note = "@SUM(A1)";
    run.campaign = "<b>&\x1b[31m";
    const auto files = files_of(run);
    const auto& sheet = files.at("xl/worksheets/sheet1.xml");
    EXPECT_THAT(sheet, Not(HasSubstr("<f>")));
    EXPECT_THAT(sheet, Not(HasSubstr("hyperlink")));
    const auto& strings = files.at("xl/sharedStrings.xml");
    EXPECT_THAT(strings, HasSubstr("=HYPERLINK(\"http://x\")"));
    EXPECT_THAT(strings, HasSubstr("&lt;b&gt;&amp;"));
    EXPECT_THAT(strings, Not(HasSubstr("\x1b")));
}

TEST(Workbook, EqualDataMakeEqualFiles) {
    const auto document = test::document_of(test::golden_run());
    EXPECT_EQ(write::to_workbook(document).value(), write::to_workbook(document).value());
}

document::Document small_comparison() {
    test::CollectionMaker maker;
    maker.observe(maker.run({.label = "old"}), test::gemm("openblas", 1), {5e11, 5.01e11, 4.99e11});
    const auto run = maker.run({.label = "new"});
    maker.observe(run, test::gemm("openblas", 1), {6e11, 6.01e11, 5.99e11});
    maker.observe(run, test::gemm("openblas", 2), {6e11});
    return make_document(*compare::compare(maker.collection()));
}

TEST(Workbook, AComparisonHasItsVerdictsAsNumbersAndWordsAndFreezesWhatNamesTheRow) {
    const auto files = files_of(write::to_workbook(std::vector{small_comparison()}));
    for (const char* name : {"Summary", "Cases", "Not compared"})
        EXPECT_THAT(files.at("xl/workbook.xml"), HasSubstr(std::string{"name=\""} + name + '"'));
    const auto& sheet = files.at("xl/worksheets/sheet2.xml");
    EXPECT_THAT(sheet, HasSubstr("<pane xSplit=\"3\" ySplit=\"1\""));
    EXPECT_THAT(sheet, HasSubstr("<v>499999333332.44"));
    const auto& strings = files.at("xl/sharedStrings.xml");
    for (const char* text : {"faster", "new: verdict", "new: p",
                             "new: smallest detectable difference", "new: value", "old: values"})
        EXPECT_THAT(strings, HasSubstr(std::string{">"} + text + '<'));
}

TEST(Workbook, AHistoryHasPointsWithDates) {
    History history;
    HistorySeries series{.benchmark = "memory.stream",
                         .what = "triad",
                         .library = "host",
                         .metric = "bandwidth",
                         .unit = "B/s"};
    series.points = {{.seconds = 1767225600, .value = 5e10}}; // 2026-01-01
    series.change_points = {{.seconds = 1767225600, .before = 4e10, .after = 5e10, .ratio = 1.25}};
    series.spread = Spread{.machines = 9,
                           .p05 = 4e10,
                           .p50 = 5e10,
                           .p95 = 6e10,
                           .slowest = {{.machines = 8, .value = 4.1e10}}};
    history.groups = {{.name = "aws c7a.large", .to = 1767225600, .series = {series}}};
    const auto files = files_of(write::to_workbook({{make_document(history)}}));
    for (const char* sheet : {"sheet3", "sheet5"}) // change points, points
        EXPECT_THAT(files.at(std::string{"xl/worksheets/"} + sheet + ".xml"),
                    HasSubstr("<v>46023</v>"))
            << "days of Excel";
    EXPECT_THAT(files.at("xl/worksheets/sheet3.xml"), HasSubstr("<v>1.25</v>"));
    EXPECT_THAT(files.at("xl/worksheets/sheet4.xml"), HasSubstr("<v>41000000000</v>"));
    EXPECT_THAT(files.at("docProps/core.xml"), HasSubstr("2026-01-01T00:00:00Z"));
}

document::Cell with(double number, std::string name, std::string formula = {}) {
    return {.text = "x",
            .number = number,
            .unit = "USD",
            .live = document::live(std::move(name), std::move(formula))};
}

TEST(Workbook, CellsWithAFormulaAreLiveAndHoldTheirValue) {
    document::Table inputs{.columns = {{.title = "what"}, {.title = "value", .numeric = true}},
                           .rows = {{.cells = {{.text = "weight"}, with(0.5, "weight")}},
                                    {.cells = {{.text = "rate"}, with(4, "rate")}}},
                           .sheet = "It's given"};
    document::Table table{.columns = {{.title = "offer"}, {.title = "price"}, {.title = "score"}},
                          .sheet = "Ranking"};
    table.rows = {{.cells = {{.text = "a"},
                             with(2, "price"),
                             with(4, "score", "LN(price)*1e-3 + weight ^ MAX(best_2, 2)")}},
                  {.cells = {{.text = "b"}, with(3, "price"), with(9, "", "price / rate")}},
                  {.cells = {{.text = "best"}, with(2, "best_2"), with(7, "", "price * 2")}},
                  {.cells = {{.text = "none"}, with(5, ""), with(8, "", "nobody + 1")}}};
    const document::Document document{
        .sections = {{.title = "s", .blocks = {std::move(inputs), std::move(table)}}}};
    const auto files = files_of(write::to_workbook(std::vector{document}));
    const auto& sheet = files.at("xl/worksheets/sheet3.xml");
    EXPECT_THAT(
        sheet,
        HasSubstr("<f>LN($C$2)*1e-3 + 'It''s given'!$C$2 ^ MAX('Ranking'!$C$4, 2)</f><v>4</v>"))
        << "the nearest price";
    EXPECT_THAT(sheet, HasSubstr("<f>$C$3 / 'It''s given'!$C$3</f><v>9</v>"));
    for (const char* number : {"<v>7</v>", "<v>8</v>"}) // two prices, and none
        EXPECT_THAT(sheet, HasSubstr(number));
    static const std::regex formula{"<f>"};
    EXPECT_EQ(std::distance(std::sregex_iterator{sheet.begin(), sheet.end(), formula}, {}), 2);
}

TEST(Workbook, ShortTimesAreInNanosecondsAndSheetsPrintOnFittedPages) {
    const auto row = [](double seconds, double rate) {
        return document::Row{
            .cells = {{.text = "latency"},
                      {.text = "x", .number = seconds, .low = seconds, .unit = "s"},
                      {.text = "x", .number = rate, .unit = "1/s"}},
            .group = "memory.latency"};
    };
    document::Table table{.columns = {{.title = "case"},
                                      {.title = "value", .numeric = true},
                                      {.title = std::string(59, 'x'), .numeric = true}},
                          .rows = {row(3.4e-7, 3e6), row(2.5e-6, 4e5)},
                          .sheet = "Values"};
    const document::Document document{.sections = {{.title = "s", .blocks = {std::move(table)}}}};
    const auto files = files_of(write::to_workbook(std::vector{document}));
    const auto& sheet = files.at("xl/worksheets/sheet2.xml");
    EXPECT_THAT(sheet, HasSubstr("<v>340</v>"));
    EXPECT_THAT(sheet, HasSubstr("<v>2500</v>")) << "one unit in a group";
    EXPECT_THAT(sheet, HasSubstr("<v>3000000</v>"));
    EXPECT_THAT(files.at("xl/styles.xml"), HasSubstr("#,##0&quot; ns&quot;"));
    EXPECT_THAT(files.at("xl/sharedStrings.xml"), HasSubstr(">ns<")) << "in the column of units";
    EXPECT_THAT(sheet, HasSubstr("orientation=\"landscape\""));
    EXPECT_THAT(sheet, HasSubstr("fitToHeight=\"0\""));
    EXPECT_THAT(files.at("xl/workbook.xml"), HasSubstr("Print_Titles"));
}

TEST(SheetName, IsOneThatASheetMayHave) {
    EXPECT_EQ(write::sheet_name("a/b[c]:d*?\\"), "a b c  d");
    EXPECT_EQ(write::sheet_name("'quoted'"), "quoted");
    EXPECT_EQ(write::sheet_name(""), "Sheet");
    EXPECT_EQ(write::sheet_name(std::string(40, 'x')).substr(0, 30), std::string(30, 'x'));
}

TEST(NumberFormat, ShowsPrefixesWhereAFormatCan) {
    EXPECT_EQ(write::number_format(5.05e11, "FLOP/s"), "0,,,\" GFLOP/s\"");
    EXPECT_EQ(write::number_format(1.5e9, "B/s"), "0.00,,,\" GB/s\"");
    EXPECT_EQ(write::number_format(2e6, "1/s"), "0.00,,\" M/s\"");
    EXPECT_EQ(write::number_format(3.9e-9, "s"), "##0.00E+0\" s\"");
    EXPECT_EQ(write::number_format(1200, "s"), "0\" s\"");
    EXPECT_EQ(write::number_format(343, "ns"), "#,##0\" ns\"");
    EXPECT_EQ(write::number_format(0, ""), "0.00");
    EXPECT_EQ(write::number_format(12'345'678, "USD"), "#,##0.00\" USD\"");
    EXPECT_EQ(write::number_format(0.00042, "USD/h"), "0.00####\" USD/h\"");
    EXPECT_EQ(write::number_format(9198, "kWh"), "#,##0.00\" kWh\"");
}

} // namespace
} // namespace assay::history
