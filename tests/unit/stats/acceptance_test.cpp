// SPDX-License-Identifier: Apache-2.0
//
// What the acceptance test promises, by simulation with a fixed seed: see decisions/acceptance.md 0314.

#include "decide/acceptance.hpp"
#include "stats/ranking.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

/// A kind of benchmark: the deviation between replicas, and how far a limit is below a healthy machine.
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
constexpr decide::AcceptanceLevels levels;

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
    const decide::AcceptanceNoise noise{
        .replica = {.variance = deviation * deviation, .degrees = 6}};
    Shares shares;
    std::vector<decide::Margin> margins;
    for (int i = 0; i < trials; ++i) {
        const double own = deviation * std::exp(unlike * normal(random));
        margins.clear();
        for (const auto look : decide::fail_looks) {
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
        // At half that distance, 20 replicas settle most checks, and 40 all but one in 200.
        const auto half = -std::log1p(-kind.bar / 2);
        const auto near = simulate(kind.deviation, half, 20, 5);
        EXPECT_GE(near.pass, 0.965) << kind.name;
        EXPECT_LE(near.fail, 0.001) << kind.name;
        EXPECT_GE(simulate(kind.deviation, half, 40, 6).pass, 0.995) << kind.name;
    }
}

TEST(Acceptance, FindsSlowMachines) {
    // Half that distance, 10% slow.
    for (const auto& kind : kinds) {
        if (kind.deviation > 0.03) continue;
        const auto slow =
            simulate(kind.deviation, std::log(0.9) - std::log1p(-kind.bar / 2), 40, 3);
        EXPECT_GE(slow.fail, 0.95) << kind.name;
    }
}

TEST(Acceptance, DecidesAsFarAsItSays) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 9e-4, .degrees = 6}};
    const double distance = decided_distance(noise, 10, levels.fail / checks);
    EXPECT_GT(distance, 0.03);
    EXPECT_LT(distance, 0.12);
    EXPECT_LT(decided_distance(noise, 40, levels.fail / checks), distance / 1.7);
    const auto slow =
        simulate(0.03, std::log1p(-decided_distance(noise, 40, levels.fail / checks)), 40, 4, 0);
    EXPECT_GE(slow.fail, 0.97); // of the looks before
}

TEST(Acceptance, NeedsFiveReplicas) {
    const std::vector<decide::Margin> four(4, {.log_ratio = 1, .run = 0});
    const decide::AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    EXPECT_EQ(acceptance(four, noise).looks, 0U);
    EXPECT_EQ(acceptance(four, noise).p_pass, 1);
    EXPECT_NEAR(acceptance(four, noise).mean, 1, 1e-12);
    EXPECT_EQ(acceptance({}, noise).count, 0U);
    // Between the looks nothing is tried again.
    std::vector<decide::Margin> nine(9, {.log_ratio = 0.02, .run = 0});
    const auto five = acceptance(std::span{nine}.first(5), noise);
    nine[7].log_ratio = 5;
    EXPECT_EQ(acceptance(nine, noise).p_pass, five.p_pass);
}

// Against the formulas of the header, with numbers of a table of Student's t where there is one.

constexpr double infinite = std::numeric_limits<double>::infinity();

double below(double t, double degrees) { return cdf(boost::math::students_t{degrees}, t); }
/// Five replicas of each run, `mean` and `step` apart: a variance of 2.5 step^2 with four degrees.
std::vector<decide::Margin> five_of_each(std::initializer_list<double> means, double step = 0.01) {
    std::vector<decide::Margin> margins;
    std::size_t run = 0;
    for (const double mean : means) {
        for (int i = -2; i <= 2; ++i)
            margins.push_back({.log_ratio = mean + (step * i), .run = run});
        ++run;
    }
    return margins;
}

