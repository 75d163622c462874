// SPDX-License-Identifier: Apache-2.0

#include "csv.hpp"
#include "export/gbench.hpp"
#include "export/long_table.hpp"
#include "hostile.hpp"
#include "json/json.hpp"
#include "report/text.hpp"
#include "sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using test::column;
using test::parse_csv;

std::string to_csv(const record::Run& run) {
    const FoundFile file{.label = "mine", .path = "results/run.json"};
    return table_header(TableFormat::csv) + table_rows(plain(run), file, TableFormat::csv);
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

json::Value gbench(const record::Run& run) {
    auto parsed = json::parse(to_gbench(run), "export");
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : json::Value{};
}

TEST(GoogleBenchmark, NamesAreThoseOfTheCase) {
    EXPECT_EQ(gbench_name(test::golden_run().cases[0]),
              "gemm.square[openblas]/precision:fp64/size:2048/threads:all");
}

TEST(GoogleBenchmark, RepetitionsAreReplicasAndAggregatesFollow) {
    const auto run = test::golden_run();
    const auto exported = gbench(run);
    const auto& entries = exported["benchmarks"];
    ASSERT_GE(entries.size(), 6U);
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(entries[i]["run_type"], "iteration");
        EXPECT_EQ(entries[i]["repetitions"], 3);
        EXPECT_EQ(entries[i]["repetition_index"], i);
        EXPECT_EQ(entries[i]["iterations"], 16 * 120);
        EXPECT_EQ(entries[i]["threads"], 2);
        EXPECT_EQ(entries[i]["time_unit"], "ns");
        EXPECT_EQ(entries[i]["cpu_time"], entries[i]["real_time"]);
        const double seconds = *run.cases[0].replicas[i].seconds;
        EXPECT_DOUBLE_EQ(entries[i]["real_time"].get<double>(), seconds * 1e9);
        EXPECT_DOUBLE_EQ(entries[i]["flop_rate"].get<double>(), 2.0 * 2048 * 2048 * 2048 / seconds);
        sum += seconds;
    }
    EXPECT_EQ(entries[3]["aggregate_name"], "mean");
    EXPECT_EQ(entries[3]["name"], entries[0]["name"].get<std::string>() + "_mean");
    EXPECT_EQ(entries[3]["run_name"], entries[0]["name"]);
    EXPECT_NEAR(entries[3]["real_time"].get<double>(), sum / 3 * 1e9, 1e-3);
    EXPECT_EQ(entries[4]["aggregate_name"], "median");
    EXPECT_EQ(entries[5]["aggregate_name"], "stddev");
    EXPECT_FALSE(entries[5].contains("flop_rate"));
}

TEST(GoogleBenchmark, CasesWithoutAFigureAreErrors) {
    const auto exported = gbench(test::golden_run());
    std::size_t errors = 0;
    for (const auto& entry : exported["benchmarks"]) {
        if (!entry.contains("error_occurred")) continue;
        ++errors;
        EXPECT_EQ(entry["real_time"], 0.0);
        EXPECT_FALSE(entry.contains("flop_rate"));
    }
    EXPECT_EQ(errors, 3U); // incorrect, skipped, crashed
}

TEST(GoogleBenchmark, HostileTextIsStillJson) {
    const auto exported = gbench(test::filled_with(test::golden_run(), "a/b\"\x1b[0m\xff\n"));
    EXPECT_GT(exported["benchmarks"].size(), 10U);
    // Slashes separate the parts of a name, so values must not add any.
    EXPECT_THAT(exported["benchmarks"][0]["name"].get<std::string>(), HasSubstr("/a_b"));
}

} // namespace
} // namespace assay::report
