// SPDX-License-Identifier: Apache-2.0
#include "counted.hpp"
#include "record/layout.hpp"
#include "record/summary.hpp"
#include "stats/summary.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace assay::record {
namespace {

using namespace testing;

/// One case whose replicas took these times per call, each with two values around its time.
record::Case measured(const std::vector<double>& seconds, record::NamedList work,
                      std::string headline) {
    record::Case c;
    c.benchmark = "test.case";
    c.library = "host";
    c.work = std::move(work);
    c.headline = std::move(headline);
    add_replicas(c, seconds);
    for (record::Replica& replica : c.replicas) {
        replica.values = {0.9 * *replica.seconds, 1.1 * *replica.seconds};
        replica.low = 0.8 * *replica.seconds;
        replica.high = 1.2 * *replica.seconds;
    }
    return c;
}

record::Case concluded(record::Case c, int wanted) {
    conclude(c, wanted);
    return c;
}

std::vector<std::string> names(const record::Case& c) {
    std::vector<std::string> names;
    for (const record::Metric& metric : c.metrics) names.push_back(metric.name);
    return names;
}

TEST(Summarise, RatesAreWorkOverTheGeometricMeanTime) {
    record::Case c = concluded(measured({1.0, 1.1, 1.21}, {{"bytes", 1100.0}}, "bandwidth"), 3);
    ASSERT_EQ(c.status, record::Status::ok) << c.reason;
    ASSERT_THAT(names(c), ElementsAre("bandwidth", "time"));
    const record::Metric& rate = c.metrics[0];
    const record::Metric& time = c.metrics[1];
    EXPECT_EQ(rate.unit, "B/s");
    EXPECT_NEAR(*rate.value, 1000, 1e-9);
    EXPECT_NEAR(*time.value, 1.1, 1e-12);
    EXPECT_NEAR(*rate.low * *time.high, 1100, 1e-9);
    EXPECT_NEAR(*rate.high * *time.low, 1100, 1e-9);
    EXPECT_EQ(rate.interval_scope, record::IntervalScope::between_replicas);
    EXPECT_EQ(time.unit, "s");
}

TEST(Summarise, TailsAreOverTheValuesOfAllReplicasInTheMetric) {
    record::Case c = concluded(measured({1.0, 1.1, 1.21}, {{"bytes", 1100.0}}, "bandwidth"), 3);
    std::vector<double> times;
    std::vector<double> rates;
    for (const record::Replica& replica : c.replicas)
        for (const double value : replica.values) {
            times.push_back(value);
            rates.push_back(1100 / value);
        }
    EXPECT_EQ(c.metrics[0].min, *std::ranges::min_element(rates)) << "the slowest batch";
    EXPECT_EQ(c.metrics[1].min, *std::ranges::min_element(times)) << "the fastest batch";
    EXPECT_EQ(c.metrics[0].median, stats::median(rates));
    EXPECT_EQ(c.metrics[1].p95, stats::quantile(times, 0.95));
    EXPECT_EQ(c.metrics[0].count, 6U);
}

TEST(Summarise, HeadlineThenTimeThenTheOtherRatesThenWhatWasReported) {
    record::Case c = measured(
        {1, 1, 1}, {{"bytes", std::int64_t{8}}, {"items", 3.0}, {"flops", 2.0}, {"cells", 0.0}},
        "item_rate");
    for (record::Replica& replica : c.replicas)
        replica.extra = {{"planning_time", 2.0}, {"unheard_of", 1.0}, {"latency", 1e-6}};
    conclude(c, 3);
    EXPECT_THAT(names(c), ElementsAre("item_rate", "time", "flop_rate", "bandwidth", "latency",
                                      "planning_time"));
    EXPECT_EQ(c.metrics[4].count, 3U);
    EXPECT_DOUBLE_EQ(*c.metrics[4].value, 1e-6);
}

TEST(Summarise, ARateOfNamedItemsIsShownWithTheirName) {
    record::Case c =
        concluded(measured({1.0, 1.0}, {{"items", 10.0}, {"bytes", 8.0}}, "item_rate"), 2);
    EXPECT_EQ(shown_unit(c, c.metrics.front()), "1/s");
    c.settings = {{"items", std::string{"keys"}}};
    EXPECT_EQ(shown_unit(c, c.metrics.front()), "keys/s");
    EXPECT_EQ(shown_unit(c, c.metrics.back()), "B/s") << c.metrics.back().name;
    EXPECT_EQ(c.metrics.front().unit, "1/s") << "what is stored does not change";
    for (const auto& odd : {record::Value{std::string{"<b>keys\x1b[0m"}}, record::Value{true},
                            record::Value{std::string(31, 'k')}}) {
        c.settings = {{"items", odd}};
        EXPECT_EQ(shown_unit(c, c.metrics.front()), "1/s");
    }
}

TEST(Summarise, AReportedFigureMayBeTheHeadline) {
    record::Case c = measured({1, 1}, {}, "latency");
    c.replicas[0].extra = {{"latency", 1e-6}};
    c.replicas[1].extra = {{"latency", 4e-6}};
    conclude(c, 2);
    ASSERT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_THAT(names(c), ElementsAre("latency", "time"));
    EXPECT_NEAR(*c.metrics[0].value, 2e-6, 1e-18);
    EXPECT_EQ(c.metrics[0].interval_scope, record::IntervalScope::between_replicas);
}

TEST(Summarise, ALatencyIsTheTimeOfOneOfManySteps) {
    record::Case c = concluded(measured({1.0, 1.1, 1.21}, {{"steps", 1000.0}}, "latency"), 3);
    ASSERT_EQ(c.status, record::Status::ok) << c.reason;
    ASSERT_THAT(names(c), ElementsAre("latency", "time"));
    EXPECT_NEAR(*c.metrics[0].value, 1.1e-3, 1e-12);
    EXPECT_NEAR(*c.metrics[0].low, *c.metrics[1].low / 1000, 1e-12);
    EXPECT_NEAR(*c.metrics[0].p95, *c.metrics[1].p95 / 1000, 1e-12);
}

TEST(Summarise, TheSlowTailIsThatOfSingleCallsWhereThereAreAny) {
    record::Case c = concluded(measured({1.0, 1.0}, {{"items", 10.0}}, "item_rate"), 2);
    EXPECT_FALSE(c.metrics[1].p99) << "nobody measured single calls";
    c.replicas[0].p99 = 2.0;
    c.replicas[1].p99 = 8.0;
    conclude(c, 2);
    ASSERT_EQ(c.metrics[1].name, "time");
    EXPECT_DOUBLE_EQ(*c.metrics[1].p99, 4.0);
    EXPECT_FALSE(c.metrics[0].p99) << "a rate has no slow tail";
}

TEST(Summarise, TablesAreMediansOfThoseOfOneShape) {
    record::Case c = measured({1.0, 1.0, 1.0}, {{"steps", 10.0}}, "latency");
    const record::Table table{.metric = "latency",
                              .unit = "s",
                              .row_title = "from",
                              .column_title = "to",
                              .rows = {"0"},
                              .columns = {"0", "1"},
                              .values = {std::nullopt, 5.0}};
    for (const double value : {5.0, 7.0, 6.0}) {
        auto& tables = c.replicas[value == 5.0 ? 0 : value == 7.0 ? 1 : 2].tables;
        tables = {table};
        tables[0].values[1] = value;
    }
    conclude(c, 3);
    ASSERT_EQ(c.tables.size(), 1U);
    EXPECT_FALSE(c.tables[0].values[0]);
    EXPECT_EQ(c.tables[0].values[1], 6.0);
    c.replicas[2].tables[0].columns[1] = "7"; // another machine's
    conclude(c, 3);
    EXPECT_EQ(c.tables[0].values[1], 6.0) << "of the two that agree in shape";
    c.replicas[0].status = record::Status::failed;
    conclude(c, 3);
    EXPECT_TRUE(c.tables.empty());
}

TEST(Summarise, AnIntervalThatReachesZeroSaysNothingAboutARate) {
    record::Case c = measured({1.0}, {{"bytes", 10.0}}, "bandwidth");
    c.replicas[0].low = -0.5;
    c.replicas[0].high = 2.5;
    conclude(c, 1);
    EXPECT_EQ(c.metrics[0].low, std::nullopt);
    EXPECT_EQ(c.metrics[0].high, std::nullopt);
    EXPECT_EQ(c.metrics[0].interval_scope, record::IntervalScope::none);
    EXPECT_EQ(c.metrics[1].low, -0.5);
}

TEST(Conclude, IncorrectShowsNoFigure) {
    record::Case c = measured({1, 1, 1}, {{"bytes", 10.0}}, "bandwidth");
    c.replicas[1].status = record::Status::incorrect;
    c.replicas[1].reason = "element 7 is off";
    c.replicas[2].status = record::Status::crashed;
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::incorrect);
    EXPECT_EQ(c.reason, "replica 2 of 3: element 7 is off");
    EXPECT_TRUE(c.metrics.empty());