TEST(Acceptance, IsStudentsTestOfOneRun) {
    const auto found = acceptance(five_of_each({0.02}), {});
    const double error = std::sqrt(2.5e-4 / 5);
    EXPECT_EQ(found.looks, 1U);
    EXPECT_EQ(found.count, 5U);
    EXPECT_NEAR(found.mean, 0.02, 1e-12);
    EXPECT_NEAR(found.standard_error, error, 1e-12);
    EXPECT_EQ(found.degrees, 4);
    EXPECT_NEAR(found.low, 0.02 - (2.776445 * error), 1e-8);
    EXPECT_NEAR(found.high, 0.02 + (2.776445 * error), 1e-8);
    EXPECT_NEAR(found.p_pass, 0.0948413, 1e-6); // four looks, t of 2.83
    EXPECT_EQ(found.p_fail, 1);
    const auto slow = acceptance(five_of_each({-0.02}), {});
    EXPECT_NEAR(slow.p_fail, found.p_pass, 1e-12);
    EXPECT_EQ(slow.p_pass, 1);
}

TEST(Acceptance, WeighsWhatIsKnownOfTheNoise) {
    const auto margins = five_of_each({0.02});
    const auto some = acceptance(margins, {.replica = {.variance = 1e-4, .degrees = 6}});
    EXPECT_EQ(some.degrees, 10);
    EXPECT_NEAR(some.standard_error, std::sqrt((4 * 2.5e-4 + 6e-4) / 10 / 5), 1e-12);
    EXPECT_NEAR(some.high, some.mean + (2.228139 * some.standard_error), 1e-8);
    EXPECT_NEAR(some.p_pass, 4 * below(-some.mean / some.standard_error, 10), 1e-12);
    // Known for certain: the normal distribution.
    const auto all = acceptance(margins, {.replica = {.variance = 5e-4, .degrees = infinite}});
    EXPECT_NEAR(all.standard_error, 0.01, 1e-12);
    EXPECT_NEAR(all.high, 0.02 + 0.0195996, 1e-6);
    EXPECT_NEAR(all.p_pass, 4 * 0.0227501, 1e-6);
    // That of the limit comes on top.
    const auto limit =
        acceptance(margins, {.replica = {.variance = 5e-4, .degrees = infinite}, .limit = 3e-4});
    EXPECT_NEAR(limit.standard_error, 0.02, 1e-12);
}

TEST(Acceptance, AddsTheErrorOfItsRuns) {
    decide::AcceptanceNoise noise{.run = {.variance = 1e-3, .degrees = 6}};
    const auto margins = five_of_each({0.01, 0.03});
    const double of_replicas = 2.5e-4 / 10;
    const auto two = acceptance(margins, noise);
    EXPECT_EQ(two.looks, 2U);
    EXPECT_NEAR(two.mean, 0.02, 1e-12);
    EXPECT_NEAR(two.standard_error, std::sqrt(of_replicas + 5e-4), 1e-12);
    EXPECT_NEAR(two.degrees,
                std::pow(of_replicas + 5e-4, 2) / (of_replicas * of_replicas / 8 + 5e-4 * 5e-4 / 6),
                1e-9);
    // Four of one run and one of another: (16 + 1) / 25 of the variance.
    auto uneven = five_of_each({0.02});
    uneven.back().run = 1;
    const auto found = acceptance(uneven, noise);
    EXPECT_NEAR(found.standard_error, std::sqrt((5e-4 / 3 / 5) + (1e-3 * 17 / 25)), 1e-12);
    // Degrees of the runs that are unknown leave those of the replicas; a known variance has no end of them.
    noise.run.degrees = 0;
    EXPECT_EQ(acceptance(margins, noise).degrees, 8);
    noise.run.degrees = infinite;
    EXPECT_NEAR(acceptance(margins, noise).degrees,
                8 * std::pow((of_replicas + 5e-4) / of_replicas, 2), 1e-6);
    // Runs that do not differ by themselves: all replicas are compared with one mean.
    EXPECT_EQ(acceptance(margins, {}).degrees, 9);
}

