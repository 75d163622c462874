// SPDX-License-Identifier: Apache-2.0
//
// The long table of a generated fleet: what it holds, that the documented queries give what the runs hold, and that it
// is written in parts.

#include "base/file.hpp"
#include "base/utc.hpp"
#include "document/words.hpp"
#include "exchange/long_table.hpp"
#include "exchange/openmetrics.hpp"
#include "hostile.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "sample.hpp"
#include "support/generated_runs.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

namespace assay::exchange {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using Rows = std::vector<std::vector<std::string>>;

/// RFC 4180, strictly.
std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
    std::vector<std::vector<std::string>> rows{{""}};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto& cell = rows.back().back();
        if (quoted) {
            if (text[i] != '"')
                cell += text[i];
            else if (i + 1 < text.size() && text[i + 1] == '"')
                cell += text[i++];
            else
                quoted = false;
        } else if (text[i] == '"') {
            EXPECT_EQ(cell, "");
            quoted = true;
        } else if (text[i] == ',') {
            rows.back().emplace_back();
        } else if (text.substr(i, 2) == "\r\n") {
            rows.push_back({""});
            ++i;
        } else {
            EXPECT_NE(text[i], '\n');
            cell += text[i];
        }
    }
    EXPECT_FALSE(quoted);
    EXPECT_EQ(rows.back(), std::vector<std::string>{""}); // ends in CRLF
    rows.pop_back();
    return rows;
}

std::size_t column(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(rows.front(), name) - rows.front().begin());
}

class Database {
public:
    explicit Database(const Rows& rows) {
        EXPECT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
        std::string columns, places;
        for (const auto& name : rows.front()) {
            columns +=
                (columns.empty() ? "\"" : ", \"") + name + "\" TEXT"; // as .import makes them
            places += places.empty() ? "?" : ", ?";
        }
        ask("CREATE TABLE runs (" + columns + ")");
        ask("BEGIN");
        sqlite3_stmt* insert = prepare("INSERT INTO runs VALUES (" + places + ")");
        for (std::size_t i = 1; i < rows.size(); ++i) {
            for (std::size_t k = 0; k < rows[i].size(); ++k)
                sqlite3_bind_text(insert, static_cast<int>(k) + 1, rows[i][k].c_str(), -1,
                                  SQLITE_STATIC);
            EXPECT_EQ(sqlite3_step(insert), SQLITE_DONE);
            sqlite3_reset(insert);
        }
        sqlite3_finalize(insert);
        ask("COMMIT");
    }
    ~Database() { sqlite3_close(db_); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Rows ask(const std::string& query) const {
        sqlite3_stmt* statement = prepare(query);
        Rows rows;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            rows.emplace_back();
            for (int i = 0; i < sqlite3_column_count(statement); ++i) {
                const auto* text = sqlite3_column_text(statement, i);
                rows.back().emplace_back(text == nullptr ? ""
                                                         : reinterpret_cast<const char*>(text));
            }
        }
        EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK) << sqlite3_errmsg(db_);
        return rows;
    }

private:
    sqlite3_stmt* prepare(const std::string& query) const {
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(db_, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(db_) << " in " << query;
        return statement;
    }
    sqlite3* db_ = nullptr;
};

/// The documented queries, in their order.
std::vector<std::string> documented_queries() {
    const auto text = read_whole(ASSAY_QUERIES, 1'000'000).value();
    std::vector<std::string> queries;
    for (auto at = text.find("```sql\n"); at != text.npos; at = text.find("```sql\n", at)) {
        at += 7;
        queries.push_back(text.substr(at, text.find("```", at) - at));
    }
    return queries;
}

class LongTableTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        temporary.emplace();
        folder = temporary->path();
        test::write_runs(options(), folder / "runs");
    }
    static void TearDownTestSuite() { temporary.reset(); }

    static test::GeneratorOptions options() {
        return {.types = {{"aws", "c7a.large", "AMD EPYC 9R14", 2, 1.0},
                          {"gcp", "c3-standard-4", "Intel Xeon 8481C", 2, 0.8}},
                .machines = 2,
                .quarters = 2,
                .runs = 2,
                .values = 2,
                .benchmarks = {}};
    }
    static store::FoundFiles files(const std::vector<std::string>& inputs = {}) {
        return store::find_files(inputs.empty() ? std::vector{(folder / "runs").string()} : inputs)
            .value();
    }
    static std::string write(const store::FoundFiles& files, TableFormat format,
                             store::EachRun& read) {
        std::string out;
        write_table(
            files, format,
            [&](std::string_view part) {
                out += part;
                return true;
            },
            read);
        return out;
    }
    static Rows table() {
        store::EachRun read;
        return parse_csv(write(files(), TableFormat::csv, read));
    }
    static void
    each_case(const std::function<void(const record::Run&, const record::Case&)>& look) {
        const test::Generator generator{options()};
        for (std::size_t i = 0; i < generator.size(); ++i) {
            const auto run = generator.run(i);
            for (const auto& c : run.cases) look(run, c);
        }
    }
    /// The primary value of a case that is ok or unstable.
    static std::optional<double> value_of(const record::Case& c) {
        const bool fits = c.status == record::Status::ok || c.status == record::Status::unstable;
        return fits && !c.metrics.empty() ? c.metrics.front().value : std::nullopt;
    }
    static inline std::optional<made::TemporaryFolder> temporary;
    static inline fs::path folder;
};

TEST_F(LongTableTest, HasEveryMetricOfEveryCaseOfEveryRun) {
    const auto rows = table();
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto cell = [&](const char* name) { return rows[i][column(rows, name)]; };
        ++seen[cell("run") + cell("benchmark") + cell("library") + cell("parameters") +
               cell("metric") + cell("cells")];
    }
    std::size_t expected = 0;
    std::size_t without_value = 0;
    each_case([&](const auto& run, const auto& c) {
        std::string name = run.id + c.benchmark + c.library + store::joined(c.parameters);
        if (document::headline(c) == nullptr) {
            ++expected;
            ++without_value;
            EXPECT_EQ(seen[name + c.headline], 1U) << name;
            return;
        }
        for (const auto& metric : c.metrics) EXPECT_EQ(seen[name + metric.name], 1U) << name;
        expected += c.metrics.size() + 3 * c.tables.size();
    });
    EXPECT_EQ(rows.size(), expected + 1);
    EXPECT_GT(without_value, 0U);
}

TEST_F(LongTableTest, BothFormatsSayTheSameAndFollowTheirSchema) {
    store::EachRun read;
    const auto rows = table();
    std::istringstream lines{write(files(), TableFormat::ndjson, read)};
    EXPECT_EQ(read.runs, 16U);
    const auto schema = columns_schema();
    std::string line;
    for (std::size_t i = 1; std::getline(lines, line); ++i) {
        const auto parsed = must(json::parse(line, "line"));
        ASSERT_TRUE(json::check_schema(parsed, schema, "line"));
        ASSERT_LT(i, rows.size());
        std::size_t k = 0;
        for (const auto& [name, value] : parsed.items()) {
            EXPECT_EQ(name, rows.front()[k]);
            const auto& cell = rows[i][k++];
            if (value.is_string())
                EXPECT_EQ(cell, value.template get<std::string>());
            else if (value.is_number())
                EXPECT_EQ(std::stod(cell), value.template get<double>());
            else if (value.is_null())
                EXPECT_EQ(cell, "");
            else
                EXPECT_EQ(cell, json::to_line(value));
        }
        EXPECT_EQ(k, rows.front().size());
    }
    for (const auto& column : table_columns())
        EXPECT_THAT(columns_in_words(), HasSubstr(std::string{column.what}));
}

