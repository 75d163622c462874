// SPDX-License-Identifier: Apache-2.0

#include "report/curves.hpp"
#include "sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using record::Case;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Case point(record::NamedList parameters, double value, record::NamedList settings = {}) {
    Case c{.benchmark = "memory.latency",
           .place = {.kind = "host"},
           .library = "host",
           .parameters = std::move(parameters),
           .settings = std::move(settings),
           .headline = "latency",
           .status = record::Status::ok};
    c.metrics.push_back(
        {.name = "latency", .unit = "s", .higher_is_better = false, .value = value});
    return c;
}

record::Run sweep(const std::vector<std::int64_t>& sizes, const char* pages = "huge") {
    record::Run run;
    for (const auto size : sizes)
        run.cases.push_back(point({{"footprint", size}, {"pages", pages}}, 1e-9 * std::sqrt(size)));
    return run;
}

std::vector<double> xs(const Curve& curve) {
    std::vector<double> values;
    for (const auto& p : curve.points) values.push_back(p.x);
    return values;
}

TEST(Curves, CasesThatDifferInOneNumberAreOneInItsOrder) {
    const auto found = find_curves(sweep({4096, 1024, 2048, 8192}));
    ASSERT_THAT(found.charts, SizeIs(1));
    const auto& chart = found.charts.front();
    EXPECT_EQ(chart.benchmark, "memory.latency");
    EXPECT_EQ(chart.x_title, "footprint");
    EXPECT_EQ(chart.x_unit, "B");
    EXPECT_FALSE(chart.higher_is_better);
    ASSERT_THAT(chart.curves, SizeIs(1));
    EXPECT_THAT(xs(chart.curves[0]), ElementsAre(1024, 2048, 4096, 8192));
    EXPECT_EQ(chart.curves[0].points[0].x_text, "1 KiB");
    EXPECT_EQ(chart.curves[0].label, "pages huge, host");
    EXPECT_THAT(found.on_curve, testing::Each(true));
}

TEST(Curves, ThreePointsAreNone) {
    const auto found = find_curves(sweep({1024, 2048, 4096}));
    EXPECT_THAT(found.charts, IsEmpty());
    EXPECT_THAT(found.on_curve, testing::Each(false));
}

TEST(Curves, OthersAreOneEachAndSayWhatSetsThemApart) {
    auto run = sweep({1024, 2048, 4096, 8192});
    for (const auto& c : sweep({1024, 2048, 4096, 8192}, "small").cases) run.cases.push_back(c);
    const auto found = find_curves(run);
    ASSERT_THAT(found.charts, SizeIs(1));
    ASSERT_THAT(found.charts[0].curves, SizeIs(2));
    EXPECT_EQ(found.charts[0].curves[0].label, "pages huge");
    EXPECT_EQ(found.charts[0].curves[1].label, "pages small");
    EXPECT_EQ(found.charts[0].common, "host");
}

TEST(Curves, ASymbolStandsWhereItsSettingSays) {
    auto run = sweep({1024, 2048, 4096});
    run.cases.push_back(point({{"footprint", "beyond_cache"}, {"pages", "huge"}}, 1e-7,
                              {{"footprint", std::int64_t{65536}}}));
    run.cases.push_back(point({{"footprint", "beyond_cache"}, {"pages", "small"}}, 1e-7));
    const auto found = find_curves(run);
    ASSERT_THAT(found.charts, SizeIs(1));
    EXPECT_THAT(xs(found.charts[0].curves[0]), ElementsAre(1024, 2048, 4096, 65536));
    EXPECT_THAT(found.on_curve, ElementsAre(true, true, true, true, false));
}

TEST(Curves, WrongAndMissingResultsAreNoPoints) {
    auto run = sweep({1024, 2048, 4096, 8192, 16384});
    run.cases[0].verification = record::Verification{.passed = false};
    run.cases[1].metrics[0].value = -1;
    EXPECT_THAT(find_curves(run).charts, IsEmpty());
}

TEST(Curves, TheDeclaredCachesOfACoreAreMarked) {
    auto run = sweep({1024, 2048, 4096, 8192});
    run.machine.caches = {{1, "data", 2048, 2, 64}, {1, "instruction", 2048, 2, 64}};
    const auto found = find_curves(run);
    ASSERT_THAT(found.charts[0].marks, SizeIs(1));
    EXPECT_EQ(found.charts[0].marks[0].text, "L1 2 KiB");
}

TEST(Curves, LevelsAreFoundWhereTheFootprintGrows) {
    record::Run run;
    for (std::int64_t size = 4096; size <= (1LL << 26U); size *= 2) {
        const double latency = size <= 32768 ? 1e-9 : size <= 1048576 ? 4e-9 : 9e-8;
        run.cases.push_back(point({{"footprint", size}}, latency));
    }
    const auto found = find_curves(run);
    EXPECT_THAT(
        found.charts[0].curves[0].levels,
        ElementsAre("1.00 ns up to 32 KiB", "4.00 ns up to 1 MiB", "90.0 ns from 2 MiB on"));
}

TEST(Sparkline, HasAHeightForEachPoint) {
    Curve curve;
    for (const double y : {1.0, 2.0, 8.0}) curve.points.push_back({.y = y});
    EXPECT_EQ(sparkline(curve), "▁▂█");
    curve.points.back().y = 1e6; // logarithmic now
    EXPECT_EQ(sparkline(curve), "▁▁█");
    curve.points = {{.y = 5}, {.y = 5}};
    EXPECT_EQ(sparkline(curve), "▁▁");
}

record::Table matrix(std::size_t size) {
    record::Table table{
        .metric = "latency", .unit = "s", .row_title = "from", .column_title = "to"};
    for (std::size_t i = 0; i < size; ++i) table.rows.push_back(std::to_string(i));
    table.columns = table.rows;
    for (std::size_t i = 0; i < size * size; ++i)
        table.values.push_back(
            i / size == i % size ? std::nullopt : std::optional{1e-8 * static_cast<double>(1 + i)});
    return table;
}

TEST(HeatMaps, NameTheBestAndTheWorstPair) {
    auto c = point({}, 1e-8);
    c.tables = {matrix(3)};
    const auto maps = heat_maps(c);
    ASSERT_THAT(maps, SizeIs(1));
    EXPECT_EQ(maps[0].extremes,
              "6 pairs: best 0 → 1 with 20.0 ns, worst 2 → 1 with 80.0 ns, median 50.0 ns.");
}

TEST(HeatMaps, LargeOnesAreMergedAndBrokenOnesLeftOut) {
    auto c = point({}, 1e-8);
    c.tables = {matrix(130)};
    c.tables.push_back(c.tables[0]);
    c.tables[1].values.pop_back();
    const auto maps = heat_maps(c);
    ASSERT_THAT(maps, SizeIs(1));
    EXPECT_EQ(maps[0].merged, 3U);
    EXPECT_THAT(maps[0].rows, SizeIs(44));
    EXPECT_THAT(maps[0].values, SizeIs(44 * 44));
    // Of single pairs: medians of nine would hide the worst one.
    EXPECT_THAT(maps[0].extremes, HasSubstr("16770 pairs: best 0 → 1 with 20.0 ns"));
    EXPECT_THAT(maps[0].extremes, HasSubstr("worst 129 → 128 with 169 µs"));
    c.tables[0].values.assign(130UL * 130UL, std::nullopt);
    EXPECT_FALSE(heat_maps(c)[0].differs);
}

} // namespace
} // namespace assay::report