TEST(Acceptance, TakesTheClearestLook) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    const auto good = acceptance(five_of_each({0.05}), noise);
    const auto then_bad = acceptance(five_of_each({0.05, -0.05}), noise);
    EXPECT_EQ(then_bad.p_pass, good.p_pass);
    EXPECT_NEAR(then_bad.mean, 0, 1e-12); // of all
    const auto bad = acceptance(five_of_each({-0.05}), noise);
    EXPECT_EQ(acceptance(five_of_each({-0.05, 0.05}), noise).p_fail, bad.p_fail);
    EXPECT_LT(acceptance(five_of_each({0.02, 0.02}), noise).p_pass,
              acceptance(five_of_each({0.02}), noise).p_pass / 2);
    std::vector<decide::Margin> many(45, {.log_ratio = 0.1, .run = 0});
    EXPECT_EQ(acceptance(many, noise).looks, 4U);
    EXPECT_EQ(acceptance(many, noise).count, 40U);
}

TEST(Acceptance, WithoutAnErrorNothingIsDecided) {
    // Each replica of a run of its own, and nothing known.
    std::vector<decide::Margin> single;
    for (std::size_t run = 0; run < 5; ++run) single.push_back({.log_ratio = 1, .run = run});
    const auto unknown = acceptance(single, {.run = {.variance = 1e-4, .degrees = 6}});
    EXPECT_EQ(unknown.looks, 1U);
    EXPECT_EQ(unknown.p_pass, 1);
    EXPECT_EQ(unknown.p_fail, 1);
    EXPECT_TRUE(std::isnan(unknown.low) && std::isnan(unknown.high));
    // A value of NaN.
    single.back().log_ratio = std::numeric_limits<double>::quiet_NaN();
    const auto broken = acceptance(single, {.replica = {.variance = 1e-4, .degrees = 6},
                                            .run = {.variance = 1e-4, .degrees = 6}});
    EXPECT_EQ(broken.p_pass, 1);
    EXPECT_EQ(broken.p_fail, 1);
    // No noise at all: certain, and at the limit itself as likely one as the other.
    const auto exact = acceptance(std::vector<decide::Margin>(5, {.log_ratio = -1, .run = 0}), {});
    EXPECT_EQ(exact.p_fail, 0);
    EXPECT_EQ(exact.p_pass, 1);
    const auto at_limit =
        acceptance(std::vector<decide::Margin>(5, {.log_ratio = 0, .run = 0}), {});
    EXPECT_EQ(at_limit.p_pass, 1);
    EXPECT_EQ(at_limit.p_fail, 1);
}

std::vector<decide::Margin> of_one_run(std::initializer_list<double> logs) {
    std::vector<decide::Margin> margins;
    for (const double log : logs) margins.push_back({.log_ratio = log, .run = 0});
    return margins;
}

TEST(PassTest, ClearsByScatterOfBetterHalf) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    EXPECT_TRUE(clears(of_one_run({0.10, 0.10}), noise));
    EXPECT_FALSE(clears(of_one_run({0.05, 0.05}), noise)) << "five deviations are 0.054";
    EXPECT_FALSE(clears(of_one_run({0.10}), noise));
    EXPECT_TRUE(clears(of_one_run({0.10, 0.10, 0.10, 0.10, 0.09, 0.02, -0.20}), noise))
        << "something slowed the others";
    EXPECT_FALSE(clears(of_one_run({0.30, 0.10, 0.09, 0.08}), noise));
    EXPECT_FALSE(clears(of_one_run({0.30, 0.30, 0.10, 0.10, 0.10, 0.10, 0.10}), noise));
    EXPECT_FALSE(clears(of_one_run({0.009, 0.009}), {})) << "at least 1%";
}

TEST(PassTest, OnSharedHostAsksThreeRunsAnHourApart) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    const std::vector<double> hourly{0, 4000, 8000};
    const auto good = pass_test(five_of_each({0.05, 0.05, 0.05}), noise, hourly);
    EXPECT_LT(good.p_pass, 1e-6);
    EXPECT_FALSE(good.below);
    EXPECT_EQ(pass_test(five_of_each({0.05, -0.05, 0.05}), noise, hourly).p_pass, 1);
    EXPECT_EQ(pass_test(five_of_each({0.05, 0.05}), noise, hourly).p_pass, 1);
    const std::vector<double> at_once{0, 100, 200};
    EXPECT_EQ(pass_test(five_of_each({0.05, 0.05, 0.05}), noise, at_once).p_pass, 1);
    const auto bad = pass_test(five_of_each({0.05, 0.05, -0.05}), noise, hourly);
    EXPECT_TRUE(bad.below);
    EXPECT_FALSE(bad.clears);
}

