// SPDX-License-Identifier: Apache-2.0

#include "limits.hpp"

#include "decide/acceptance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace assay::truth {
namespace {

using decide::AcceptanceNoise;
using decide::Margin;

constexpr decide::AcceptanceLevels levels;
constexpr double checks = 40; ///< of a node, which share the level of FAIL

/// Standard deviations of logarithms as they are expected, between replicas and between runs.
struct Work {
    const char* name;
    double replica;
    double run;
};
constexpr Work work[] = {{"device memory", 0.0002, 0.001},
                         {"device products", 0.004, 0.01},
                         {"host arithmetic", 0.005, 0.005},
                         {"host memory", 0.03, 0.03}};

AcceptanceNoise noise_of(const Work& of) {
    return {
        .replica = {.variance = of.replica * of.replica, .degrees = 3},
        .run = {.variance = of.run * of.run, .degrees = std::numeric_limits<double>::infinity()}};
}
double deviation_of(const Work& of) { return std::hypot(of.replica, of.run); }

/// Properties of nodes: the true value above the limit, a logarithm, and the true noise in units of the expected one.
struct Design {
    double margin = 0;
    double noise = 1;
    std::size_t replicas = 5;
    std::size_t runs = 1;
    double disturbed = 0; ///< share of replicas that something outside slows by `slowed`
    double slowed = 0.05; ///< mean of an exponential
    double half_slow = 0; ///< every second replica is slower by this much
};

struct Shares {
    Count passes;
    Count fails;
};

Shares judged(const Work& of, const Design& design, const LimitTrials& how) {
    std::mt19937_64 random{how.seed};
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> slow{1 / design.slowed};
    std::uniform_real_distribution<double> uniform;
    const auto noise = noise_of(of);
    Shares shares;
    for (std::size_t node = 0; node < how.nodes; ++node) {
        std::vector<Margin> all;
        std::vector<Margin> undisturbed;
        bool passes = false;
        bool fails = false;
        for (std::size_t run = 0; run < design.runs; ++run) {
            const double offset = design.margin + (design.noise * of.run * normal(random));
            for (std::size_t i = 0; i < design.replicas; ++i) {
                Margin margin{.log_ratio = offset + (design.noise * of.replica * normal(random)),
                              .run = run};
                if (i % 2 == 1) margin.log_ratio -= design.half_slow;
                if (uniform(random) < design.disturbed) {
                    margin.disturbed = true;
                    margin.log_ratio -= slow(random);
                }
                all.push_back(margin);
                if (!margin.disturbed) undisturbed.push_back(margin);
            }
            // Judged after every run, like somebody who measures until it passes.
            const auto pass = decide::pass_test(all, noise);
            fails = fails || checks * decide::fail_test(undisturbed, noise).p_fail <= levels.fail;
            passes = passes || (!fails && (pass.clears || pass.p_pass <= levels.pass));
        }
        shares.passes.add(passes);
        shares.fails.add(fails);
    }
    return shares;
}

} // namespace

std::vector<Figure> limit_trials(const LimitTrials& how) {
    std::vector<Figure> figures;
    for (const auto& of : work) {
        const double s = deviation_of(of);
        const double healthy = std::max(8 * s, 0.02);
        for (const double noise : {0.5, 1.0, 2.0, 3.0}) {
            const auto name = [&](const char* what) {
                return fmt::format("{}, noise x{}: {}", of.name, noise, what);
            };
            const bool is_promised = noise <= 2;
            const auto at = [&](Design design) {
                design.noise = noise;
                return judged(of, design, how);
            };
            auto once = figure_of(name("at its limit, PASS"), at({}).passes);
            auto ten = figure_of(name("the same, ten runs"), at({.runs = 10}).passes);
            auto many =
                figure_of(name("at its limit, 40 replicas, PASS"), at({.replicas = 40}).passes);
            auto busy =
                figure_of(name("at its limit, 40% disturbed, PASS"), at({.disturbed = 0.4}).passes);
            const auto good = at({.margin = healthy, .replicas = 2});
            auto two = figure_of(name("healthy, 2 replicas, PASS"), good.passes);
            const auto five = at({.margin = healthy, .runs = 3});
            auto never = figure_of(name("healthy, 3 runs of 5, FAIL"), five.fails);
            auto slow =
                figure_of(name("10% below, 5 replicas, FAIL"), at({.margin = -0.1054}).fails);
            auto half = figure_of(name("half of its replicas 20% below, PASS"),
                                  at({.margin = 0.1, .half_slow = 0.32}).passes);
            if (is_promised) {
                for (auto* each : {&once, &ten, &many, &busy}) each->at_most = 0.01;
                half.at_most = 0.01;
                never.at_most = 0.001;
                slow.at_least = of.run <= 0.01 ? std::optional{0.95} : std::nullopt;
                // With twice the expected noise between runs no test of one run could keep both.
                if (noise <= 1) two.at_least = 0.99;
            }
            for (auto& each : {once, ten, many, busy, two, never, slow, half})
                figures.push_back(each);
        }
    }
    return figures;
}

} // namespace assay::truth
