// SPDX-License-Identifier: Apache-2.0

#include "stats/shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

/// Rates of 8 B to 64 MiB, three replicas each with an interval of theirs, by Student's t.
std::vector<RatePoint> rates(const std::function<double(double)>& seconds, double noise,
                             std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> normal;
    constexpr double student = 4.303; // 95%, two degrees of freedom
    std::vector<RatePoint> points;
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
    const std::vector<RatePoint> broken{{8, std::nan("")}, {16, -1}, {0, 5}, {32, 1}};
    EXPECT_FALSE(find_fall(broken));
    EXPECT_FALSE(find_time_step(broken));
}

} // namespace
} // namespace assay::stats
