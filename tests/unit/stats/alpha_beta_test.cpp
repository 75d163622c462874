// SPDX-License-Identifier: Apache-2.0

#include "stats/alpha_beta.hpp"
#include "stats/levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using testing::SizeIs;

struct Protocol {
    double until; ///< bytes
    double latency;
    double bandwidth;
};

/// 8 B to 64 MiB by powers of two, with relative errors; `together` moves all of them.
std::vector<stats::CostPoint> sweep(const std::vector<Protocol>& protocols, double noise,
                                    std::uint64_t seed, double together = 0) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> normal;
    const double all = together * normal(random);
    std::vector<stats::CostPoint> points;
    for (double size = 8; size <= 64.0 * (1U << 20U); size *= 2) {
        auto protocol = protocols.begin();
        while (size > protocol->until) ++protocol;
        const double seconds = protocol->latency + size / protocol->bandwidth;
        points.push_back({.size = size,
                          .seconds = seconds * std::exp(all + noise * normal(random)),
                          .terms = {{1, size}},
                          .log_error = together});
    }
    return points;
}

const std::vector<Protocol> one{{1e18, 2e-6, 10e9}};
const std::vector<Protocol> two{{64 << 10, 1e-6, 4e9}, {1e18, 20e-6, 12e9}};

TEST(AlphaBeta, OfExactTimesIsExact) {
    const auto fit = fit_cost(sweep(one, 0, 1));
    ASSERT_THAT(fit.segments, SizeIs(1));
    const auto& model = fit.segments[0].models.front();
    EXPECT_NEAR(parameter_of(fit, model, 0).value, 2e-6, 1e-12);
    EXPECT_NEAR(1 / parameter_of(fit, model, 1).value, 10e9, 1e3);
    EXPECT_NEAR(predict(fit, model, {1, 1e9}).value, 2e-6 + 0.1, 1e-6);
}

TEST(AlphaBeta, ProtocolsOfExactTimesAreFoundAtTheirSizes) {
    const auto fit = fit_cost(sweep(two, 0, 1));
    ASSERT_THAT(fit.segments, SizeIs(2));
    EXPECT_EQ(fit.segments[0].to, 64 << 10);
    EXPECT_EQ(fit.segments[1].from, 128 << 10);
    EXPECT_NEAR(fit.segments[1].models[0].value[0], 20e-6, 1e-10);
    EXPECT_EQ(&segment_of(fit, 1), fit.segments.data());
    EXPECT_EQ(&segment_of(fit, 80 << 10), fit.segments.data());
    EXPECT_EQ(&segment_of(fit, 1e12), &fit.segments[1]);
}

TEST(AlphaBeta, OrderAndUselessPointsDoNotMatter) {
    auto points = sweep(two, 0.03, 5);
    const auto fit = fit_cost(points);
    std::shuffle(points.begin(), points.end(), std::mt19937_64{3});
    points.push_back({.size = 64, .seconds = std::nan(""), .terms = {{1, 64}}});
    points.push_back({.size = 0, .seconds = 1, .terms = {{1, 0}}});
    points.push_back({.size = 64, .seconds = -1, .terms = {{1, 64}}});
    const auto again = fit_cost(points);
    ASSERT_EQ(again.segments.size(), fit.segments.size());
    EXPECT_NEAR(again.segments[0].models[0].value[1], fit.segments[0].models[0].value[1], 1e-18);
    EXPECT_DOUBLE_EQ(again.degrees, fit.degrees);
}

TEST(AlphaBeta, NoiseIsNotCutIntoProtocolsAndProtocolsAreFoundInNoise) {
    int false_breaks = 0;
    int found = 0;
    constexpr int runs = 200;
    for (int seed = 0; seed < runs; ++seed) {
        const double noise = seed % 2 == 0 ? 0.03 : 0.1;
        false_breaks += fit_cost(sweep(one, noise, seed)).segments.size() > 1 ? 1 : 0;
        const auto fit = fit_cost(sweep(two, noise, seed));
        if (fit.segments.size() == 2 && fit.segments[0].to >= 32 << 10 &&
            fit.segments[0].to <= 128 << 10)
            ++found;
    }
    EXPECT_LE(false_breaks, runs / 20);
    EXPECT_GE(found, runs * 9 / 10);
}