    c = measured({1, 1, 1}, {{"bytes", 10.0}}, "bandwidth");
    c.verification = record::Verification{.passed = false, .method = "", .detail = "off by one"};
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::incorrect);
    EXPECT_EQ(c.reason, "off by one");
    EXPECT_TRUE(c.metrics.empty());
}

TEST(Conclude, TheWorstEndWins) {
    const std::vector<record::Status> worst_first{
        record::Status::incorrect, record::Status::crashed,     record::Status::timed_out,
        record::Status::failed,    record::Status::not_started, record::Status::interrupted,
        record::Status::skipped,   record::Status::disturbed};
    for (std::size_t a = 0; a < worst_first.size(); ++a)
        for (std::size_t b = a; b < worst_first.size(); ++b) {
            record::Case c = measured({1, 1, 1}, {{"bytes", 10.0}}, "bandwidth");
            c.replicas[0].status = worst_first[b];
            c.replicas[2].status = worst_first[a];
            conclude(c, 3);
            EXPECT_EQ(c.status, worst_first[a]);
            EXPECT_EQ(c.metrics.empty(), c.status != record::Status::disturbed);
            EXPECT_FALSE(c.reason.empty());
        }
}

TEST(Conclude, FewerReplicasThanPlannedIsInterrupted) {
    record::Case c = concluded(measured({1, 1}, {{"bytes", 10.0}}, "bandwidth"), 3);
    EXPECT_EQ(c.status, record::Status::interrupted);
    EXPECT_EQ(c.reason, "2 of 3 replicas were measured");
    EXPECT_TRUE(c.metrics.empty());
}

