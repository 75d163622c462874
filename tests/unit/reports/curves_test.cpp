// SPDX-License-Identifier: Apache-2.0
//
// Curves and maps of a run, and sweeps over batches as a service.

#include "rendered.hpp"
#include "report/curves.hpp"
#include "report/serving.hpp"
#include "sample.hpp"
#include "support/document.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <optional>

namespace assay::report {
namespace {

using namespace testing;
using record::Case;

Case point(record::NamedList parameters, double value, record::NamedList settings = {}) {
    auto c = test::case_of("memory.latency", "host", std::move(parameters), "latency", value);
    c.settings = std::move(settings);
    return c;
}

record::Run sweep(const std::vector<std::int64_t>& sizes, const char* pages = "huge") {
    record::Run run;
    for (const auto size : sizes)
        run.cases.push_back(point({{"footprint", size}, {"pages", pages}}, 1e-9 * std::sqrt(size)));
    return run;
}

std::vector<double> xs(const document::Curve& curve) {
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
    EXPECT_THAT(found.on_curve, Each(true));
}

TEST(Curves, ThreePointsAreNone) {
    const auto found = find_curves(sweep({1024, 2048, 4096}));
    EXPECT_THAT(found.charts, IsEmpty());
    EXPECT_THAT(found.on_curve, Each(false));
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
    for (auto& c : run.cases) { // the host's caches are nothing to a device
        c.place.kind = "cuda";
        c.settings = {{"l2_bytes", std::int64_t{4096}}};
    }
    const auto of_device = find_curves(run);
    ASSERT_THAT(of_device.charts[0].marks, SizeIs(1));
    EXPECT_EQ(of_device.charts[0].marks[0].text, "L2 4 KiB");
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
    document::Curve curve;
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
    // Extremes are of single pairs: medians of nine would hide the worst one.
    EXPECT_THAT(maps[0].extremes, HasSubstr("16770 pairs: best 0 → 1 with 20.0 ns"));
    EXPECT_THAT(maps[0].extremes, HasSubstr("worst 129 → 128 with 169 µs"));
    c.tables[0].values.assign(130UL * 130UL, std::nullopt);
    EXPECT_FALSE(heat_maps(c)[0].differs);
}

record::Case decoding(std::int64_t batch, double seconds, std::optional<double> p99,
                      const char* precision = "bf16") {
    auto c = test::case_of("workload.attention", "host",
                           {{"batch", batch}, {"precision", precision}}, "bandwidth", 1e9);
    c.metrics.push_back(test::metric_of("time", seconds));
    c.metrics[1].median = 0.9 * seconds;
    c.metrics[1].p99 = p99;
    return c;
}

/// Batches of 1, 4 and 16 in bf16: 500, 1000 and 800 queries a second.
record::Run sweep() {
    return {.cases = {decoding(16, 0.02, 0.030), decoding(1, 0.002, 0.003),
                      decoding(4, 0.004, 0.008), decoding(1, 0.001, 0.002, "int8")}};
}

TEST(Serving, ASeriesHasCasesThatDifferInTheirBatch) {
    const auto serving = find_serving(sweep(), {});
    ASSERT_THAT(serving.series, SizeIs(1)) << "one batch in int8 does not make a series";
    const auto& batches = serving.series[0].batches;
    ASSERT_THAT(batches, SizeIs(3));
    EXPECT_EQ(batches[0].batch, 1);
    EXPECT_EQ(batches[2].batch, 16);
    EXPECT_DOUBLE_EQ(batches[1].queries, 1000);
    EXPECT_DOUBLE_EQ(batches[1].p50, 0.0036);
    EXPECT_EQ(batches[1].p99, 0.008);
}

TEST(Serving, TheBestBatchHasMostQueriesWithinTheBound) {
    const auto series = find_serving(sweep(), {}).series.at(0);
    const auto best = [&](double bound) {
        const auto* found = best_within(series, bound);
        return found == nullptr ? 0 : found->batch;
    };
    EXPECT_EQ(best(0.0029), 0);
    EXPECT_EQ(best(0.003), 1);
    EXPECT_EQ(best(0.008), 4);
    EXPECT_EQ(best(1), 4) << "16 at once are slower";
}

TEST(Serving, WhoseP99IsUnknownIsWithinNoBound) {
    auto run = sweep();
    run.cases[2] = decoding(4, 0.004, {});
    const auto series = find_serving(run, {}).series.at(0);
    EXPECT_EQ(best_within(series, 1)->batch, 16);
    for (auto& c : run.cases) c.metrics[1].p99.reset();
    EXPECT_THAT(find_serving(run, {}).series, IsEmpty()) << "batches of several calls have none";
}

TEST(Serving, WrongCasesAreNoPartOfIt) {
    auto run = sweep();
    run.cases[0].status = record::Status::incorrect;
    EXPECT_THAT(find_serving(run, {}).series.at(0).batches, SizeIs(2));
}

TEST(Serving, TheSectionAnswersOnlyWhatIsAsked) {
    const auto text = [](std::optional<double> bound) {
        ReportOptions options;
        options.p99 = bound;
        return write::to_terminal(test::document_of(sweep(), options), {});
    };
    EXPECT_THAT(text({}),
                AllOf(HasSubstr("Latency and throughput by batch"), HasSubstr("1.00 kqueries/s"),
                      Not(HasSubstr("tokens/s")), Not(HasSubstr("within 20"))));
    EXPECT_THAT(text(0.02), AllOf(HasSubstr("at most 1.00 kqueries/s with p99 within 20.0 ms"),
                                  HasSubstr("batch 4 (p99 8.00 ms)")));
    EXPECT_THAT(text(0.001), AllOf(HasSubstr("no batch has its p99 within 1.00 ms"),
                                   HasSubstr("3.00 ms, at batch 1.")));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(text(0.02), HasSubstr("在 p99 不超过"));
}

/// Steps of 10, 20 and 60 ms: 100, 800 and 1067 tokens a second.
record::Run decode_steps(double tokens_each = 1) {
    record::Run run;
    for (const auto& [batch, seconds] : {std::pair{1, 0.01}, {16, 0.02}, {64, 0.06}}) {
        auto c = decoding(batch, seconds, 1.1 * seconds);
        c.benchmark = "model.llm_decode";
        c.work = {{"items", batch * tokens_each}};
        c.settings = {{"items", std::string{"tokens"}}};
        run.cases.push_back(std::move(c));
    }
    return run;
}

TEST(Serving, CountsTokensOfADecodeStepAndWhatEachUserGets) {
    const auto series = find_serving(decode_steps(), {}).series.at(0);
    EXPECT_EQ(series.items, "tokens");
    EXPECT_DOUBLE_EQ(series.batches[1].rate, 800);
    EXPECT_DOUBLE_EQ(series.batches[1].per_user.value_or(0), 50);
    EXPECT_EQ(best_within(series, 0.05)->batch, 16) << "64 users wait 66 ms";
    ReportOptions options;
    options.p99 = 0.05;
    const auto text = [&] {
        return write::to_terminal(test::document_of(decode_steps(), options), {});
    };
    EXPECT_THAT(text(), AllOf(HasSubstr("at most 800 tokens/s with p99 within 50.0 ms"),
                              HasSubstr("batch 16 (p99 22.0"), HasSubstr("tokens/s/user"),
                              HasSubstr("Each user of a batch gets one token")));
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(text(), HasSubstr("每用户词元速率"));
}

TEST(Serving, PromptsHaveNoRatePerUser) {
    const auto series = find_serving(decode_steps(512), {}).series.at(0);
    EXPECT_DOUBLE_EQ(series.batches[0].rate, 51'200);
    EXPECT_FALSE(series.batches[0].per_user);
}

TEST(Serving, ABoundWithoutASeriesIsAnswered) {
    EXPECT_FALSE(serving_section(find_serving({}, {})));
    EXPECT_TRUE(serving_section(find_serving({}, 0.02)));
}

} // namespace
} // namespace assay::report
