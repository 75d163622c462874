// SPDX-License-Identifier: Apache-2.0
//
// Two years of a generated fleet: every planted change is found on its date with its cause, and what was
// not planted is not found.

#include "history/history.hpp"
#include "store/gather.hpp"
#include "support/generated_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace assay::report {
namespace {

using test::quarter_start;
using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

/// As store reads them, without files.
Collection collection_of(const test::GeneratorOptions& options) {
    const test::Generator generator{options};
    Pools pools;
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < generator.size(); ++i) {
        const auto run = generator.run(i);
        auto digest = Digester{run, MetricChoice{{}}}.finish(pools);
        digest.run.file = test::Generator::path(run);
        candidates.push_back({.digest = std::move(digest)});
    }
    return gather(std::move(candidates), std::move(pools), {.now = quarter_start(100)});
}

test::GeneratorOptions fleet() {
    auto types = test::usual_types();
    types.resize(3);
    return {.types = types,
            .machines = 4,
            .quarters = 8,
            .runs = 2,
            .values = 2, // batch values are not looked at here
            .benchmarks = {"gemm.", "memory.", "peak."}};
}

class HistoryTruth : public testing::Test {
protected:
    static record::Named fact(const char* name, const char* value) {
        return {name, std::string{value}};
    }
    static History made(const test::GeneratorOptions& options) {
        return make_history(collection_of(options)).value();
    }
    static const HistoryGroup& group(const History& history, const std::string& name) {
        return *std::ranges::find(history.groups, name, &HistoryGroup::name);
    }
};

TEST_F(HistoryTruth, NothingPlantedNothingFound) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        auto options = fleet();
        options.seed = seed;
        const auto history = made(options);
        ASSERT_THAT(history.groups, SizeIs(3));
        for (const auto& one : history.groups) {
            EXPECT_GT(one.series.size(), 8U);
            EXPECT_THAT(one.events, IsEmpty()) << seed << ": " << one.events.front().text;
        }
    }
}

TEST_F(HistoryTruth, WhatIsPlantedIsFoundWithItsCause) {
    auto options = fleet();
    const double kernel = quarter_start(2.4);
    const double library = quarter_start(3.6);
    const double cpu = quarter_start(4.0);
    const double unknown = quarter_start(5.5);
    options.steps = {
        {"c7a.large", "memory.", "", kernel, 0.93, {fact("kernel", "6.6.30")}},
        {"c7i.xlarge",
         "gemm.",
         "openblas",
         library,
         1.06,
         {fact("software.openblas.version", "0.3.99")}},
        {"c8g.2xlarge", "", "", cpu, 1.2, {fact("cpu_model", "Neoverse-V3")}},
        {"c7a.large", "peak.", "", unknown, 0.95, {}},
        {"c7i.xlarge", "", "", quarter_start(6), 1, {fact("kernel", "6.6.30")}}, // no effect
    };
    const auto history = made(options);

    const auto& a = group(history, "aws c7a.large");
    ASSERT_THAT(a.events, SizeIs(2));
    EXPECT_EQ(a.events[0].cause, ChangeCause::software);
    EXPECT_THAT(a.events[0].facts, Contains(Field(&ChangedFact::name, "kernel")));
    // Five runs before it and 3% of noise: not every machine can show it alone, but none speaks against.
    EXPECT_THAT(a.events[0].machines, SizeIs(testing::Ge(3U)));
    EXPECT_EQ(a.events[0].facts[0].without_effect, 0U);
    EXPECT_EQ(a.events[0].better, 0U);
    EXPECT_EQ(a.events[1].cause, ChangeCause::unexplained);
    EXPECT_THAT(a.events[1].machines, SizeIs(4));
    EXPECT_LE(a.events[1].earliest, unknown);
    EXPECT_GE(a.events[1].latest, unknown);

    const auto& b = group(history, "aws c7i.xlarge");
    ASSERT_THAT(b.events, SizeIs(1));
    EXPECT_EQ(b.events[0].cause, ChangeCause::software);
    EXPECT_THAT(b.events[0].facts,
                Contains(Field(&ChangedFact::name, "software.openblas.version")));
    for (const auto& series : b.series)
        EXPECT_EQ(series.change_points.size(), series.library == "openblas" ? 4U : 0U)
            << series.identity;

    const auto& c = group(history, "aws c8g.2xlarge");
    ASSERT_THAT(c.events, SizeIs(1));
    EXPECT_EQ(c.events[0].cause, ChangeCause::instance);
    EXPECT_EQ(c.events[0].better, c.series.size());
    EXPECT_NEAR(c.series[0].change_points.at(0).ratio, 1.2, 0.04);

    // Between the last run before and the first one after, on every machine.
    constexpr double turn = 91 * 86400 / 2.0; // seconds between runs of a machine
    for (const auto& series : a.series)
        for (const auto& step : series.change_points) {
            const double planted = series.family == "memory" ? kernel : unknown;
            EXPECT_NEAR(step.seconds, planted, 2 * turn) << series.identity;
            EXPECT_LT(step.high.value_or(2), 1) << series.identity;
        }
}

} // namespace
} // namespace assay::report