TEST(Conclude, WithoutReplicasTheStatusStays) {
    for (const record::Status status :
         {record::Status::skipped, record::Status::failed, record::Status::interrupted,
          record::Status::timed_out, record::Status::crashed, record::Status::incorrect}) {
        record::Case c;
        c.status = status;
        c.reason = "because";
        conclude(c, 3);
        EXPECT_EQ(c.status, status);
        EXPECT_EQ(c.reason, "because");
    }
    record::Case c;
    c.status = record::Status::ok;
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::interrupted);
}

TEST(Conclude, UnstableByItselfOrByDisagreement) {
    record::Case c = measured({1, 1, 1}, {{"bytes", 10.0}}, "bandwidth");
    c.replicas[2].status = record::Status::unstable;
    c.replicas[2].reason = "drift";
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::unstable);
    EXPECT_EQ(c.reason, "replica 3 of 3: drift");
    EXPECT_FALSE(c.metrics.empty());

    c = concluded(measured({1, 1.1, 1.24}, {{"bytes", 10.0}}, "bandwidth"), 3);
    EXPECT_EQ(c.status, record::Status::ok);

    c = concluded(measured({1, 1.1, 1.26}, {{"bytes", 10.0}}, "bandwidth"), 3);
    EXPECT_EQ(c.status, record::Status::unstable);
    EXPECT_EQ(c.reason, "replica 3 took 1.26 times as long as replica 1");
}

TEST(Conclude, ATimeThatIsNoneFails) {
    for (const double time : {0.0, -1.0, std::nan("")}) {
        record::Case c = measured({1, 1}, {{"bytes", 10.0}}, "bandwidth");
        c.replicas[1].seconds = time;
        conclude(c, 2);
        EXPECT_EQ(c.status, record::Status::failed) << time;
        EXPECT_THAT(c.reason, HasSubstr("replica 2 of 2"));
    }
}

