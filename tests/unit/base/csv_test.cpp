// SPDX-License-Identifier: Apache-2.0
#include "base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using namespace testing;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text) {
    Rows rows;
    for (CsvRows csv{text}; csv.next();) rows.push_back(csv.cells());
    return rows;
}

TEST(Csv, ReadsCellsInQuotesWithEverythingInThem) {
    EXPECT_EQ(rows_of("a,b\r\n\"x,1\",\"say \"\"no\"\"\"\r\n\"two\nlines\",\n"),
              (Rows{{"a", "b"}, {"x,1", "say \"no\""}, {"two\nlines", ""}}));
    EXPECT_EQ(rows_of("a,"), (Rows{{"a", ""}}));
}

TEST(Csv, FindsTheSeparatorInTheFirstLineAndSkipsBlankOnes) {
    EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                      "a;b;c\n\n1,5;2;3\n;;\n"),
              (Rows{{"a", "b", "c"}, {"1,5", "2", "3"}}));
    EXPECT_EQ(rows_of("a\tb\n1\t2"), (Rows{{"a", "b"}, {"1", "2"}}));
    EXPECT_THAT(rows_of("\n\n"), IsEmpty());
}

TEST(Csv, CountsLinesAsEditorsDo) {
    CsvRows csv{"a\n\"x\ny\"\n\nb\n"};
    std::vector<std::size_t> lines;
    while (csv.next()) lines.push_back(csv.line());
    EXPECT_THAT(lines, ElementsAre(1, 2, 5));
}

TEST(Csv, SaysWhereAQuoteHasNoEnd) {
    CsvRows csv{"a,b\n1,\"2\n3\n"};
    EXPECT_TRUE(csv.next());
    EXPECT_FALSE(csv.next());
    EXPECT_EQ(csv.problem(), "missing closing quote of the cell that begins in line 2");
    EXPECT_FALSE(csv.next());
}

TEST(Csv, EndsAtALineOfSeparatorsAlone) {
    const std::string text(20'000, ',');
    CsvRows many{text};
    EXPECT_FALSE(many.next());
    EXPECT_EQ(many.problem(), "line 1 has more than 10000 cells");
}

} // namespace
} // namespace assay
