// SPDX-License-Identifier: Apache-2.0

#include "decide/culprits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Times of every pair, 1 ms with noise, in both directions.
struct System {
    std::size_t nodes;
    std::vector<double> times;

    System(std::size_t count, double noise, std::uint64_t seed)
        : nodes{count}, times(count * count) {
        std::mt19937_64 random{seed};
        std::normal_distribution<> normal;
        for (double& time : times) time = 1e-3 * std::exp(noise * normal(random));
        for (std::size_t i = 0; i < nodes; ++i) at(i, i) = nothing;
    }
    double& at(std::size_t from, std::size_t to) { return times[from * nodes + to]; }
    void slow_link(std::size_t a, std::size_t b, double factor) {
        at(a, b) *= factor;
        at(b, a) *= factor;
    }
    void slow_node(std::size_t node, double factor) {
        for (std::size_t other = 0; other < nodes; ++other)
            if (other != node) slow_link(node, other, factor);
    }
    Culprits find() const { return find_culprits({.nodes = nodes, .values = times}); }
};

TEST(Culprits, OfNoiseAreSeldomCalled) {
    int called = 0;
    constexpr int runs = 600;
    for (int seed = 0; seed < runs; ++seed) {
        const std::size_t nodes =
            std::vector<std::size_t>{5, 8, 16}[static_cast<std::size_t>(seed % 3)];
        const auto found = System{nodes, seed % 2 == 0 ? 0.03 : 0.1, 7000U + seed}.find();
        called += found.nodes.empty() && found.links.empty() && found.one_way.empty() ? 0 : 1;
    }
    // Three families, each held to 1%.
    EXPECT_LE(called, runs * 5 / 100);
}

TEST(Culprits, ASlowLinkIsNamedAndNobodyElse) {
    int found_it = 0;
    int others = 0;
    constexpr int runs = 200;
    for (int seed = 0; seed < runs; ++seed) {
        System system{8, 0.03, 100U + seed};
        system.slow_link(2, 5, 1.3);
        const auto found = system.find();
        if (!found.links.empty() && found.links[0].from == 2 && found.links[0].to == 5) ++found_it;
        others += found.nodes.empty() && found.links.size() <= 1 ? 0 : 1;
    }
    EXPECT_GE(found_it, runs * 98 / 100);
    EXPECT_LE(others, runs * 5 / 100);
}

TEST(Culprits, ASlowNodeIsNamedAndNotItsLinks) {
    int found_it = 0;
    int others = 0;
    constexpr int runs = 200;
    for (int seed = 0; seed < runs; ++seed) {
        System system{8, 0.03, 500U + seed};
        system.slow_node(3, 1.2);
        const auto found = system.find();
        if (!found.nodes.empty() && found.nodes[0].node == 3) {
            ++found_it;
            EXPECT_NEAR(found.nodes[0].slowdown, 1.2, 0.08);
        }
        others += found.nodes.size() <= 1 && found.links.empty() ? 0 : 1;
    }
    EXPECT_GE(found_it, runs * 98 / 100);
    EXPECT_LE(others, runs * 5 / 100);
}

TEST(Culprits, SeveralAreRankedAndMissingPairsDoNotMatter) {
    System system{16, 0.02, 9};
    system.slow_node(11, 1.5);
    system.slow_link(0, 4, 3);
    system.slow_link(1, 2, 1.4);
    for (std::size_t i = 0; i + 3 < 16; ++i) system.at(i, i + 3) = system.at(i + 3, i) = nothing;
    for (std::size_t i = 0; i + 5 < 16; ++i) system.at(i + 5, i) = nothing;
    const auto found = system.find();
    ASSERT_THAT(found.nodes, SizeIs(1));
    EXPECT_EQ(found.nodes[0].node, 11U);
    ASSERT_THAT(found.links, SizeIs(2));
    EXPECT_EQ(found.links[0].to, 4U);
    EXPECT_NEAR(found.links[0].slowdown, 3, 0.2);
    EXPECT_EQ(found.links[1].to, 2U);
}

TEST(Culprits, APairThatIsSlowOneWayIsNamedWithItsDirection) {
    System system{8, 0.03, 4};
    system.at(6, 1) *= 1.5;
    const auto found = system.find();
    ASSERT_THAT(found.one_way, SizeIs(1));
    EXPECT_EQ(found.one_way[0].from, 6U);
    EXPECT_EQ(found.one_way[0].to, 1U);
    EXPECT_NEAR(found.one_way[0].ratio, 1.5, 0.2);
}

TEST(Culprits, OfRatesAreTheLowOnes) {
    System system{8, 0.03, 5};
    system.slow_link(2, 5, 1.5);
    for (double& time : system.times) time = 1 / time;
    const auto found =
        find_culprits({.nodes = 8, .values = system.times, .higher_is_better = true});
    ASSERT_THAT(found.links, SizeIs(1));
    EXPECT_EQ(found.links[0].from, 2U);
    EXPECT_THAT(find_culprits({.nodes = 8, .values = system.times}).links, IsEmpty());
}

/// Half of the pairs cross a socket: that is how the machine is, and no pair is to blame.
TEST(Culprits, TheShapeOfAMachineIsNoCulprit) {
    for (int seed = 0; seed < 20; ++seed) {
        System system{16, 0.02, 40U + seed};
        for (std::size_t a = 0; a < 8; ++a)
            for (std::size_t b = 8; b < 16; ++b) system.slow_link(a, b, 2);
        const auto found = system.find();
        EXPECT_THAT(found.nodes, IsEmpty());
        EXPECT_THAT(found.links, IsEmpty());
    }
}

TEST(Culprits, KnownNoiseHoldsBackWhatALuckyMatrixWouldCall) {
    System system{8, 0.002, 6};
    system.slow_link(2, 5, 1.08);
    EXPECT_THAT(system.find().links, SizeIs(1));
    EXPECT_THAT(find_culprits({.nodes = 8, .values = system.times, .log_noise = 0.05}).links,
                IsEmpty());
}

TEST(Culprits, OfTooLittleOrBrokenInputIsNothing) {
    EXPECT_THAT(find_culprits({}).nodes, IsEmpty());
    System system{3, 0, 1};
    system.slow_link(0, 1, 10);
    EXPECT_THAT(system.find().links, IsEmpty()) << "three pairs do not tell a link from an end";
    std::vector<double> broken(64, nothing);
    EXPECT_EQ(find_culprits({.nodes = 8, .values = broken}).pairs, 0U);
    broken.assign(64, -1);
    EXPECT_EQ(find_culprits({.nodes = 8, .values = broken}).pairs, 0U);
    broken.assign(64, 1);
    const auto flat = find_culprits({.nodes = 8, .values = broken});
    EXPECT_THAT(flat.links, IsEmpty());
    EXPECT_THAT(flat.nodes, IsEmpty());
}

} // namespace
} // namespace assay::stats