TEST(Conclude, AReplicaThatReportsTheHeadlineNeedsNoTime) {
    record::Case c = measured({1, 1}, {}, "bandwidth");
    for (std::size_t i = 0; i < 2; ++i) {
        c.replicas[i].seconds = c.replicas[i].low = c.replicas[i].high = std::nullopt;
        c.replicas[i].values.clear();
        c.replicas[i].extra = {{"bandwidth", i == 0 ? 10e9 : 11e9}};
    }
    record::Case far = c;
    conclude(c, 2);
    ASSERT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_THAT(names(c), ElementsAre("bandwidth"));
    far.replicas[1].extra = {{"bandwidth", 20e9}};
    conclude(far, 2);
    EXPECT_EQ(far.status, record::Status::unstable);
    EXPECT_EQ(far.reason, "replica 1 took 2 times as long as replica 2");
    far.replicas[1].extra = {{"latency", 1e-6}};
    conclude(far, 2);
    EXPECT_EQ(far.status, record::Status::failed);
}

TEST(Conclude, WithoutItsHeadlineACaseFailed) {
    record::Case c = concluded(measured({1, 1}, {{"flops", 10.0}}, "bandwidth"), 2);
    EXPECT_EQ(c.status, record::Status::failed);
    EXPECT_THAT(c.reason, HasSubstr("`bandwidth`"));
    EXPECT_TRUE(c.metrics.empty());
}

TEST(Conclude, IntegersAnswerWithOperationsInsteadOfFlop) {
    record::Case c = concluded(measured({1, 1, 1}, {{"operations", 10.0}}, "flop_rate"), 3);
    EXPECT_EQ(c.status, record::Status::ok);
    EXPECT_EQ(c.headline, "operation_rate");
    ASSERT_FALSE(c.metrics.empty());
    EXPECT_EQ(c.metrics.front().name, "operation_rate");
}
TEST(Telemetry, TheWorstOfEach) {
    std::vector<record::Replica> replicas(3);
    replicas[0].telemetry = {.window_seconds = 2, .core_clock_hz = 4e9, .steal = 0.5};
    replicas[1].telemetry = {.window_seconds = 1, .core_clock_hz = 3e9, .foreign_cpu = 0.1};
    replicas[1].telemetry.disturbances = {"a", "b"};
    replicas[2].telemetry.disturbances = {"b", "c"};
    const record::Telemetry worst = worst_telemetry(replicas);
    EXPECT_EQ(worst.window_seconds, 1);
    EXPECT_EQ(worst.core_clock_hz, 3e9);
    EXPECT_EQ(worst.foreign_cpu, 0.1);
    EXPECT_EQ(worst.steal, 0.5);
    EXPECT_EQ(worst.throttle_events, std::nullopt);
    EXPECT_THAT(worst.disturbances, ElementsAre("a", "b", "c"));
}

TEST(Telemetry, OfDevicesIsTheWorstAndTheSumOfWhatIsCounted) {
    const auto device = [](const char* text) {
        return json::read<record::DeviceTelemetry>(json::parse(text, "text").value(), "text")
            .value();
    };
    std::vector<record::Replica> replicas(3);
    replicas[0].telemetry.energy_note = "the window was shorter than 2 s";
    replicas[1].telemetry.energy_joules = 100;
    replicas[1].telemetry.energy_scope = "device";
    replicas[1].telemetry.device = device(
        R"({"power_watts":500,"clock_low_hz":1.4e9,"throttles":[{"reason":"power_cap","seconds":0.5}],
            "ecc_corrected":2,"remapping_pending":true,"pcie_width":8,"pcie_width_max":16,
            "nvlink_sent_bytes":9223372036854775807})");
    replicas[2].telemetry.energy_joules = 120;
    replicas[2].telemetry.device = device(
        R"({"power_watts":650,"clock_low_hz":1.6e9,"throttles":[
            {"reason":"power_cap","seconds":0.25,"share":0.1},{"reason":"thermal","share":0.2}],
            "ecc_corrected":3,"remapping_pending":false,"pcie_width":16,"nvlink_sent_bytes":1})");
    const record::Telemetry worst = worst_telemetry(replicas);
    EXPECT_EQ(worst.energy_joules, 220);
    EXPECT_EQ(worst.energy_scope, "device");
    EXPECT_EQ(worst.energy_note, std::nullopt); // there is an energy
    EXPECT_EQ(worst.device, device(
                                R"({"power_watts":650,"clock_low_hz":1.4e9,"throttles":[
            {"reason":"power_cap","seconds":0.5,"share":0.1},{"reason":"thermal","share":0.2}],
            "ecc_corrected":5,"remapping_pending":true,"pcie_width":8,"pcie_width_max":16,
            "nvlink_sent_bytes":9223372036854775807})"));
}

