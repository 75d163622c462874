// SPDX-License-Identifier: Apache-2.0
//
// A simulated fabric of 1,000 nodes, 32 to a switch, played by the schedule of collective.fabric and searched by its
// search; what is planted is found, and nobody else is accused.

#include "collective/fabric_rounds.hpp"
#include "decide/fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double usual = 12e9; // bytes per second

/// Slowdowns of a pair; what is shared slows pairs only if all play at once.
struct Fabric {
    int nodes = 1000;
    int of_switch = 32;
    double noise = 0.02;
    double blocking = 1;
    std::vector<double> node = std::vector<double>(static_cast<std::size_t>(nodes), 1.0);
    std::function<double(int, int)> path = [](int, int) { return 1.0; };
    std::function<double(int, int)> shared = [](int, int) { return 1.0; };

    int switch_of(int n) const { return n / of_switch; }
    bool crosses(int a, int b) const { return switch_of(a) != switch_of(b); }

    double rate(int a, int b, bool alone, std::mt19937_64& random) const {
        std::normal_distribution<> normal;
        double slower =
            node[static_cast<std::size_t>(a)] * node[static_cast<std::size_t>(b)] * path(a, b);
        if (!alone) slower *= shared(a, b) * (crosses(a, b) ? blocking : 1);
        return usual / slower * std::exp(noise * normal(random));
    }

    std::vector<FabricPair> play(std::uint64_t seed) const {
        std::mt19937_64 random{seed};
        const auto rounds = collective::fabric_rounds(nodes, 8);
        std::vector<FabricPair> pairs;
        std::vector<collective::Seen> seen;
        const auto place = [&](const collective::Pair& pair) -> FabricPair& {
            for (auto& known : pairs)
                if (known.from == static_cast<std::size_t>(pair.first) &&
                    known.to == static_cast<std::size_t>(pair.second))
                    return known;
            return pairs.emplace_back(static_cast<std::size_t>(pair.first),
                                      static_cast<std::size_t>(pair.second), nothing, nothing,
                                      nothing, nothing);
        };
        for (const auto& round : rounds)
            for (const auto& pair : round) {
                const auto [a, b] = pair;
                pairs.push_back({static_cast<std::size_t>(a), static_cast<std::size_t>(b),
                                 rate(a, b, false, random), rate(a, b, false, random), nothing,
                                 nothing});
                seen.push_back(
                    {.pair = pair, .seconds = 1 / std::min(pairs.back().there, pairs.back().back)});
            }
        auto alone = collective::sample_of(rounds, 128);
        std::ranges::copy(collective::Search{nodes, seen}.pairs(), std::back_inserter(alone));
        for (const auto& pair : alone) {
            auto& known = place(pair);
            known.there_alone = rate(pair.first, pair.second, true, random);
            known.back_alone = rate(pair.first, pair.second, true, random);
        }
        return pairs;
    }
    FabricFindings find(std::uint64_t seed, bool with_groups = true) const {
        FabricKind kind{.groups = static_cast<std::size_t>(switch_of(nodes - 1) + 1),
                        .of_node = {}};
        for (int n = 0; n < nodes; ++n)
            kind.of_node.push_back(static_cast<std::size_t>(switch_of(n)));
        const auto pairs = play(seed);
        const std::vector<FabricKind> kinds{kind};
        return find_in_fabric(pairs, static_cast<std::size_t>(nodes),
                              with_groups ? std::span{kinds} : std::span<const FabricKind>{}, 0);
    }
};

TEST(FabricCulprits, OfAGoodFabricAreSeldomCalled) {
    int called = 0;
    constexpr int runs = 60;
    for (int seed = 0; seed < runs; ++seed) {
        Fabric fabric{.nodes = seed % 2 == 0 ? 1000 : 96, .of_switch = seed % 2 == 0 ? 32 : 16};
        if (seed % 3 == 0) fabric.blocking = 2; // which is no node's fault
        const auto found = fabric.find(300U + static_cast<std::uint64_t>(seed));
        called += found.groups.empty() && found.trunks.empty() && found.shared.empty() &&
                          found.nodes.empty() && found.links.empty() && found.one_way.empty()
                      ? 0
                      : 1;
        EXPECT_THAT(found.never, IsEmpty());
    }
    EXPECT_LE(called, runs / 10) << "six families, each held to 1%";
}

TEST(FabricCulprits, ASlowNodeIsNamedBySeveralPartnersAndAlone) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Fabric fabric;
        fabric.node[333] = 1.5;
        const auto found = fabric.find(seed);
        ASSERT_THAT(found.nodes, SizeIs(1));
        EXPECT_EQ(found.nodes[0].node, 333U);
        EXPECT_NEAR(found.nodes[0].slowdown, 1.5, 0.05);
        EXPECT_EQ(found.nodes[0].alone, Alone::slow);
        EXPECT_THAT(found.groups, IsEmpty());
        EXPECT_LE(found.links.size(), 1U);
    }
}

TEST(FabricCulprits, ASlowLinkIsNamedWhereItWasMeasured) {
    Fabric fabric;
    const auto link = collective::fabric_rounds(1000, 8)[12].front();
    fabric.path = [&](int a, int b) { return collective::Pair{a, b} == link ? 2.0 : 1.0; };
    const auto found = fabric.find(3);
    ASSERT_THAT(found.links, SizeIs(1));
    EXPECT_EQ(found.links[0].from, static_cast<std::size_t>(link.first));
    EXPECT_EQ(found.links[0].to, static_cast<std::size_t>(link.second));
    EXPECT_NEAR(found.links[0].slowdown, 2, 0.15);
    EXPECT_EQ(found.links[0].alone, Alone::slow);
    EXPECT_THAT(found.nodes, IsEmpty());
}

