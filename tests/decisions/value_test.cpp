// SPDX-License-Identifier: Apache-2.0
//
// A case of a run has one value with one interval: whoever shows it shows the same.

#include "cli/program.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;

struct Shown {
    std::string benchmark;
    std::string status;
    std::string knowledge;
    double value = 0;
    double low = 0;
    double high = 0;
};
double number(const json::Value& value, const char* key) {
    const auto found = value.find(key);
    return found == value.end() || found->is_null() ? 0 : found->get<double>();
}
Shown shown(const json::Value& value) {
    return {.value = number(value, "value"),
            .low = number(value, "low"),
            .high = number(value, "high")};
}
/// Times and rates are turned into logarithms and back on some ways.
bool are_same(const Shown& a, const Shown& b) {
    const auto near = [](double one, double other) {
        return std::abs(one - other) <= 1e-9 * std::abs(one);
    };
    return near(a.value, b.value) && near(a.low, b.low) && near(a.high, b.high);
}

using Values = std::map<std::string, Shown>; ///< by the identity of the case

Values of_report(const std::filesystem::path& file) {
    Values values;
    const auto answer = ask({"report", "--json", file.string()});
    for (const auto& section : answer.json.at("reports").at(0).at("sections"))
        for (const auto& one : section.at("cases")) {
            auto& own = values[one.at("identity")] = shown(one);
            own.benchmark = one.at("benchmark");
            own.status = one.at("status");
            own.knowledge = one.at("knowledge");
        }
    return values;
}
Values of_history(const std::filesystem::path& file) {
    Values values;
    const auto answer = ask({"history", "--json", file.string()});
    for (const auto& series : answer.json.at("groups").at(0).at("series"))
        values[series.at("identity")] = shown(series.at("points").at(0));
    return values;
}
Values of_table(const std::filesystem::path& file) {
    Values values;
    std::istringstream lines{ask({"export", "--to", "ndjson", file.string()}).text};
    for (std::string line; std::getline(lines, line);) {
        const auto row = json::parse(line, "line").value();
        const auto place = row.at("place").get<std::string>();
        const int version = row.at("version");
        const auto identity = row.at("benchmark").get<std::string>() +
                              (version == 1 ? "" : "/" + std::to_string(version)) + "[" +
                              row.at("library").get<std::string>() + "]" +
                              (place == "host" ? "" : "@" + place) + " " +
                              row.at("parameters").get<std::string>();
        values.try_emplace(identity, shown(row)); // the primary metric is first
        const double median = number(row, "median");
        const double p95 = number(row, "p95");
        const double p99 = number(row, "p99");
        EXPECT_LE(median, p95 == 0 ? median : p95) << identity;
        if (p99 > 0) EXPECT_LE(p95, p99) << identity;
    }
    return values;
}

/// Effects of a busy machine on a good run: levels, disturbed replicas, a lucky one.
record::Run busy_run() {
    auto run = read(real("h200-acceptance"));
    const auto one = [](int index) {
        return [=](const record::Replica& replica) { return replica.index == index; };
    };
    slow_down(run, on_devices("memory.stream kernel=copy"), 1.6, half_of_replicas());
    slow_down(run, on_devices("gemm.square precision=bf16"), 0.8, one(2));
    mark(run, on_devices("fft.transform"), DisturbanceCode::device_shared);
    mark(run, on_devices("stencil.heat3d"), DisturbanceCode::device_shared, half_of_replicas());
    slow_down(run, on_devices("stencil.heat3d"), 1.3, half_of_replicas());
    interrupt(run, 4);
    return run;
}

TEST(OneValue, IsShownEverywhere) {
    const Folder folder;
    const auto file = write(folder.path(), "busy", busy_run());
    const auto report = of_report(file);
    ASSERT_GE(report.size(), 20U);
    const auto history = of_history(file);
    const auto table = of_table(file);
    std::map<std::string, int> kinds;
    for (const auto& [identity, own] : report) {
        ++kinds[own.knowledge];
        ASSERT_TRUE(table.contains(identity)) << identity;
        EXPECT_TRUE(are_same(own, table.at(identity))) << identity;
        // A history leaves out what was disturbed.
        EXPECT_EQ(history.contains(identity), own.status != "disturbed") << identity;
        if (history.contains(identity))
            EXPECT_TRUE(are_same(own, history.at(identity)))
                << identity << ' ' << own.value << ' ' << history.at(identity).value;
    }
    EXPECT_GE(kinds["known"], 10);
    EXPECT_GE(kinds["at_least"], 1);
    EXPECT_GE(kinds["rough"], 1);
    const auto is_reported = [](const Values& of, const std::string& benchmark, double value) {
        return std::ranges::any_of(of, [&](const auto& one) {
            return one.second.benchmark == benchmark &&
                   std::abs(one.second.value - value) <= 1e-9 * value;
        });
    };
    int checked = 0;
    for (const auto& row : rows_of(folder.path()))
        if (std::isfinite(row.value) && row.metric != "" && row.verdict != "FAIL" &&
            row.benchmark.starts_with("memory.")) {
            ++checked;
            EXPECT_TRUE(is_reported(report, row.benchmark, row.value))
                << row.check << ' ' << row.value;
        }
    EXPECT_GE(checked, 2);
    const auto other = write(folder.path(), "later", later(busy_run(), 2));
    const auto comparison = ask({"compare", "--json", "a=" + file.string(), "b=" + other.string()});
    const auto of_other = of_report(other);
    int compared = 0;
    for (const auto& of_family : comparison.json.at("tables"))
        for (const auto& row : of_family.at("rows"))
            for (const std::size_t side : {0U, 1U}) {
                const auto& cell = row.at("cells").at(side);
                if (cell.at("value").is_null()) continue;
                ++compared;
                EXPECT_TRUE(is_reported(side == 0 ? report : of_other, row.at("benchmark"),
                                        cell.at("value").get<double>()))
                    << row.at("identity");
            }
    EXPECT_GE(compared, 40);
    EXPECT_EQ(ask({"verify", file.string()}).code, 0);
}

} // namespace
} // namespace assay::decisions