/// A case of 2 s calls that spent 500 J/s for ten seconds and was timed all the while.
record::Case with_energy(double flops) {
    record::Case c = measured({2, 2}, {{"flops", flops}}, "flop_rate");
    for (record::Replica& replica : c.replicas) {
        replica.calls = 1;
        replica.values = {2, 2, 2, 2, 2};
        replica.telemetry.window_seconds = 10;
        replica.telemetry.energy_joules = 5000;
    }
    return c;
}

const record::Metric* metric_of(const record::Case& c, std::string_view name) {
    const auto found = std::ranges::find(c.metrics, name, &record::Metric::name);
    return found == c.metrics.end() ? nullptr : &*found;
}

TEST(Energy, PerCallAndWorkPerWatt) {
    record::Case c = with_energy(1e12);
    conclude(c, 2);
    ASSERT_NE(metric_of(c, "energy"), nullptr);
    EXPECT_NEAR(*metric_of(c, "energy")->value, 1000, 1e-6); // 500 W for 2 s
    ASSERT_NE(metric_of(c, "flop_rate_per_watt"), nullptr);
    EXPECT_NEAR(*metric_of(c, "flop_rate_per_watt")->value, 1e9, 1); // 0.5 TFLOP/s at 500 W
    EXPECT_EQ(metric_of(c, "flop_rate_per_watt")->unit, "FLOP/s/W");
    EXPECT_EQ(metric_of(c, "bandwidth_per_watt"), nullptr); // not what is asked
    EXPECT_EQ(c.telemetry.energy_joules, 10'000);
}

TEST(Energy, NamesTheItemsPerJoule) {
    record::Case c = with_energy(1e12);
    c.work.push_back({"items", 64.0});
    c.settings = {{"items", std::string{"tokens"}}};
    c.headline = "item_rate";
    conclude(c, 2);
    const auto* per_joule = metric_of(c, "item_rate_per_watt");
    ASSERT_NE(per_joule, nullptr);
    EXPECT_NEAR(*per_joule->value, 0.064, 1e-9); // 32 tokens/s at 500 W
    EXPECT_EQ(shown_unit(c, *per_joule), "tokens/J");
    EXPECT_EQ(metric_of(c, "flop_rate_per_watt"), nullptr);
}

TEST(Energy, OfAWindowWithMuchElseInItSaysNothing) {
    record::Case c = with_energy(1e12);
    c.replicas[0].telemetry.window_seconds = 12; // the calls took ten: 83%
    c.replicas[1].telemetry.energy_joules.reset();
    conclude(c, 2);
    EXPECT_EQ(metric_of(c, "energy"), nullptr);
    EXPECT_EQ(metric_of(c, "flop_rate_per_watt"), nullptr);
    c.replicas[0].telemetry.window_seconds = 10;
    conclude(c, 2);
    ASSERT_NE(metric_of(c, "energy"), nullptr); // by the one replica that knows
    EXPECT_EQ(metric_of(c, "energy")->count, 1U);
}

TEST(ShareOfCeiling, GrowsTowardsTheLimitWhateverTheDirection) {
    record::Case c = concluded(measured({2, 2}, {{"bytes", 10.0}}, "bandwidth"), 2);
    EXPECT_EQ(share_of_ceiling(c), std::nullopt);
    c.ceiling.value = 10;
    EXPECT_NEAR(*share_of_ceiling(c), 0.5, 1e-12);
    c.ceiling.value = 0;
    EXPECT_EQ(share_of_ceiling(c), std::nullopt);

    c = concluded(measured({2, 2}, {}, "time"), 2);
    c.ceiling.value = 1;
    EXPECT_NEAR(*share_of_ceiling(c), 0.5, 1e-12);
}

} // namespace
} // namespace assay::record
