// SPDX-License-Identifier: Apache-2.0
//
// The formulas of collectives against times of a simulation that sent every message: a port or a node's link carries
// one message at a time, and ranks wait for slow ones.

#include "predict/formulas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::report {
namespace {

struct Link {
    double latency;
    double seconds_per_byte;
    double seconds(const Steps& steps) const {
        return steps.messages * latency + steps.bytes * (1 << 20) * seconds_per_byte;
    }
};
constexpr Link inside{.latency = 1e-6, .seconds_per_byte = 1e-11};
constexpr Link between{.latency = 2e-6, .seconds_per_byte = 1e-10};

struct Layout {
    double nodes;
    double ranks_per_node;
};
constexpr std::array<double, 4> flat{2, 7, 16, 100}; ///< ranks, each on a node
constexpr std::array<Layout, 4> layouts{{{2, 8}, {3, 4}, {8, 8}, {32, 2}}};

/// Microseconds for 1 MiB, by `flat` and `layouts`; with a ring within nodes. 0: there is no formula.
struct Row {
    Collective collective;
    Algorithm algorithm;
    std::array<double, 4> flat;
    std::array<double, 4> levels;
};
constexpr std::array simulated{
    Row{Collective::allreduce,
        Algorithm::ring,
        {108.8576, 203.7559, 256.608, 603.618},
        {139.2077, 163.5388, 217.8509, 239.705}},
    Row{Collective::allreduce,
        Algorithm::recursive_doubling,
        {106.8576, 427.4304, 427.4304, 854.8608},
        {139.2077, 261.6582, 348.9229, 538.7738}},
    Row{Collective::allreduce,
        Algorithm::halving_doubling,
        {108.8576, 379.0016, 212.608, 444.1536},
        {139.2077, 300.9798, 217.8509, 218.3706}},
    Row{Collective::allreduce,
        Algorithm::binomial_tree,
        {213.7152, 639.1456, 854.8608, 1494.006},
        {154.3149, 366.5158, 573.7453, 1012.633}},
    Row{Collective::allgather,
        Algorithm::ring,
        {54.4288, 101.8779, 128.304, 301.809},
        {70.60384, 82.76939, 109.9254, 120.6717}},
    Row{Collective::allgather,
        Algorithm::halving_doubling,
        {54.4288, 95.87794, 106.304, 117.809},
        {70.60384, 82.76939, 109.9254, 110.1853}},
    Row{Collective::reduce_scatter,
        Algorithm::ring,
        {54.4288, 101.8779, 128.304, 301.809},
        {70.60384, 82.76939, 109.9254, 120.6717}},
    Row{Collective::reduce_scatter,
        Algorithm::halving_doubling,
        {54.4288, 95.87794, 106.304, 117.809},
        {70.60384, 82.76939, 109.9254, 110.1853}},
    Row{Collective::broadcast,
        Algorithm::ring,
        {108.8576, 197.7559, 234.608, 419.618},
        {135.2077, 162.5388, 213.8509, 229.2186}},
    Row{Collective::broadcast, Algorithm::halving_doubling, {108.8576, 0, 212.608, 0}, {}},
    Row{Collective::broadcast,
        Algorithm::binomial_tree,
        {106.8576, 320.5728, 427.4304, 748.0032},
        {135.2077, 232.4438, 344.9229, 538.7738}},
    Row{Collective::alltoall,
        Algorithm::ring,
        {54.4288, 101.8779, 128.304, 301.809},
        {437.6054, 292.4846, 752.1782, 211.4045}},
    Row{Collective::alltoall,
        Algorithm::recursive_doubling,
        {54.4288, 140.8169, 217.7152, 345.35},
        {437.6054, 292.4846, 1276.466, 532.5309}},
    Row{Collective::send_receive, Algorithm::direct, {106.8576, 106.8576, 106.8576, 106.8576}, {}},
};

testing::Message what(const Row& row, double nodes, double ranks_per_node) {
    return testing::Message() << to_string(row.collective) << " " << to_string(row.algorithm) << " "
                              << nodes << "x" << ranks_per_node;
}

/// A scatter over a number that is no power of two has a longest way of fewer bytes than all; its gather waits for less.
/// Where a tree is not full, a latency hides behind another message.
TEST(Formulas, AreWhatTheMessagesTake) {
    for (const auto& row : simulated)
        for (std::size_t i = 0; i < flat.size(); ++i) {
            const auto steps = steps_of(row.collective, row.algorithm, flat[i]);
            const auto name = what(row, flat[i], 1);
            ASSERT_EQ(steps.has_value(), row.flat[i] > 0) << name;
            if (!steps) continue;
            const bool scatters = row.collective == Collective::broadcast &&
                                  row.algorithm != Algorithm::binomial_tree;
            const bool hides = row.algorithm == Algorithm::binomial_tree;
            const double ratio = row.flat[i] * 1e-6 / between.seconds(*steps);
            EXPECT_LE(ratio, 1 + 1e-6) << name;
            EXPECT_GE(ratio, (scatters ? 0.7 : hides ? 0.98 : 1) - 1e-6) << name;
        }
}

/// A formula adds latency and bytes of the node's link; in truth one rank's latency hides behind the bytes of its
/// neighbours, so that the larger of both is the least and their sum the most.
TEST(Formulas, OfLevelsBoundWhatTheMessagesTake) {
    for (const auto& row : simulated)
        for (std::size_t i = 0; i < layouts.size(); ++i) {
            if (row.collective == Collective::send_receive) continue;
            const auto [nodes, ranks_per_node] = layouts[i];
            const auto levels =
                levels_of(row.collective, Algorithm::ring, row.algorithm, nodes, ranks_per_node);
            const auto name = what(row, nodes, ranks_per_node);
            ASSERT_EQ(levels.has_value(), row.levels[i] > 0) << name;
            if (!levels) continue;
            const double seconds = row.levels[i] * 1e-6;
            const double bytes = between.seconds({.bytes = levels->between.bytes});
            const double latency = between.seconds({.messages = levels->between.messages});
            EXPECT_LE(seconds, (inside.seconds(levels->within) + bytes + latency) * (1 + 1e-6))
                << name;
            EXPECT_GE(seconds, std::max(bytes, latency) * 0.7) << name;
            // No algorithm beats the link of the node.
            const double least = least_bytes_of_node(row.collective, nodes, ranks_per_node);
            EXPECT_GE(seconds * (1 + 1e-6), between.seconds({.bytes = least}) *
                                                (row.collective == Collective::broadcast ? 0.5 : 1))
                << name;
        }
}

/// Sanders et al.: up and down two trees at full bandwidth.
TEST(Formulas, OfTheDoubleTreeSendsEachByteTwice) {
    const auto steps = steps_of(Collective::allreduce, Algorithm::double_tree, 100);
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->messages, 14);
    EXPECT_EQ(steps->bytes, 2);
}

/// An all-reduce over k nodes of bandwidth B has a bus rate of at most B k/(k-1) (n-1)/n:
/// of two nodes of 8 GPUs and 400 GB/s 750 GB/s.
TEST(Formulas, TheBoundOfNodes) {
    const double of_byte = least_bytes_of_node(Collective::allreduce, 2, 8) / 400e9;
    EXPECT_NEAR(bus_factor(Collective::allreduce, 16) / of_byte, 750e9, 1e3);
}

} // namespace
} // namespace assay::report