TEST_F(LongTableTest, DocumentedQueriesFindWhatTheRunsHold) {
    const Database database{table()};
    const auto queries = documented_queries();
    ASSERT_THAT(queries, SizeIs(5));

    std::map<std::string, double> best;
    struct Values {
        std::map<bool, std::vector<double>> by_half;
        std::map<std::string, std::vector<double>> by_machine;
        bool higher = true;
    };
    std::map<std::array<std::string, 4>, Values> series;
    std::map<std::string, std::array<double, 3>> counts; // cases, unstable, without a value
    std::map<std::pair<std::string, std::string>, double> products;
    each_case([&](const auto& run, const auto& c) {
        auto& count = counts[c.benchmark];
        ++count[0];
        if (c.status == record::Status::unstable) ++count[1];
        const auto value = value_of(c);
        if (!value) {
            ++count[2];
            return;
        }
        const auto& instance = run.machine.instance;
        if (c.benchmark == "memory.stream") best[instance] = std::max(best[instance], *value);
        auto& values = series[{instance, c.benchmark, c.library, store::joined(c.parameters)}];
        values.by_half[run.started >= "2024-04"].push_back(*value);
        values.by_machine[run.machine.id].push_back(*value);
        values.higher = c.metrics.front().higher_is_better;
        if (c.benchmark == "gemm.square") {
            auto& product = products[{record::text(c.parameters, "precision"), instance}];
            product = std::max(product, *value);
        }
    });
    const auto mean = [](const std::vector<double>& all) {
        double sum = 0;
        for (const double one : all) sum += one;
        return sum / static_cast<double>(all.size());
    };
    const auto near = [](const std::string& cell, double expected) {
        EXPECT_NEAR(std::stod(cell), expected, 1e-9 * std::max(1.0, std::fabs(expected)));
    };

    const auto bandwidths = database.ask(queries[0]);
    ASSERT_EQ(bandwidths.size(), 2U);
    EXPECT_GT(std::stod(bandwidths[0][1]), std::stod(bandwidths[1][1]));
    for (const auto& row : bandwidths) near(row[1], best.at(row[0]) / 1e9);

    std::size_t both = 0;
    for (const auto& [name, values] : series) both += values.by_half.size() == 2 ? 1 : 0;
    const auto changes = database.ask(queries[1]);
    EXPECT_EQ(changes.size(), both);
    for (const auto& row : changes) {
        const auto& values = series.at({row[0], row[1], row[2], row[3]});
        const double ratio = mean(values.by_half.at(true)) / mean(values.by_half.at(false));
        near(row[4], values.higher ? ratio : 1 / ratio);
    }

    const auto spreads = database.ask(queries[2]);
    EXPECT_FALSE(spreads.empty());
    for (const auto& row : spreads) {
        std::vector<double> means;
        for (const auto& [machine, all] : series.at({row[0], row[1], row[2], row[3]}).by_machine)
            means.push_back(mean(all));
        EXPECT_EQ(row[4], std::to_string(means.size()));
        near(row[5], std::ranges::max(means) / std::ranges::min(means) - 1);
    }

    const auto shares = database.ask(queries[3]);
    EXPECT_EQ(shares.size(), counts.size());
    double without_value = 0;
    for (const auto& row : shares) {
        const auto& count = counts.at(row[0]);
        near(row[1], count[0]);
        near(row[2], count[1] / count[0]);
        near(row[3], count[2] / count[0]);
        without_value += count[2];
    }
    EXPECT_GT(without_value, 0);

    const auto ranking = database.ask(queries[4]);
    EXPECT_EQ(ranking.size(), products.size());
    for (const auto& row : ranking) near(row[2], products.at({row[0], row[1]}) / 1e9);
}

TEST_F(LongTableTest, IsWrittenInPartsOfOneRun) {
    std::vector<std::size_t> parts;
    store::EachRun read;
    write_table(
        files(), TableFormat::ndjson,
        [&](std::string_view part) {
            parts.push_back(part.size());
            return true;
        },
        read);
    EXPECT_THAT(parts, SizeIs(16));
    // A reader that has read enough ends it.
    std::size_t taken = 0;
    EXPECT_FALSE(write_table(
        files(), TableFormat::csv, [&](std::string_view) { return ++taken < 3; }, read));
    EXPECT_EQ(taken, 3U);
    EXPECT_EQ(read.runs, 3U);
}

