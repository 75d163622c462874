// SPDX-License-Identifier: Apache-2.0
//
// A simulated fabric of 1,000 nodes, 32 to a switch, played by the schedule of collective.fabric and searched by its
// search; what is planted is found, and nobody else is accused.

#include "collective/fabric_rounds.hpp"
#include "decide/culprits.hpp"
#include "decide/fabric.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using namespace testing;

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

    std::vector<decide::FabricPair> play(std::uint64_t seed) const {
        std::mt19937_64 random{seed};
        const auto rounds = collective::fabric_rounds(nodes, 8);
        std::vector<decide::FabricPair> pairs;
        std::vector<collective::Seen> seen;
        const auto place = [&](const collective::Pair& pair) -> decide::FabricPair& {
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
    decide::FabricFindings find(std::uint64_t seed, bool with_groups = true) const {
        decide::FabricKind kind{.groups = static_cast<std::size_t>(switch_of(nodes - 1) + 1),
                                .of_node = {}};
        for (int n = 0; n < nodes; ++n)
            kind.of_node.push_back(static_cast<std::size_t>(switch_of(n)));
        const auto pairs = play(seed);
        const std::vector<decide::FabricKind> kinds{kind};
        return find_in_fabric(
            pairs, static_cast<std::size_t>(nodes),
            with_groups ? std::span{kinds} : std::span<const decide::FabricKind>{}, 0);
    }
};

TEST(FabricCulprits, OfAGoodFabricAreSeldomCalled) {
    int called = 0;
    constexpr int runs = 60;
    for (int seed = 0; seed < runs; ++seed) {
        Fabric fabric{.nodes = seed % 2 == 0 ? 1000 : 96, .of_switch = seed % 2 == 0 ? 32 : 16};
        if (seed % 3 == 0) fabric.blocking = 2; // not a fault of a node
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
        EXPECT_EQ(found.nodes[0].alone, decide::Alone::slow);
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
    EXPECT_EQ(found.links[0].alone, decide::Alone::slow);
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
    EXPECT_EQ(found.groups[0].alone, decide::Alone::slow);
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
    EXPECT_EQ(found.groups[0].alone, decide::Alone::fine);
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
    const auto found = decide::find_in_fabric({}, 3, {}, 0);
    EXPECT_THAT(found.never, SizeIs(3));
    EXPECT_FALSE(found.is_enough);
    std::vector<decide::FabricPair> pairs{{0, 1, usual, usual, nothing, nothing},
                                          {0, 2, usual / 9, usual / 9, nothing, nothing},
                                          {0, 9, usual, usual, nothing, nothing}};
    const auto few = find_in_fabric(pairs, 4, {}, 0);
    EXPECT_EQ(few.pairs, 2U);
    EXPECT_THAT(few.never, ElementsAre(3U));
    EXPECT_FALSE(few.is_enough);
    EXPECT_THAT(few.nodes, IsEmpty());
}

// --- a system of few nodes ---------------------------------------------------------------------------

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
    decide::Culprits find() const {
        return decide::find_culprits({.nodes = nodes, .values = times});
    }
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
        decide::find_culprits({.nodes = 8, .values = system.times, .higher_is_better = true});
    ASSERT_THAT(found.links, SizeIs(1));
    EXPECT_EQ(found.links[0].from, 2U);
    EXPECT_THAT(decide::find_culprits({.nodes = 8, .values = system.times}).links, IsEmpty());
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
    EXPECT_THAT(
        decide::find_culprits({.nodes = 8, .values = system.times, .log_noise = 0.05}).links,
        IsEmpty());
}

TEST(Culprits, OfTooLittleOrBrokenInputIsNothing) {
    EXPECT_THAT(decide::find_culprits({}).nodes, IsEmpty());
    System system{3, 0, 1};
    system.slow_link(0, 1, 10);
    EXPECT_THAT(system.find().links, IsEmpty()) << "three pairs do not tell a link from an end";
    std::vector<double> broken(64, nothing);
    EXPECT_EQ(decide::find_culprits({.nodes = 8, .values = broken}).pairs, 0U);
    broken.assign(64, -1);
    EXPECT_EQ(decide::find_culprits({.nodes = 8, .values = broken}).pairs, 0U);
    broken.assign(64, 1);
    const auto flat = decide::find_culprits({.nodes = 8, .values = broken});
    EXPECT_THAT(flat.links, IsEmpty());
    EXPECT_THAT(flat.nodes, IsEmpty());
}

} // namespace
} // namespace assay::stats
