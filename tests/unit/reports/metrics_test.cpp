// SPDX-License-Identifier: Apache-2.0
//
// What beside the primary metric reaches a comparison, and what stands in one row across devices and libraries.

#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "record/convert.hpp"
#include "store/metrics.hpp"
#include "support/collection_maker.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"
#include "write/formats.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <variant>

namespace assay::compare {
namespace {

using test::CollectionMaker;
using namespace testing;

/// A product of 1 ms with energy, a slow tail and a value of its own in each replica.
record::Case rich_case(double slower = 1) {
    auto c = test::sample_case(test::sample_gemm("openblas", "fp64", 1e-3 * slower), 7);
    for (auto& replica : c.replicas) {
        // All of the window is timed; 50 W.
        const double timed = *replica.seconds * static_cast<double>(*replica.calls) *
                             static_cast<double>(replica.values.size());
        replica.telemetry.window_seconds = timed;
        replica.telemetry.energy_joules = 50 * timed;
        replica.p99 = 3 * *replica.seconds;
        replica.extra = {{"planning_time", 0.5 + 0.1 * replica.index}};
        replica.tables = {{.metric = "latency",
                           .unit = "s",
                           .row_title = "core",
                           .column_title = "core",
                           .rows = {"0", "1"},
                           .columns = {"0", "1"},
                           .values = {std::nullopt, 1e-7, 4e-7 * slower, 2e-7}}};
    }
    record::conclude(c, static_cast<int>(c.replicas.size()));
    return c;
}
record::Run rich_run(const std::string& id, double slower = 1) {
    auto run = test::sample_run();
    run.id = id;
    run.cases = {rich_case(slower)};
    test::measure_again(run, id);
    return run;
}

const store::MetricDigest& metric(const std::vector<store::MetricDigest>& list,
                                  const std::string& name) {
    const auto found = std::ranges::find(list, name, &store::MetricDigest::name);
    EXPECT_NE(found, list.end()) << name;
    static const store::MetricDigest none;
    return found == list.end() ? none : *found;
}

TEST(OtherMetrics, SayMoreThanThePrimaryOne) {
    const auto c = rich_case();
    const auto list = store::other_metrics(c);
    const auto& time = metric(list, "time");
    ASSERT_TRUE(time.is_computed); // follows from the primary one, and has no values of its own
    EXPECT_NEAR(time.factor / *c.metrics.front().value, *c.metrics[1].value, 1e-12);
    EXPECT_THAT(time.replicas, IsEmpty());
    const auto& energy = metric(list, "energy");
    EXPECT_FALSE(energy.is_computed);
    EXPECT_NEAR(energy.value.value(), 0.05, 1e-3); // 50 W for 1 ms
    EXPECT_THAT(energy.replicas, SizeIs(3));
    EXPECT_FALSE(energy.higher_is_better);
    EXPECT_TRUE(metric(list, "flop_rate_per_watt").higher_is_better);
    EXPECT_THAT(metric(list, "planning_time").replicas, SizeIs(3));
    EXPECT_NEAR(metric(list, "time.p99").value.value(), 3e-3, 1e-4);
    EXPECT_DOUBLE_EQ(metric(list, "latency.worst").value.value(), 4e-7);
    EXPECT_DOUBLE_EQ(metric(list, "latency.median").value.value(), 2e-7);
    EXPECT_DOUBLE_EQ(metric(list, "latency.spread").value.value(), 4);
    EXPECT_EQ(metric(list, "latency.spread").unit, "x");
    EXPECT_THAT(store::other_metrics({}), IsEmpty());
}

class MetricsOfFiles : public testing::Test {
protected:
    void write(const std::string& name, const record::Run& run) {
        std::ofstream{folder_.path() / name} << record::to_text(run);
    }
    Result<store::Collection> collected(const store::CollectOptions& how) const {
        auto options = how;
        options.now = 1.8e9;
        return collect({"A=" + (folder_.path() / "a.json").string(),
                        "B=" + (folder_.path() / "b.json").string()},
                       options);
    }
    void SetUp() override {
        write("a.json", rich_run("a"));
        write("b.json", rich_run("b", 2));
    }
    made::TemporaryFolder folder_;
};

std::vector<std::string> names(const store::Collection& collection, bool primary) {
    std::vector<std::string> list;
    for (const auto& seen : collection.observations)
        if (seen.run == 0 && seen.is_primary == primary)
            list.push_back(collection.series[seen.series].metric);
    return list;
}

TEST_F(MetricsOfFiles, OnlyWhatIsAskedForIsRead) {
    EXPECT_THAT(names(collected({}).value(), true), ElementsAre("flop_rate"));
    EXPECT_THAT(names(collected({}).value(), false), IsEmpty());
    const auto others = collected({.others = true}).value();
    EXPECT_THAT(names(others, true), ElementsAre("flop_rate"));
    EXPECT_THAT(names(others, false),
                AllOf(Contains("energy"), Contains("latency.worst"), Contains("time.p99"),
                      Contains("planning_time"), Not(Contains("time"))));
    EXPECT_THAT(names(collected({.metrics = {"time", "energy"}}).value(), true),
                UnorderedElementsAre("time", "energy"));
    EXPECT_THAT(names(collected({.metrics = {"primary", "time"}}).value(), true),
                UnorderedElementsAre("flop_rate", "time"));
    EXPECT_GT(names(collected({.metrics = {"all"}}).value(), true).size(), 8U);
    const auto unknown = collected({.metrics = {"speed"}});
    ASSERT_FALSE(unknown.has_value());
    EXPECT_THAT(unknown.error().message,
                AllOf(HasSubstr("no case has \"speed\""), HasSubstr("energy")));
}

TEST_F(MetricsOfFiles, AComputedMetricHasTheRatioOfThePrimaryOne) {
    const auto by_rate = compare(collected({}).value()).value();
    const auto by_time = compare(collected({.metrics = {"time"}}).value()).value();
    const auto& rate = by_rate.tables.at(0).rows.at(0);
    const auto& time = by_time.tables.at(0).rows.at(0);
    EXPECT_EQ(time.unit, "s");
    EXPECT_NEAR(*time.cells[1].value, 2e-3, 1e-4);
    EXPECT_NEAR(*time.cells[1].contrast->ratio, *rate.cells[1].contrast->ratio, 1e-9);
    EXPECT_NEAR(*time.cells[1].contrast->low, *rate.cells[1].contrast->low, 1e-9);
    EXPECT_LT(*time.cells[1].low, *time.cells[1].value);
}

TEST_F(MetricsOfFiles, OthersAreComparedBesideWhatIsJudged) {
    const auto plain = compare(collected({}).value()).value();
    const auto with_others = compare(collected({.others = true}).value()).value();
    EXPECT_EQ(with_others.series, plain.series);
    EXPECT_EQ(with_others.tests, plain.tests);
    EXPECT_EQ(with_others.overall[1].ratio, plain.overall[1].ratio);
    EXPECT_THAT(with_others.not_compared, SizeIs(plain.not_compared.size()));
    std::vector<std::string> metrics;
    for (const auto& table : with_others.others)
        for (const auto& row : table.rows)
            if (row.cells[1].contrast && row.cells[1].contrast->ratio)
                metrics.push_back(row.metric);
    EXPECT_THAT(metrics, AllOf(Contains("energy per call"), Contains("planning time"),
                               Contains("latency: worst of the matrix")));
    for (const auto& table : with_others.others)
        for (const auto& row : table.rows)
            if (row.metric == "energy per call") {
                EXPECT_NEAR(*row.cells[1].contrast->ratio, 0.5, 0.01);
            }
    const auto text = write::to_markdown(std::vector{make_document(with_others)});
    EXPECT_THAT(text, AllOf(HasSubstr("Other metrics"), HasSubstr("energy per call")));
}

TEST_F(MetricsOfFiles, EnergiesOfOtherScopesAreNotCompared) {
    const auto of = [](const char* id, const char* scope) {
        auto run = rich_run(id);
        for (auto& replica : run.cases.front().replicas) replica.telemetry.energy_scope = scope;
        record::conclude(run.cases.front(), 3);
        return run;
    };
    const auto reasons = [&](const CompareOptions& options) {
        std::vector<std::string> list;
        const auto made = compare(collected({.metrics = {"energy"}}).value(), options).value();
        for (const auto& one : made.not_compared) list.push_back(one.reason);
        return list;
    };
    write("a.json", of("a", "device"));
    write("b.json", of("b", "device"));
    EXPECT_THAT(reasons({}), IsEmpty());
    write("b.json", of("b", "processors and memory"));
    EXPECT_THAT(reasons({}), Contains(HasSubstr("energy scope processors and memory")));
    EXPECT_THAT(reasons({.across = {"device", "backend"}}), Contains(HasSubstr("energy scope")));
    EXPECT_EQ(compare(collected({}).value()).value().tests, 1U) << "their rates are compared";
}

TEST_F(MetricsOfFiles, TheTimeBetweenCpusIsRead) {
    auto run = rich_run("a");
    for (auto& replica : run.cases.front().replicas) replica.telemetry.core_latency_seconds = 5e-8;
    write("a.json", run);
    const auto read = collected({}).value();
    EXPECT_EQ(read.observations.at(0).core_latency, 5e-8);
    EXPECT_EQ(read.observations.at(1).core_latency, std::nullopt);
}

/// A run with packets lost; one process each.
record::Run lossy_run(const std::string& id, const std::vector<double>& losses, bool in_turns) {
    auto run = rich_run(id);
    if (in_turns) run.pairing = record::Pairing{.id = "turns"};
    auto& c = run.cases.front();
    c.replicas.resize(1, c.replicas.front());
    for (std::size_t i = 1; i < losses.size(); ++i) c.replicas.push_back(c.replicas.front());
    for (std::size_t i = 0; i < losses.size(); ++i) {
        c.replicas[i].index = static_cast<int>(i);
        c.replicas[i].extra = {{"loss", losses[i]}, {"planning_time", 0.0}};
    }
    record::conclude(c, static_cast<int>(losses.size()));
    return run;
}

TEST_F(MetricsOfFiles, NothingLostIsAValueAndOtherZerosAreNone) {
    const std::vector<double> none(8, 0.0);
    const std::vector<double> some{0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.03, 0.01};
    const std::vector<double> few{0.02, 0, 0.03, 0.02, 0.01, 0.02, 0.03, 0.01};
    const std::string apart = "one is zero, the values do not overlap";
    using enum ContrastOutcome;
    struct Sides {
        std::vector<double> a, b;
        bool in_turns;
        ContrastOutcome outcome;
        std::optional<double> value; ///< of B
        std::string words;
    };
    const Sides sides[] = {{none, none, false, same, 0.0, "both zero"},
                           {none, some, true, worse, {}, apart},
                           {some, none, true, better, 0.0, apart},
                           {none, few, true, cannot_tell, 0.0175, "not resolved: no ratio to zero"},
                           {none, some, false, cannot_tell, {}, "no ratio to zero"}, // of two times
                           {{0.0}, {0.01}, true, cannot_tell, 0.01, "no ratio to zero"}};
    for (const auto& [a, b, in_turns, outcome, value, words] : sides) {
        write("a.json", lossy_run("a", a, in_turns));
        write("b.json", lossy_run("b", b, in_turns));
        const auto comparison = compare(collected({.others = true}).value()).value();
        const Cell* cell = nullptr;
        for (const auto& table : comparison.others)
            for (const auto& row : table.rows) {
                EXPECT_NE(row.metric, "planning time");
                if (row.metric == "share of packets lost") cell = &row.cells[1];
            }
        ASSERT_NE(cell, nullptr);
        EXPECT_EQ(cell->contrast->outcome, outcome) << words;
        EXPECT_FALSE(cell->contrast->ratio);
        EXPECT_EQ(cell->contrast->no_verdict, NoVerdict::zero);
        if (value) {
            EXPECT_DOUBLE_EQ(cell->value.value(), *value);
        }
        EXPECT_THAT(contrast_in_words(*cell->contrast), HasSubstr(words));
    }
}

// -- across devices and libraries --

decide::Series on_device(decide::Series series, const std::string& library) {
    series.place = "cuda";
    series.library = library;
    return series;
}

TEST(Across, HostAndDeviceMeetInOneRow) {
    CollectionMaker maker;
    auto host = test::gemm("openblas", 1024);
    host.parameters.push_back({"threads", std::string{"all"}});
    auto packed = test::gemm("onednn", 1024);
    packed.parameters.push_back({"threads", std::string{"all"}});
    auto device = on_device(test::gemm("cublaslt", 1024), "cublaslt");
    device.parameters.push_back({"cache", std::string{"cold"}});
    device.version = 3;
    device.conditions = {{"ecc", std::string{"on"}}, {"path", std::string{"nvlink"}}};
    const auto a = maker.run({.label = "host"});
    maker.observe(a, host, {100, 101, 99});
    maker.observe(a, packed, {120, 121, 119});
    maker.observe(maker.run({.label = "H200", .machine = "m-2"}), device, {6000, 6010, 5990});
    const auto by_itself = compare(maker.collection()).value();
    EXPECT_NEAR(*by_itself.overall[1].ratio, 50, 0.1);
    EXPECT_THAT(by_itself.notes, Contains(HasSubstr("--across device,backend")));
    const auto comparison = compare(maker.collection(), {.across = {"device", "backend"}}).value();
    ASSERT_THAT(comparison.tables, SizeIs(1));
    ASSERT_THAT(comparison.tables[0].rows, SizeIs(1));
    const auto& row = comparison.tables[0].rows[0];
    EXPECT_EQ(row.identity, "gemm.square precision=fp64 size=1024 (flop_rate)");
    EXPECT_EQ(row.name, "GEMM fp64, size 1024");
    EXPECT_EQ(row.cells[0].library, "onednn"); // the best one of that side
    EXPECT_EQ(row.cells[1].library, "cublaslt");
    EXPECT_NEAR(*row.cells[1].contrast->ratio, 50, 0.1);
    EXPECT_THAT(row.cells[0].notes, Contains("host, all threads"));
    EXPECT_THAT(row.cells[1].notes, Contains("cuda, cache cold, path nvlink"));
    EXPECT_THAT(comparison.not_compared, IsEmpty());
    EXPECT_THAT(comparison.questions, IsEmpty());
    // A page filters by what answered on any side.
    const auto document = make_document(comparison);
    std::vector<std::string> libraries;
    for (const auto& section : document.sections)
        for (const auto& block : section.blocks)
            if (const auto* table = std::get_if<document::Table>(&block))
                for (const auto& line : table->rows)
                    if (!line.tags.libraries.empty()) libraries = line.tags.libraries;
    EXPECT_THAT(libraries, ElementsAre("onednn", "cublaslt"));
}

TEST(Across, TeamsOfOtherSizeStayApart) {
    CollectionMaker maker;
    auto host = test::series_of("collective.allreduce", "mpi", {{"bytes", std::int64_t{8}}},
                                "bus_bandwidth");
    auto device = on_device(host, "nccl");
    host.conditions = {{"ranks", std::int64_t{2}}};
    device.conditions = {{"ranks", std::int64_t{8}}};
    maker.observe(maker.run({.label = "A"}), host, {100, 101, 99});
    maker.observe(maker.run({.label = "B"}), device, {100, 101, 99});
    const auto comparison = compare(maker.collection(), {.across = {"device", "backend"}}).value();
    EXPECT_FALSE(comparison.overall[1].ratio);
    EXPECT_THAT(comparison.not_compared, Not(IsEmpty()));
}

TEST(Across, TakesNothingElse) {
    CollectionMaker maker;
    for (const char* label : {"A", "B"})
        maker.observe(maker.run({.label = label}), test::gemm("openblas", 1024), {1, 2, 3});
    const auto unknown = compare(maker.collection(), {.across = {"machine"}});
    ASSERT_FALSE(unknown.has_value());
    EXPECT_THAT(unknown.error().message, HasSubstr("device, backend or both"));
    const auto both =
        compare(maker.collection(), {.column = {"label", "library"}, .across = {"backend"}});
    ASSERT_FALSE(both.has_value());
    EXPECT_THAT(both.error().message, HasSubstr("--column"));
}

} // namespace
} // namespace assay::compare
