// SPDX-License-Identifier: Apache-2.0

#include "csv.hpp"
#include "exchange/long_table.hpp"
#include "hostile.hpp"
#include "record/plain.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

using test::column;
using test::parse_csv;

std::string to_csv(record::Run run) {
    record::make_plain(run); // as the reader does
    const FoundFile file{.label = "mine", .path = "results/run.json"};
    return table_header(TableFormat::csv) + table_rows(run, file, TableFormat::csv);
}

TEST(Csv, HasOneRowForEveryCaseAndMetric) {
    const auto run = test::golden_run();
    const auto rows = parse_csv(to_csv(run));
    std::size_t expected = 1;
    for (const auto& c : run.cases)
        expected += c.status == record::Status::incorrect
                        ? 1
                        : std::max<std::size_t>(c.metrics.size(), 1) + 3 * c.tables.size();
    EXPECT_EQ(rows.size(), expected);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows.front().size());
}

TEST(Csv, NumbersReadBackExactly) {
    const auto run = test::golden_run();
    const auto rows = parse_csv(to_csv(run));
    EXPECT_EQ(std::stod(rows[1][column(rows, "value")]), run.cases[0].metrics[0].value.value());
    EXPECT_EQ(rows[1][column(rows, "unit")], "FLOP/s");
    EXPECT_EQ(rows[1][column(rows, "parameters")], "precision=fp64 size=2048 threads=all");
}

TEST(Csv, AWrongResultHasNoValue) {
    auto run = test::golden_run();
    for (auto& c : run.cases)
        if (c.status == record::Status::incorrect) c.reason_code = record::ReasonCode::wrong_result;
    const auto rows = parse_csv(to_csv(run));
    bool seen = false;
    for (const auto& row : rows) {
        if (row[column(rows, "status")] != "incorrect") continue;
        seen = true;
        EXPECT_EQ(row[column(rows, "value")], "");
        EXPECT_EQ(row[column(rows, "metric")],
                  "flop_rate"); // whoever asks for it finds what is absent
        EXPECT_EQ(row[column(rows, "reason_code")], "wrong_result");
        EXPECT_EQ(row[column(rows, "is_primary")], "true");
        EXPECT_EQ(row[column(rows, "verified")], "false");
    }
    EXPECT_TRUE(seen);
}

TEST(Csv, FormulasAreDefused) {
    for (const std::string text : {"=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "  =1", "＝1",
                                   "\t=1", "\r=1", "a,b", "\"x\""}) {
        const auto rows = parse_csv(to_csv(test::filled_with(test::golden_run(), text)));
        for (const auto& row : rows) {
            ASSERT_EQ(row.size(), rows.front().size()) << text;
            for (const auto name : {"run", "cpu_model", "library", "reason", "ceiling_source"}) {
                const auto& cell = row[column(rows, name)];
                const auto first = cell.find_first_not_of(' ');
                if (first == std::string::npos) continue;
                EXPECT_EQ(std::string{"=+-@"}.find(cell[first]), std::string::npos) << cell;
                EXPECT_FALSE(cell.substr(first).starts_with("＝")) << cell;
            }
        }
    }
}

} // namespace
} // namespace assay::report
