// SPDX-License-Identifier: Apache-2.0
//
// What the acceptance test promises, by simulation with a fixed seed: see decisions/acceptance.md 0314.

#include "population/acceptance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

/// A kind of benchmark: the deviation between replicas, and how far a bar is below a healthy machine.
struct Kind {
    const char* name;
    double deviation;
    double bar;
};
constexpr Kind kinds[] = {{"gemm", 0.005, 0.02},
                          {"memory", 0.03, 0.08},
                          {"lj", 0.03, 0.08},
                          {"fft", 0.07, 0.18},
                          {"allreduce", 0.12, 0.30}};
constexpr int trials = 10000;
constexpr double checks = 40;
constexpr AcceptanceLevels levels;

struct Shares {
    double pass = 0;
    double fail = 0;
};

/// Nodes whose true value is `margin` (a logarithm) above the limit, measured until decided or `most` replicas. Cases
/// of one kind differ in noise: the prior is the kind's, worth six degrees of freedom.
Shares simulate(double deviation, double margin, std::size_t most, std::uint64_t seed,
                double unlike = 0.3) {
    std::mt19937_64 random{seed};
    std::normal_distribution<double> normal;
    const AcceptanceNoise noise{.replica = {.variance = deviation * deviation, .degrees = 6}};
    Shares shares;
    std::vector<Margin> margins;
    for (int i = 0; i < trials; ++i) {
        const double own = deviation * std::exp(unlike * normal(random));
        margins.clear();
        for (const auto look : acceptance_looks) {
            if (look > most) break;
            while (margins.size() < look)
                margins.push_back({.log_ratio = margin + own * normal(random), .run = 0});
            const auto found = acceptance(margins, noise);
            const bool fails = found.p_fail * checks <= levels.fail;
            const bool passes = found.p_pass <= levels.pass;
            if (fails) shares.fail += 1.0 / trials;
            if (passes && !fails) shares.pass += 1.0 / trials;
            if (fails || passes) break;
        }
    }
    return shares;
}

TEST(Acceptance, KeepsItsLevels) {
    for (const auto& kind : kinds) {
        const auto at_limit = simulate(kind.deviation, 0, 40, 1);
        EXPECT_LE(at_limit.pass, 0.01) << kind.name;
        EXPECT_LE(at_limit.fail, 0.001 / checks + 3e-4) << kind.name;
        const auto healthy = simulate(kind.deviation, -std::log1p(-kind.bar), 40, 2);
        EXPECT_LE(healthy.fail, 0.001) << kind.name;
        // Seen once with 40 checks on a node: each may be undecided in one of 1,300.
        EXPECT_GE(healthy.pass, 0.9992) << kind.name;
    }
}

TEST(Acceptance, FindsSlowMachines) {
    // Half the bar, 10% slow.
    for (const auto& kind : kinds) {
        if (kind.deviation > 0.03) continue;
        const auto slow =
            simulate(kind.deviation, std::log(0.9) - std::log1p(-kind.bar / 2), 40, 3);
        EXPECT_GE(slow.fail, 0.95) << kind.name;
    }
}

TEST(Acceptance, DecidesAsFarAsItSays) {
    const AcceptanceNoise noise{.replica = {.variance = 9e-4, .degrees = 6}};
    const double distance = decided_distance(noise, 10, levels.fail / checks);
    EXPECT_GT(distance, 0.03);
    EXPECT_LT(distance, 0.12);
    EXPECT_LT(decided_distance(noise, 40, levels.fail / checks), distance / 1.7);
    const auto slow =
        simulate(0.03, std::log1p(-decided_distance(noise, 40, levels.fail / checks)), 40, 4, 0);
    EXPECT_GE(slow.fail, 0.97); // of the looks before
}

TEST(Acceptance, NeedsFiveReplicas) {
    const std::vector<Margin> four(4, {.log_ratio = 1, .run = 0});
    const AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    EXPECT_EQ(acceptance(four, noise).looks, 0U);
    EXPECT_EQ(acceptance(four, noise).p_pass, 1);
    EXPECT_NEAR(acceptance(four, noise).mean, 1, 1e-12);
    EXPECT_EQ(acceptance({}, noise).count, 0U);
    // Between the looks nothing is tried again.
    std::vector<Margin> nine(9, {.log_ratio = 0.02, .run = 0});
    const auto five = acceptance(std::span{nine}.first(5), noise);
    nine[7].log_ratio = 5;
    EXPECT_EQ(acceptance(nine, noise).p_pass, five.p_pass);
}

TEST(Acceptance, KnowsNothingWithoutNoise) {
    const std::vector<Margin> equal(5, {.log_ratio = 0.1, .run = 0});
    EXPECT_EQ(acceptance(equal, {}).p_pass, 0); // no noise seen in five values
    const std::vector<Margin> one(5, {.log_ratio = 0, .run = 0});
    EXPECT_GT(acceptance(one, {}).p_pass, 0.01);
}

TEST(Acceptance, RunsThatDifferAreNotReplicas) {
    std::vector<Margin> margins;
    for (std::size_t run = 0; run < 2; ++run)
        for (int i = 0; i < 5; ++i)
            margins.push_back({.log_ratio = 0.05 + (0.001 * i), .run = run});
    AcceptanceNoise noise{.replica = {.variance = 1e-6, .degrees = 6}};
    EXPECT_LT(acceptance(margins, noise).p_pass, 1e-6);
    noise.run = {.variance = 0.01, .degrees = 6};
    const auto found = acceptance(margins, noise);
    EXPECT_GT(found.p_pass, 0.1);
    EXPECT_NEAR(found.degrees, 6, 0.1); // of the runs, which decide
    EXPECT_LT(found.low, found.mean - 0.1);
    EXPECT_GT(found.high, found.mean + 0.1);
}

TEST(Acceptance, NeighboursAreWaitedFor) {
    const AcceptanceNoise noise{.replica = {.variance = 1e-6, .degrees = 6}};
    std::vector<Margin> margins;
    for (std::size_t run = 0; run < 3; ++run)
        for (int i = 0; i < 5; ++i)
            margins.push_back({.log_ratio = -0.2 - (0.001 * i), .run = run});
    const std::vector<double> soon{0, 60, 120};
    EXPECT_EQ(acceptance_on_shared_host(margins, soon, noise).p_fail, 1);
    const std::vector<double> apart{0, 4000, 8000};
    EXPECT_LT(acceptance_on_shared_host(margins, apart, noise).p_fail, 1e-9);
    for (auto& margin : margins)
        if (margin.run == 1) margin.log_ratio = 0.1; // in one hour it could
    EXPECT_GT(acceptance_on_shared_host(margins, apart, noise).p_fail, 0.5);
}

TEST(Acceptance, SaysWhatWouldDecide) {
    std::vector<Margin> margins;
    for (int i = -2; i <= 2; ++i) margins.push_back({.log_ratio = 0.02 + (0.01 * i), .run = 0});
    const AcceptanceNoise noise{.replica = {.variance = 4e-4, .degrees = 6}};
    const auto found = acceptance(margins, noise);
    EXPECT_GT(found.p_pass, levels.pass);
    EXPECT_EQ(replicas_to_decide(found, levels.pass), 40U);
    for (auto& margin : margins) margin.log_ratio -= 0.0199;
    EXPECT_FALSE(replicas_to_decide(acceptance(margins, noise), levels.pass));
}

} // namespace
} // namespace assay::stats