struct Covered {
    int latency = 0;
    int bandwidth = 0;
    int next_run = 0;
};
Covered coverage(double noise, double together, int runs) {
    Covered covered;
    const auto holds = [](const stats::Estimate& estimate, double truth) {
        return estimate.low <= truth && truth <= estimate.high ? 1 : 0;
    };
    for (int seed = 0; seed < runs; ++seed) {
        const auto fit = fit_cost(sweep(one, noise, seed, together));
        const auto& model = segment_of(fit, 8).models.front();
        covered.latency += holds(parameter_of(fit, model, 0), 2e-6);
        const auto& large = segment_of(fit, 1 << 26).models.front();
        covered.bandwidth += holds(parameter_of(fit, large, 1), 1 / 10e9);
        const auto next = sweep(one, noise, seed + 1000000, together);
        const auto& asked = next[static_cast<std::size_t>(seed) % next.size()];
        covered.next_run +=
            holds(predict(fit, segment_of(fit, asked.size).models.front(), asked.terms[0]),
                  asked.seconds);
    }
    return covered;
}

TEST(AlphaBeta, IntervalsHoldTheTruthAsOftenAsTheySay) {
    constexpr int runs = 400;
    for (const double together : {0.0, 0.05}) {
        const auto covered = coverage(0.03, together, runs);
        EXPECT_GE(covered.latency, runs * 92 / 100) << together;
        EXPECT_GE(covered.bandwidth, runs * 92 / 100) << together;
        EXPECT_LE(covered.bandwidth, runs * 995 / 1000) << together;
        EXPECT_GE(covered.next_run, runs * 92 / 100) << together;
    }
}

TEST(AlphaBeta, TheModelThatMadeTheTimesIsChosenAndTheOthersRuledOut) {
    std::mt19937_64 random{1};
    std::normal_distribution<> normal;
    std::vector<stats::CostPoint> points;
    for (const double ranks : {2.0, 4.0, 8.0})
        for (double size = 1024; size < 1e8; size *= 4) {
            const stats::Terms ring{2 * (ranks - 1), 2 * (ranks - 1) / ranks * size};
            const stats::Terms doubling{std::log2(ranks), std::log2(ranks) * size};
            const double seconds = ring[0] * 2e-6 + ring[1] / 10e9;
            points.push_back({.size = size,
                              .seconds = seconds * std::exp(0.02 * normal(random)),
                              .terms = {doubling, ring}});
        }
    const auto fit = fit_cost(points);
    ASSERT_THAT(fit.segments, SizeIs(1));
    ASSERT_THAT(fit.segments[0].models, SizeIs(1));
    EXPECT_EQ(fit.segments[0].models[0].model, 1U);
}

TEST(AlphaBeta, WhatWasNotMeasuredIsNotPredicted) {
    auto points = sweep(one, 0.01, 2);
    for (auto& point : points) point.terms = {{1, point.size, 0, 0}};
    const auto fit = fit_cost(points);
    const auto& model = fit.segments[0].models.front();
    EXPECT_FALSE(std::isnan(predict(fit, model, {3, 1e6, 0, 0}).value));
    EXPECT_TRUE(std::isnan(predict(fit, model, {3, 1e6, 1, 0}).value))
        << "nothing says what it costs";
    // Two parameters that never appear apart.
    for (auto& point : points) point.terms = {{1, point.size, 2, 2 * point.size}};
    const auto together = fit_cost(points);
    const auto& both = together.segments[0].models.front();
    EXPECT_FALSE(std::isnan(predict(together, both, {3, 1e6, 6, 2e6}).value));
    EXPECT_TRUE(std::isnan(predict(together, both, {3, 1e6, 12, 2e6}).value));
}