TEST_F(LongTableTest, UnreadableFilesAndSecondCopiesAreNamed) {
    const auto all = files();
    const auto copy = folder / "copy";
    auto run = record::read_run(all.files.front().path).value();
    const auto put = [&](const char* name) {
        fs::create_directories(copy / name);
        ASSERT_TRUE(record::write_run(copy / name / "run.json", run));
    };
    run.status = "interrupted"; // an older copy of it: the complete one counts
    put("a");
    run.id = "20240101T000000Z-ffff"; // nowhere complete
    put("b");
    std::ofstream{copy / "bad.json"} << "[";
    store::EachRun read;
    const auto rows = parse_csv(
        write(files({(copy / "bad.json").string(), copy.string(), (folder / "runs").string()}),
              TableFormat::csv, read));
    EXPECT_EQ(read.runs, 17U);
    ASSERT_THAT(read.problems, SizeIs(2));
    EXPECT_THAT(read.problems[0].where, HasSubstr("bad.json"));
    EXPECT_THAT(read.problems[1].where, HasSubstr("copy/a/run.json"));
    EXPECT_THAT(read.problems[1].reason, HasSubstr(all.files.front().path.string()));
    EXPECT_EQ(rows.back()[column(rows, "run")], run.id);
    fs::remove_all(copy);
}

TEST(Csv, FormulasAreDefused) {
    for (const std::string text : {"=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "  =1", "＝1",
                                   "\t=1", "\r=1", "a,b", "\"x\""}) {
        auto run = test::filled_with(test::golden_run(), text);
        record::make_plain(run); // as the reader does
        const auto rows =
            parse_csv(table_header(TableFormat::csv) +
                      table_rows(run, {.label = "", .path = "r.json"}, TableFormat::csv));
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

// --- OpenMetrics -------------------------------------------------------------------------------------

TEST(OpenMetricsUnit, IsWrittenOut) {
    EXPECT_EQ(openmetrics_unit("B/s"), "bytes_per_second");
    EXPECT_EQ(openmetrics_unit("FLOP/s/W"), "flops_per_second_per_watt");
    EXPECT_EQ(openmetrics_unit("1/s"), "per_second");
    EXPECT_EQ(openmetrics_unit("atom-steps/s"), "atom_steps_per_second");
    EXPECT_EQ(openmetrics_unit("s"), "seconds");
    EXPECT_EQ(openmetrics_unit(""), "");
    EXPECT_EQ(openmetrics_unit("1"), "");
    EXPECT_EQ(openmetrics_unit("\"/\n"), "");
}

TEST_F(LongTableTest, OpenMetricsHasTheNewestRunOfEachSeries) {
    store::EachRun read;
    const auto text = to_openmetrics(files(), {.timestamps = true}, read);
    EXPECT_EQ(read.runs, 16U);
    std::map<std::string, std::pair<double, std::string>> newest; // by labels: when, its value
    each_case([&](const auto& run, const auto& c) {
        const auto name =
            fmt::format("machine=\"{}\"|{}\",library=\"{}\",parameters=\"{}\"", run.machine.id,
                        c.benchmark, c.library, store::joined(c.parameters));
        const auto started = seconds_of(run.started).value();
        auto& known = newest[name];
        if (started <= known.first) return;
        known = {started, document::headline(c) == nullptr
                              ? ""
                              : fmt::format("}} {} {}", *c.metrics.front().value, started)};
    });
    std::size_t found = 0;
    for (const auto& [name, value] : newest)
        if (!value.second.empty()) found += text.find(value.second + "\n") != text.npos ? 1U : 0U;
    EXPECT_EQ(found, static_cast<std::size_t>(std::ranges::count_if(
                         newest, [](const auto& one) { return !one.second.second.empty(); })));
    EXPECT_THAT(text, HasSubstr("# TYPE assay_bandwidth_bytes_per_second gauge\n"
                                "# UNIT assay_bandwidth_bytes_per_second bytes_per_second\n"));
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

} // namespace
} // namespace assay::exchange