TEST(PassTest, DoubtsWhatIsKnownOfRuns) {
    const auto p = [](double degrees) {
        return pass_test(five_of_each({0.12}), {.replica = {.variance = 1e-4, .degrees = 6},
                                                .run = {.variance = 4e-4, .degrees = degrees}})
            .p_pass;
    };
    EXPECT_DOUBLE_EQ(p(infinite), p(4));
    EXPECT_DOUBLE_EQ(p(0), p(4));
    EXPECT_GT(p(2), p(4));
}

TEST(Acceptance, OnASharedHostEachRunFails) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 1e-4, .degrees = 6}};
    const auto margins = five_of_each({-0.02, -0.01, -0.03});
    const std::vector<double> hourly{100, 3700, 7300};
    const double worst = acceptance(five_of_each({-0.01}), noise).p_fail;
    EXPECT_NEAR(fail_test_on_shared_host(margins, hourly, noise).p_fail, worst * worst * worst,
                1e-12);
    // The second is too soon after the first, and then there are two.
    EXPECT_EQ(fail_test_on_shared_host(margins, std::vector<double>{100, 3699, 7300}, noise).p_fail,
              1);
    // PASS still needs the evidence of all of them.
    EXPECT_EQ(fail_test_on_shared_host(margins, hourly, noise).p_pass,
              acceptance(margins, noise).p_pass);
}

TEST(Acceptance, SaysWhatWouldDecide) {
    const decide::AcceptanceNoise noise{.replica = {.variance = 4e-4, .degrees = 6}};
    const auto found = acceptance(five_of_each({0.02}), noise);
    EXPECT_GT(found.p_pass, levels.pass);
    EXPECT_EQ(replicas_to_decide(found, levels.pass), 40U);
    EXPECT_FALSE(replicas_to_decide(acceptance(five_of_each({0.0001}), noise), levels.pass));
    // The next look that suffices, never one that was.
    const decide::Acceptance clear{.count = 10, .mean = -0.1, .standard_error = 0.01, .degrees = 9};
    EXPECT_EQ(replicas_to_decide(clear, levels.pass), 20U);
    auto known = clear;
    known.count = 4;
    EXPECT_EQ(replicas_to_decide(known, levels.pass), 5U);
    known.count = 40;
    EXPECT_FALSE(replicas_to_decide(known, levels.pass));
    // From what is not known nothing follows.
    for (const auto break_it :
         {+[](decide::Acceptance& found) { found.count = 0; },
          +[](decide::Acceptance& found) { found.degrees = 0; },
          +[](decide::Acceptance& found) { found.mean = 0; },
          +[](decide::Acceptance& found) { found.standard_error = stats::unknown; }}) {
        auto broken = clear;
        break_it(broken);
        EXPECT_FALSE(replicas_to_decide(broken, levels.pass));
    }
}

// --- rankings of types -------------------------------------------------------------------------------

// Rankings of types of machines whose truth is known.

/// Machines vary by 3%, and each is measured by three replicas of 2%.
constexpr double between = 0.03;
const double measured = std::sqrt(between * between + 0.02 * 0.02 / 3);

class Truth {
public:
    explicit Truth(std::uint64_t seed) : random_{seed} {}
    std::vector<double> machines(double type, std::size_t count) {
        std::vector<double> logs(count);
        for (auto& log : logs) log = type + measured * normal_(random_);
        return logs;
    }
    double type(double spread) { return spread * normal_(random_); }

private:
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
};

double sure_of_best(const std::vector<std::vector<double>>& types) {
    const auto spread = pool_spread(types);
    const auto a = stats::type_score(types[0]);
    const auto b = stats::type_score(types[1]);
    const double above = probability_above(a, b, 0, spread);
    return std::max(above, 1 - above);
}

