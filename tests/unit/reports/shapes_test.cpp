// SPDX-License-Identifier: Apache-2.0

#include "document/words.hpp"
#include "report/curves.hpp"
#include "report/pairs.hpp"
#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using record::Case;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// 8 B to 64 MiB; the rate drops by a fifth beyond 4 MiB, and each message from 128 KiB on waits.
record::Run broken_sweep(const std::string& benchmark) {
    record::Run run;
    for (std::int64_t bytes = 8; bytes <= std::int64_t{64} << 20U; bytes *= 2) {
        const auto size = static_cast<double>(bytes);
        const double seconds =
            2e-6 + size / (bytes > 4 << 20 ? 8e9 : 10e9) + (bytes > 64 << 10 ? 20e-6 : 0);
        const double rate = size / seconds;
        Case c{.benchmark = benchmark,
               .place = {.kind = "host"},
               .library = "mpi",
               .parameters = {{"bytes", bytes}},
               .headline = "bus_bandwidth",
               .status = record::Status::ok};
        c.metrics.push_back({.name = "bus_bandwidth",
                             .unit = "B/s",
                             .value = rate,
                             .low = rate * 0.99,
                             .high = rate * 1.01});
        run.cases.push_back(c);
    }
    return run;
}

TEST(Shapes, OfMessagesAreSaidWithTheirSizes) {
    const auto found = find_shapes(find_curves(broken_sweep("collective.allreduce")).charts);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_THAT(found[0].what, AllOf(HasSubstr("collective.allreduce"), HasSubstr("8 MiB")));
    EXPECT_EQ(found[0].severity, Severity::caution);
    EXPECT_THAT(found[1].what, AllOf(HasSubstr("64 KiB"), HasSubstr("128 KiB")));
    const auto report = make_report(broken_sweep("collective.allreduce"));
    EXPECT_TRUE(std::ranges::any_of(
        report.findings, [&](const Finding& finding) { return finding.what == found[0].what; }));
}

TEST(Shapes, OfWorkingSetsMayFall) {
    EXPECT_THAT(find_shapes(find_curves(broken_sweep("memory.stream")).charts), IsEmpty());
}

record::Table pairs(std::size_t nodes) {
    record::Table table{.metric = "latency", .unit = "s", .row_title = "core"};
    for (std::size_t i = 0; i < nodes; ++i) table.rows.push_back(std::to_string(i));
    table.columns = table.rows;
    for (std::size_t i = 0; i < nodes * nodes; ++i)
        table.values.emplace_back(1e-7 * (1 + 0.01 * std::sin(static_cast<double>(i * i))));
    return table;
}

TEST(SlowPairs, AreNamedBelowTheirMap) {
    auto table = pairs(8);
    table.values[2 * 8 + 5] = table.values[5 * 8 + 2] = 2e-7;
    table.values[6 * 8 + 1] = 1.4e-7;
    for (std::size_t i = 0; i < 8; ++i) table.values[i * 8 + i] = std::nullopt;
    Case c{.benchmark = "memory.core_to_core", .status = record::Status::ok};
    const auto said = slow_pairs(c, table);
    ASSERT_THAT(said, SizeIs(testing::Ge(2)));
    EXPECT_THAT(said[0], AllOf(HasSubstr("2 to 5"), HasSubstr("slow by itself")));
    EXPECT_THAT(said.back(), HasSubstr("6 → 1"));
    c.tables.push_back(table);
    EXPECT_EQ(heat_maps(c).front().slow, said);
    // Replicas that differ by half say that nobody knows.
    for (const double factor : {0.7, 1.0, 1.6}) {
        auto own = table;
        for (auto& value : own.values)
            if (value) value = *value * factor;
        c.replicas.push_back({.tables = {own}});
    }
    EXPECT_THAT(slow_pairs(c, table), IsEmpty());
}

TEST(SlowPairs, OfHostsAreFindings) {
    auto table = pairs(8);
    table.metric = "bandwidth";
    table.row_title = "from";
    for (std::size_t i = 0; i < 8; ++i) {
        table.rows[i] = table.columns[i] = "node" + std::to_string(i);
        for (const std::size_t cell : {3 * 8 + i, i * 8 + 3})
            table.values[cell] = *table.values[cell] / 20;
    }
    for (std::size_t i = 0; i < 8; ++i) table.values[i * 8 + i] = std::nullopt;
    record::Run run;
    run.cases.push_back({.benchmark = "collective.pairs", .status = record::Status::ok});
    run.cases.back().tables.push_back(table);
    const auto found = find_slow_pairs(run);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what,
                AllOf(HasSubstr("collective.pairs"),
                      HasSubstr("node3 slows all its pairs, which are 20 times slower.")));
    run.cases.back().benchmark = "latency.core_to_core";
    EXPECT_THAT(find_slow_pairs(run), IsEmpty()) << "a core is not exchanged";
}

TEST(SlowPairs, OfOtherTablesAreNone) {
    auto table = pairs(8);
    table.columns.back() = "another";
    EXPECT_THAT(slow_pairs({}, table), IsEmpty());
    table = pairs(8);
    table.values.pop_back();
    EXPECT_THAT(slow_pairs({}, table), IsEmpty());
    EXPECT_THAT(slow_pairs({}, record::Table{}), IsEmpty());
}

} // namespace
} // namespace assay::report