TEST(AlphaBeta, OfTooLittleHasNoInterval) {
    EXPECT_THAT(fit_cost({}).segments, SizeIs(0));
    const std::vector<stats::CostPoint> points{{.size = 8, .seconds = 1e-6, .terms = {{1, 8}}},
                                               {.size = 16, .seconds = 1.1e-6, .terms = {{1, 16}}}};
    const auto fit = fit_cost(points);
    ASSERT_THAT(fit.segments, SizeIs(1));
    const auto two_points = predict(fit, fit.segments[0].models.front(), {1, 12});
    EXPECT_NEAR(two_points.value, 1.05e-6, 1e-12);
    EXPECT_TRUE(std::isnan(two_points.low));
}

// --- shapes of curves --------------------------------------------------------------------------------

/// Rates of 8 B to 64 MiB, three replicas each with an interval of theirs, by Student's t.
std::vector<stats::RatePoint> rates(const std::function<double(double)>& seconds, double noise,
                                    std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> normal;
    constexpr double student = 4.303; // 95%, two degrees of freedom
    std::vector<stats::RatePoint> points;
    for (double size = 8; size <= 64.0 * (1U << 20U); size *= 2) {
        const double truth = std::log(size / seconds(size));
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < 3; ++i) {
            const double log = truth + noise * normal(random);
            sum += log;
            squares += log * log;
        }
        const double mean = sum / 3;
        const double error = std::sqrt(std::max(0.0, squares / 3 - mean * mean) / 2);
        points.push_back({size, std::exp(mean), std::exp(mean - student * error),
                          std::exp(mean + student * error)});
    }
    return points;
}

double healthy(double size) { return 2e-6 + size / 10e9; }
double falls(double size) { return 2e-6 + size / (size > 4 << 20 ? 8e9 : 10e9); }
double steps(double size) { return healthy(size) + (size > 64 << 10 ? 20e-6 : 0); }

TEST(Shape, OfAHealthyCurveIsNeverCalled) {
    int called = 0;
    constexpr int runs = 400;
    for (int seed = 0; seed < runs; ++seed) {
        const auto points = rates(healthy, seed % 2 == 0 ? 0.02 : 0.1, 90U + seed);
        called += find_fall(points) || find_time_step(points) ? 1 : 0;
    }
    EXPECT_LE(called, runs / 100);
}

TEST(Shape, AFallIsFoundWithItsSize) {
    const auto exact = find_fall(rates(falls, 0, 1));
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact->size, 8 << 20);
    EXPECT_NEAR(exact->rate / exact->best_rate, 0.8, 0.01);
    int found = 0;
    constexpr int runs = 200;
    for (int seed = 0; seed < runs; ++seed)
        found += find_fall(rates(falls, 0.01, 700U + seed)) ? 1 : 0;
    EXPECT_GE(found, runs * 9 / 10);
}

TEST(Shape, AFallOfTwoPercentOrOneBadPointIsNone) {
    EXPECT_FALSE(find_fall(
        rates([](double size) { return 2e-6 + size / (size > 4 << 20 ? 9.8e9 : 10e9); }, 0, 1)));
    auto points = rates(healthy, 0, 1);
    points[12].rate *= 2;
    points[12].low *= 2;
    points[12].high *= 2;
    EXPECT_FALSE(find_fall(points));
    points[20].rate /= 3;
    EXPECT_FALSE(find_fall(points));
}

TEST(Shape, AStepOfTheTimeIsFoundWithItsSize) {
    int found = 0;
    constexpr int runs = 200;
    for (int seed = 0; seed < runs; ++seed) {
        const auto step = find_time_step(rates(steps, 0.03, 300U + seed));
        if (step && step->before >= 32 << 10 && step->after <= 256 << 10) ++found;
    }
    EXPECT_GE(found, runs * 9 / 10);
}

TEST(Shape, OfNothingIsNothing) {
    EXPECT_FALSE(find_fall({}));
    EXPECT_FALSE(find_time_step({}));
    const std::vector<stats::RatePoint> broken{{8, std::nan("")}, {16, -1}, {0, 5}, {32, 1}};
    EXPECT_FALSE(find_fall(broken));
    EXPECT_FALSE(find_time_step(broken));
}

} // namespace
} // namespace assay::stats