TEST(Ranking, EqualOffersAreCalledSureInAtMostOneOfTwentyCases) {
    for (std::size_t machines = 2; machines <= 10; ++machines) {
        Truth truth{machines};
        int called = 0;
        constexpr int trials = 4000;
        for (int i = 0; i < trials; ++i)
            called += sure_of_best({truth.machines(0, machines), truth.machines(0, machines)}) >=
                      stats::sure_probability;
        // 5%, and three standard deviations of what 4,000 trials show.
        EXPECT_LT(called, trials * 0.05 + 3 * std::sqrt(trials * 0.05 * 0.95)) << machines;
        EXPECT_GT(called, trials * 0.02) << machines; // it is not deaf either
    }
}

TEST(Ranking, OfPrintedProbabilitiesOfNineTenthsAsManyAreRight) {
    Truth truth{7};
    int printed = 0;
    int right = 0;
    while (printed < 2000) {
        const double a = truth.type(between);
        const double b = truth.type(between);
        const std::size_t machines = 2 + static_cast<std::size_t>(printed % 9);
        const std::vector<std::vector<double>> types{truth.machines(a, machines),
                                                     truth.machines(b, machines)};
        const double above = probability_above(stats::type_score(types[0]),
                                               stats::type_score(types[1]), 0, pool_spread(types));
        const double said = std::max(above, 1 - above);
        if (said < 0.85 || said > 0.95) continue;
        ++printed;
        right += (above > 0.5) == (a > b) ? 1 : 0;
    }
    EXPECT_GE(right, 2000 * 0.85);
    EXPECT_LE(right, 2000 * 0.95);
}

TEST(Ranking, FewerThanOneMachineInTwentyLiesBelowTheFifthPercentile) {
    for (const std::size_t machines : {2, 3, 10}) {
        Truth truth{machines};
        int below = 0;
        for (int i = 0; i < 4000; ++i) {
            const std::vector<std::vector<double>> types{truth.machines(0, machines)};
            below += truth.machines(0, 1)[0] <
                     percentile_of_next(stats::type_score(types[0]), pool_spread(types));
        }
        // Few machines show little of the spread, and the prior makes up for it: 3 to 5%.
        EXPECT_LT(below, 4000 * 0.05 + 3 * std::sqrt(4000 * 0.05 * 0.95)) << machines;
        EXPECT_GT(below, 4000 * 0.025) << machines;
    }
}

TEST(Ranking, SharesOfDrawsAreTheProbabilityOfTwo) {
    const std::vector<std::vector<double>> types{{0.1, 0.14}, {0.08, 0.1, 0.06}};
    const auto spread = pool_spread(types);
    const std::vector scores{stats::type_score(types[0]), stats::type_score(types[1])};
    const std::vector<stats::Candidate> candidates{
        {0, std::numbers::ln10}, {1, std::log(9.8)}, {1, std::log(12.0)}};
    const auto best = probabilities_best(scores, candidates, spread, 200'000);
    EXPECT_NEAR(best[0], probability_above(scores[0], scores[1], std::log(10 / 9.8), spread),
                0.005);
    EXPECT_EQ(best[2], 0); // the same type for less
    EXPECT_NEAR(std::accumulate(best.begin(), best.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(best, probabilities_best(scores, candidates, spread, 200'000)); // seeded
}

TEST(Ranking, OneMachineATypeHasThePriorAlone) {
    const std::vector<std::vector<double>> types{{0.2}, {0.1}};
    const auto spread = pool_spread(types);
    EXPECT_DOUBLE_EQ(spread.deviation, 0.03);
    EXPECT_DOUBLE_EQ(spread.degrees, 4);
    const double expected = 0.2 - 2.131847 * 0.03 * std::numbers::sqrt2; // t of 4 degrees at 5%
    EXPECT_NEAR(percentile_of_next(stats::type_score(types[0]), spread), expected, 1e-6);
}

TEST(Ranking, TheSpreadIsPooledOverTypesAndMovedToThePrior) {
    const std::vector<std::vector<double>> types{{0, 0.02}, {1, 1.04, 1.08}};
    const auto spread = pool_spread(types);
    EXPECT_DOUBLE_EQ(spread.degrees, 4 + 1 + 2);
    EXPECT_NEAR(spread.deviation, std::sqrt((4 * 0.0009 + 0.0002 + 0.0032) / 7), 1e-12);
}

} // namespace
} // namespace assay::stats
