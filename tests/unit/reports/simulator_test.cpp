// SPDX-License-Identifier: Apache-2.0

#include "predict/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::report {
namespace {

constexpr LinkCost link{.latency = 2e-6, .seconds_per_byte = 1e-10};
constexpr double bytes = 1 << 20;

double seconds(const Steps& steps) {
    return steps.messages * link.latency + steps.bytes * bytes * link.seconds_per_byte;
}
Network flat(Rank ranks) {
    return {.ranks = ranks, .ranks_per_node = 1, .within = link, .between = link};
}

const std::vector<Rank> counts{2,  3,  4,  5,  6,   7,   8,   12,  16,
                               17, 31, 48, 64, 100, 128, 192, 255, 512};

bool is_power_of_two(Rank ranks) { return (ranks & (ranks - 1)) == 0; }

/// Programs whose steps are the same on all ranks, or whose longest way is known, take just what the formula
/// says. A scatter over a number that is no power of two has a longest way of fewer bytes than all; its
/// gather waits for less.
TEST(Formulas, AreWhatTheMessagesTake) {
    for (const auto collective : collectives())
        for (const auto algorithm : algorithms())
            for (const Rank ranks : counts) {
                const auto steps = steps_of(collective, algorithm, ranks);
                if (!steps || algorithm == Algorithm::double_tree) continue;
                const auto done =
                    simulate(programs_of(collective, algorithm, ranks, 1), flat(ranks), bytes);
                ASSERT_TRUE(done) << to_string(collective) << " " << to_string(algorithm) << " "
                                  << ranks;
                const bool scatters =
                    collective == Collective::broadcast && algorithm != Algorithm::binomial_tree;
                // Where a tree is not full, a latency hides behind another message.
                const bool hides = algorithm == Algorithm::binomial_tree;
                const double lowest = scatters ? 0.7 : hides ? 0.98 : 1;
                EXPECT_LE(done->seconds, seconds(*steps) * (1 + 1e-9))
                    << to_string(collective) << " " << to_string(algorithm) << " " << ranks;
                EXPECT_GE(done->seconds, seconds(*steps) * lowest * (1 - 1e-9))
                    << to_string(collective) << " " << to_string(algorithm) << " " << ranks;
                if (is_power_of_two(ranks) && !scatters) {
                    EXPECT_NEAR(done->seconds / seconds(*steps), 1, 1e-9);
                }
            }
}

/// Sanders et al.: at full bandwidth but for the pieces on their way down; latency and pieces come on top.
TEST(Formulas, OfTheDoubleTreeIsWhatItComesTo) {
    for (const Rank ranks : {4U, 7U, 16U, 64U, 100U, 511U, 512U}) {
        constexpr std::uint32_t pieces = 256;
        const double large = 1e10; // so that latency is nothing
        const auto done =
            simulate(programs_of(Collective::allreduce, Algorithm::double_tree, ranks, pieces),
                     flat(ranks), large);
        ASSERT_TRUE(done);
        const double ideal = 2 * large * link.seconds_per_byte;
        EXPECT_GE(done->seconds, ideal * 0.9) << ranks;
        EXPECT_LE(done->seconds, ideal * 1.3) << ranks;
        const auto tiny = simulate(
            programs_of(Collective::allreduce, Algorithm::double_tree, ranks, 1), flat(ranks), 0);
        const double messages =
            steps_of(Collective::allreduce, Algorithm::double_tree, ranks)->messages;
        EXPECT_GE(tiny->seconds, messages * link.latency * 0.7) << ranks;
        EXPECT_LE(tiny->seconds, messages * link.latency * 2.1) << ranks;
    }
}

/// A formula adds latency and bytes of the node's link; in truth one rank's latency hides behind the bytes
/// of its neighbours, so that the larger of both is the least and their sum the most.
TEST(Formulas, OfLevelsBoundWhatTheMessagesTake) {
    for (const auto collective :
         {Collective::allreduce, Collective::allgather, Collective::reduce_scatter,
          Collective::broadcast, Collective::alltoall})
        for (const auto between : {Algorithm::ring, Algorithm::halving_doubling,
                                   Algorithm::recursive_doubling, Algorithm::binomial_tree})
            for (const Rank nodes : {2U, 3U, 8U, 13U, 32U})
                for (const Rank per_node : {1U, 2U, 4U, 8U}) {
                    const auto levels =
                        levels_of(collective, Algorithm::ring, between, nodes, per_node);
                    if (!levels) continue;
                    Network network{.ranks = nodes * per_node,
                                    .ranks_per_node = per_node,
                                    .within = {1e-6, 1e-11},
                                    .between = link};
                    const auto done = simulate(
                        programs_of_levels(collective, Algorithm::ring, between, nodes, per_node),
                        network, bytes);
                    ASSERT_TRUE(done);
                    const double inside =
                        levels->within.messages * network.within.latency +
                        levels->within.bytes * bytes * network.within.seconds_per_byte;
                    const double most = inside + seconds(levels->between);
                    const double least =
                        std::max(levels->between.messages * link.latency,
                                 levels->between.bytes * bytes * link.seconds_per_byte);
                    const auto what = testing::Message()
                                      << to_string(collective) << " " << to_string(between) << " "
                                      << nodes << "x" << per_node;
                    EXPECT_LE(done->seconds, most * (1 + 1e-9)) << what;
                    EXPECT_GE(done->seconds, least * 0.7) << what;
                    // No algorithm beats the link of the node.
                    EXPECT_GE(done->seconds * (1 + 1e-9),
                              least_bytes_of_node(collective, nodes, per_node) * bytes *
                                  link.seconds_per_byte *
                                  (collective == Collective::broadcast ? 0.5 : 1))
                        << what;
                }
}

TEST(Simulator, RingsStepByStepAreTheSameAsByEvents) {
    for (const Rank ranks : {2U, 3U, 16U, 100U})
        for (const double slower : {1.0, 3.0}) {
            auto network = flat(ranks);
            network.slow_rank = ranks / 2;
            network.slow_factor = slower;
            const auto steps = std::uint64_t{2} * (ranks - 1);
            const auto swept = simulate_ring(network, steps, bytes / ranks);
            const auto events = simulate(
                programs_of(Collective::allreduce, Algorithm::ring, ranks, 1), network, bytes);
            ASSERT_TRUE(events);
            EXPECT_NEAR(swept.seconds / events->seconds, 1, 1e-9) << ranks << " " << slower;
            EXPECT_EQ(swept.messages, events->messages);
        }
}

TEST(Simulator, RingsThatShareLinksAreTheSameAsByEvents) {
    for (const Rank per_node : {2U, 8U}) {
        constexpr Rank nodes = 24;
        Network network = flat(nodes * per_node);
        network.ranks_per_node = per_node;
        network.within = {}; // only what happens between nodes
        const auto swept =
            simulate_ring(network, std::uint64_t{nodes} - 1, bytes / nodes / per_node);
        const auto events = simulate(programs_of_levels(Collective::allgather, Algorithm::ring,
                                                        Algorithm::ring, nodes, per_node),
                                     network, bytes);
        ASSERT_TRUE(events);
        EXPECT_NEAR(swept.seconds / events->seconds, 1, 0.02) << per_node;
    }
}

TEST(Simulator, OneSlowRankSlowsTheWholeRing) {
    auto network = flat(64);
    network.slow_rank = 7;
    network.slow_factor = 5;
    const auto done =
        simulate(programs_of(Collective::allreduce, Algorithm::ring, 64, 1), network, bytes);
    ASSERT_TRUE(done);
    EXPECT_NEAR(done->seconds, 5 * seconds(*steps_of(Collective::allreduce, Algorithm::ring, 64)),
                1e-9);
}

/// Ranks that wait for messages that nobody sends.
TEST(Simulator, SaysWhenRanksWaitForEver) {
    class Waits final : public Program {
        std::uint32_t count(Rank /*rank*/) const override { return 1; }
        Operation at(Rank rank, std::uint32_t /*index*/) const override {
            return {.from = 1 - rank};
        }
    };
    std::vector<ProgramPointer> programs;
    programs.push_back(std::make_unique<Waits>());
    EXPECT_FALSE(simulate(programs, flat(2), bytes));
}

/// An all-reduce over k nodes of bandwidth B has a bus rate of at most B k/(k-1) (n-1)/n:
/// of two nodes of 8 GPUs and 400 GB/s 750 GB/s.
TEST(Formulas, TheBoundOfNodes) {
    const double of_byte = least_bytes_of_node(Collective::allreduce, 2, 8) / 400e9;
    EXPECT_NEAR(bus_factor(Collective::allreduce, 16) / of_byte, 750e9, 1e3);
}

} // namespace
} // namespace assay::report