TEST(FabricCulprits, ASwitchWhoseNodesAreAllSlowIsNamedAndNotItsNodes) {
    Fabric fabric;
    for (std::size_t n = 160; n < 192; ++n) fabric.node[n] = 1.4;
    fabric.node[170] = 1.4 * 2;
    const auto found = fabric.find(4);
    ASSERT_THAT(found.groups, SizeIs(1));
    EXPECT_EQ(found.groups[0].group, 5U);
    EXPECT_NEAR(found.groups[0].slowdown, 1.4, 0.05);
    EXPECT_EQ(found.groups[0].alone, Alone::slow);
    ASSERT_THAT(found.nodes, SizeIs(1)) << "the one that is slower than its switch explains";
    EXPECT_EQ(found.nodes[0].node, 170U);
    EXPECT_NEAR(found.nodes[0].slowdown, 2, 0.1);
}

TEST(FabricCulprits, ASwitchThatBlocksIsFineAlone) {
    Fabric fabric;
    fabric.shared = [&](int a, int b) {
        return fabric.crosses(a, b) && (fabric.switch_of(a) == 7 || fabric.switch_of(b) == 7) ? 2.5
                                                                                              : 1.0;
    };
    const auto found = fabric.find(5);
    ASSERT_THAT(found.groups, SizeIs(1));
    EXPECT_EQ(found.groups[0].group, 7U);
    EXPECT_NEAR(found.groups[0].slowdown, 2.5, 0.2);
    EXPECT_EQ(found.groups[0].alone, Alone::fine);
    EXPECT_THAT(found.nodes, IsEmpty());
}

TEST(FabricCulprits, WhatJoinsTwoSwitchesIsNamedAsThat) {
    Fabric fabric;
    fabric.path = [&](int a, int b) {
        const int one = fabric.switch_of(a);
        const int other = fabric.switch_of(b);
        return std::min(one, other) == 3 && std::max(one, other) == 11 ? 3.0 : 1.0;
    };
    const auto found = fabric.find(6);
    ASSERT_THAT(found.trunks, SizeIs(1));
    EXPECT_EQ(found.trunks[0].from, 3U);
    EXPECT_EQ(found.trunks[0].to, 11U);
    EXPECT_NEAR(found.trunks[0].slowdown, 3, 0.3);
    EXPECT_THAT(found.links, IsEmpty());
    EXPECT_THAT(found.groups, IsEmpty());
}

TEST(FabricCulprits, OneOfManyUplinksIsFoundByTheLinksThatShareItsSwitch) {
    Fabric fabric;
    // One of 16 ways up from switch 9 is at a quarter; a hash of the addresses decides who takes it.
    fabric.path = [&](int a, int b) {
        const bool leaves =
            fabric.crosses(a, b) && (fabric.switch_of(a) == 9 || fabric.switch_of(b) == 9);
        return leaves && random_bits(1, static_cast<std::uint64_t>(a * 1000 + b)) % 16 == 0 ? 4.0
                                                                                            : 1.0;
    };
    const auto found = fabric.find(7);
    ASSERT_THAT(found.shared, SizeIs(1));
    EXPECT_EQ(found.shared[0].group, 9U);
    EXPECT_GE(found.shared[0].links, 10U);
    EXPECT_EQ(found.shared[0].links, found.shared[0].of);
    EXPECT_NEAR(found.shared[0].slowdown, 4, 0.4);
    EXPECT_THAT(found.links, IsEmpty());
    EXPECT_THAT(found.groups, IsEmpty());
}

TEST(FabricCulprits, AFabricThatBlocksAltogetherIsSaidOnce) {
    Fabric fabric;
    fabric.blocking = 2;
    const auto found = fabric.find(8);
    EXPECT_GE(found.blocking.pairs, 100U);
    EXPECT_NEAR(found.blocking.slowdown, 2, 0.1);
    EXPECT_LT(found.blocking.low, found.blocking.slowdown);
    EXPECT_THAT(found.groups, IsEmpty());
    EXPECT_THAT(found.nodes, IsEmpty());
}

TEST(FabricCulprits, WithoutGroupsTheNodesAreNamed) {
    Fabric fabric;
    for (std::size_t n = 160; n < 192; ++n) fabric.node[n] = 1.4;
    const auto found = fabric.find(9, false);
    EXPECT_THAT(found.groups, IsEmpty());
    EXPECT_THAT(found.nodes, SizeIs(32));
}

TEST(FabricCulprits, NodesWithoutAPairAreNamedAndTooLittleCallsNothing) {
    const auto found = find_in_fabric({}, 3, {}, 0);
    EXPECT_THAT(found.never, SizeIs(3));
    EXPECT_FALSE(found.is_enough);
    std::vector<FabricPair> pairs{{0, 1, usual, usual, nothing, nothing},
                                  {0, 2, usual / 9, usual / 9, nothing, nothing},
                                  {0, 9, usual, usual, nothing, nothing}};
    const auto few = find_in_fabric(pairs, 4, {}, 0);
    EXPECT_EQ(few.pairs, 2U);
    EXPECT_THAT(few.never, testing::ElementsAre(3U));
    EXPECT_FALSE(few.is_enough);
    EXPECT_THAT(few.nodes, IsEmpty());
}

} // namespace
} // namespace assay::stats
