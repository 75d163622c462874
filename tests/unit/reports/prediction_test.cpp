// SPDX-License-Identifier: Apache-2.0
//
// The formulas of collectives against times of a simulation that sent every message (a port or a node's link carries
// one message at a time, and ranks wait for slow ones), and predictions against a network that is known.

#include "predict/document.hpp"
#include "predict/prediction.hpp"
#include "support/measured_collective.hpp"
#include "write/formats.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::predict {
namespace {

using namespace testing;

PredictOptions target(double nodes, double per_node) {
    return {.nodes = nodes,
            .ranks_per_node = per_node,
            .sizes = {1024, 1 << 20, 1 << 30},
            .algorithm = {},
            .node_bandwidth = {},
            .filter = {}};
}

PredictedCurve only_curve(const store::Collection& collection, const PredictOptions& options) {
    const auto prediction = predict_collective(collection, options);
    EXPECT_TRUE(prediction);
    EXPECT_THAT(prediction->curves, SizeIs(1));
    return prediction->curves.front();
}

/// The truth at 128 times the nodes and 16 times the size lies in the interval nearly always.
TEST(Prediction, HoldsFarFromWhatWasMeasured) {
    int held = 0;
    int all = 0;
    for (const auto between : {Algorithm::ring, Algorithm::halving_doubling})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const TrueNetwork truth{.between = between};
            const auto curve =
                only_curve(measured_allreduce(truth, {1, 2, 4, 8}, 8, 0.02, seed), target(1024, 8));
            ASSERT_EQ(curve.reason, "");
            for (const auto& time : curve.times) {
                const double seconds = truth.seconds(1024, 8, time.bytes);
                held += time.seconds.low <= seconds && seconds <= time.seconds.high ? 1 : 0;
                ++all;
            }
        }
    EXPECT_GE(held, all * 9 / 10) << held << " of " << all;
}

TEST(Prediction, OfExactTimesFindsAlgorithmLinksAndBound) {
    const auto curve = only_curve(measured_allreduce({}, {1, 2, 4}, 8, 0, 1), target(64, 8));
    ASSERT_THAT(curve.segments, SizeIs(1));
    EXPECT_THAT(curve.segments[0].possible, IsEmpty());
    ASSERT_THAT(curve.segments[0].links, SizeIs(2));
    EXPECT_NEAR(curve.segments[0].links[0].latency.value, 1e-6, 1e-9);
    EXPECT_NEAR(1 / curve.segments[0].links[1].seconds_per_byte.value, 50e9, 1e6);
    const auto& last = curve.times.back();
    EXPECT_NEAR(last.seconds.value, TrueNetwork{}.seconds(64, 8, 1 << 30), 1e-5);
    ASSERT_TRUE(last.most_bus_rate);
    EXPECT_NEAR(*last.most_bus_rate, 50e9 * 64 / 63 * 511 / 512, 1e6);
    EXPECT_LT(last.bus_rate, *last.most_bus_rate);
    EXPECT_THAT(curve.warnings, SizeIs(2)); // nodes, and the largest size
}

TEST(Prediction, OfTheMeasuredLayoutAssumesNoAlgorithm) {
    const auto curve = only_curve(measured_allreduce({}, {1, 2, 4}, 8, 0.01, 1), target(4, 8));
    EXPECT_THAT(curve.segments[0].algorithm, HasSubstr("no algorithm assumed"));
    EXPECT_THAT(curve.layouts, SizeIs(1));
}

/// An 8-GPU node and the data sheet of its network cards.
TEST(Prediction, OfOneNodeTheBandwidthGivenBoundsAllAlgorithms) {
    auto options = target(2, 8);
    options.node_bandwidth = 400e9;
    const auto prediction =
        predict_collective(measured_allreduce({}, {1}, 8, 0.01, 1), options).value();
    EXPECT_FALSE(has_prediction(prediction));
    ASSERT_TRUE(prediction.bound);
    EXPECT_NEAR(prediction.bound->bus_rate, 1.875 * 400e9, 1) << "B k/(k-1) (n-1)/n";
    const double sent = 2.0 * (1 << 30) * 15 / 16; // each rank of an ideal algorithm
    EXPECT_NEAR(prediction.bound->seconds.back(), sent / prediction.bound->bus_rate, 1e-9);
    EXPECT_THAT(write::to_terminal({{make_document(prediction)}}), HasSubstr("at most 750 GB/s"));
}

TEST(Prediction, OfTooLittleSaysWhatIsMissing) {
    const auto one_node = measured_allreduce({}, {1}, 8, 0.01, 1);
    EXPECT_THAT(only_curve(one_node, target(2, 8)).reason, HasSubstr("one node"));
    EXPECT_THAT(only_curve(one_node, target(1, 4)).reason, HasSubstr("--algorithm"));
    auto assumed = target(1, 4);
    assumed.algorithm = Algorithm::ring;
    const auto curve = only_curve(one_node, assumed);
    EXPECT_EQ(curve.reason, "");
    EXPECT_NEAR(curve.times[1].seconds.value / TrueNetwork{}.seconds(1, 4, 1 << 20), 1, 0.05);
    EXPECT_THAT(only_curve(measured_allreduce({}, {2}, 8, 0.01, 1), target(64, 8)).reason,
                HasSubstr("only "));
    auto other = target(2, 8);
    other.collective = Collective::alltoall;
    EXPECT_FALSE(has_prediction(*predict_collective(one_node, other)));
}

/// The first lines: the figure and its interval, how far it is extrapolated, and what to measure to be surer.
TEST(Prediction, SaysHowFarItGoesAndWhatWouldMakeItSurer) {
    const auto collection = measured_allreduce({}, {1, 2, 4}, 8, 0.01, 1);
    const auto far = make_document(*predict_collective(collection, target(1024, 8)));
    EXPECT_THAT(far.verdict, MatchesRegex("allreduce of 1 GiB over 8192 ranks takes [0-9.]+ ms "
                                          ".95%: [0-9.]+ ms to [0-9.]+ ms.: .*"));
    EXPECT_THAT(far.lead,
                ElementsAre(HasSubstr("256 times"), HasSubstr("the largest size measured"),
                            "To be surer, measure on 64 nodes: assay run collective.allreduce "
                            "--hostfile hosts"));
    const auto near = make_document(*predict_collective(
        collection, {.nodes = 4, .ranks_per_node = 8, .sizes = {1024, 1 << 20}}));
    EXPECT_THAT(near.lead, ElementsAre(HasSubstr("Nothing is extrapolated")));
    // A curve with a band, from the smallest size asked for to the largest.
    const auto& chart = std::get<document::Chart>(far.sections.front().blocks.front());
    const auto& points = std::get<document::CurveChart>(chart.data).curves.at(0).points;
    ASSERT_EQ(points.size(), 21U);
    EXPECT_EQ(points.front().x, 1024);
    EXPECT_EQ(points.back().x, 1 << 30);
    for (const auto& point : points) {
        EXPECT_LT(point.low.value(), point.y);
        EXPECT_GT(point.high.value(), point.y);
    }
}

TEST(Prediction, CasesThatSayTooLittleAreListed) {
    auto collection = measured_allreduce({}, {1, 2}, 8, 0.01, 1);
    collection.settings[0].clear();
    collection.settings[1] = {{"ranks", std::int64_t{7}}, {"machines", std::int64_t{2}}};
    collection.observations[2].value = -1;
    const auto prediction = predict_collective(collection, target(2, 8)).value();
    EXPECT_THAT(prediction.not_used, SizeIs(3));
    EXPECT_TRUE(has_prediction(prediction));
}

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

using enum Algorithm;
using enum Collective;
/// Microseconds for 1 MiB. 0: there is no formula.
struct Simulated {
    Collective collective;
    Algorithm algorithm;
    std::array<double, 4> microseconds;
};
constexpr Simulated on_flat[] = {
    {allreduce, ring, {108.8576, 203.7559, 256.608, 603.618}},
    {allreduce, recursive_doubling, {106.8576, 427.4304, 427.4304, 854.8608}},
    {allreduce, halving_doubling, {108.8576, 379.0016, 212.608, 444.1536}},
    {allreduce, binomial_tree, {213.7152, 639.1456, 854.8608, 1494.006}},
    {allgather, ring, {54.4288, 101.8779, 128.304, 301.809}},
    {allgather, halving_doubling, {54.4288, 95.87794, 106.304, 117.809}},
    {reduce_scatter, ring, {54.4288, 101.8779, 128.304, 301.809}},
    {reduce_scatter, halving_doubling, {54.4288, 95.87794, 106.304, 117.809}},
    {broadcast, ring, {108.8576, 197.7559, 234.608, 419.618}},
    {broadcast, halving_doubling, {108.8576, 0, 212.608, 0}},
    {broadcast, binomial_tree, {106.8576, 320.5728, 427.4304, 748.0032}},
    {alltoall, ring, {54.4288, 101.8779, 128.304, 301.809}},
    {alltoall, recursive_doubling, {54.4288, 140.8169, 217.7152, 345.35}},
    {send_receive, direct, {106.8576, 106.8576, 106.8576, 106.8576}},
};
/// With a ring within nodes.
constexpr Simulated on_levels[] = {
    {allreduce, ring, {139.2077, 163.5388, 217.8509, 239.705}},
    {allreduce, recursive_doubling, {139.2077, 261.6582, 348.9229, 538.7738}},
    {allreduce, halving_doubling, {139.2077, 300.9798, 217.8509, 218.3706}},
    {allreduce, binomial_tree, {154.3149, 366.5158, 573.7453, 1012.633}},
    {allgather, ring, {70.60384, 82.76939, 109.9254, 120.6717}},
    {allgather, halving_doubling, {70.60384, 82.76939, 109.9254, 110.1853}},
    {reduce_scatter, ring, {70.60384, 82.76939, 109.9254, 120.6717}},
    {reduce_scatter, halving_doubling, {70.60384, 82.76939, 109.9254, 110.1853}},
    {broadcast, ring, {135.2077, 162.5388, 213.8509, 229.2186}},
    {broadcast, binomial_tree, {135.2077, 232.4438, 344.9229, 538.7738}},
    {alltoall, ring, {437.6054, 292.4846, 752.1782, 211.4045}},
    {alltoall, recursive_doubling, {437.6054, 292.4846, 1276.466, 532.5309}},
};

testing::Message what(const Simulated& row, double nodes, double ranks_per_node) {
    return testing::Message() << to_string(row.collective) << " " << to_string(row.algorithm) << " "
                              << nodes << "x" << ranks_per_node;
}

/// A scatter over a number that is not a power of two has a longest way of fewer bytes than all; its gather waits for
/// less. Where a tree is not full, a latency hides behind another message.
TEST(Formulas, AreWhatTheMessagesTake) {
    for (const auto& row : on_flat)
        for (std::size_t i = 0; i < flat.size(); ++i) {
            const auto steps = steps_of(row.collective, row.algorithm, flat[i]);
            const auto name = what(row, flat[i], 1);
            ASSERT_EQ(steps.has_value(), row.microseconds[i] > 0) << name;
            if (!steps) continue;
            const bool scatters = row.collective == Collective::broadcast &&
                                  row.algorithm != Algorithm::binomial_tree;
            const bool hides = row.algorithm == Algorithm::binomial_tree;
            const double ratio = row.microseconds[i] * 1e-6 / between.seconds(*steps);
            EXPECT_LE(ratio, 1 + 1e-6) << name;
            EXPECT_GE(ratio, (scatters ? 0.7 : hides ? 0.98 : 1) - 1e-6) << name;
        }
}

/// A formula adds latency and bytes of the node's link; in truth one rank's latency hides behind the bytes of its
/// neighbours, so that the larger of both is the least and their sum the most.
TEST(Formulas, OfLevelsBoundWhatTheMessagesTake) {
    for (const auto& row : on_levels)
        for (std::size_t i = 0; i < layouts.size(); ++i) {
            const auto [nodes, ranks_per_node] = layouts[i];
            const auto levels =
                levels_of(row.collective, Algorithm::ring, row.algorithm, nodes, ranks_per_node);
            const auto name = what(row, nodes, ranks_per_node);
            ASSERT_EQ(levels.has_value(), row.microseconds[i] > 0) << name;
            if (!levels) continue;
            const double seconds = row.microseconds[i] * 1e-6;
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
    const auto steps = steps_of(Collective::allreduce, Algorithm::double_tree, 100).value();
    EXPECT_EQ(steps.messages, 14);
    EXPECT_EQ(steps.bytes, 2);
}

/// An all-reduce over k nodes of bandwidth B has a bus rate of at most B k/(k-1) (n-1)/n:
/// of two nodes of 8 GPUs and 400 GB/s 750 GB/s.
TEST(Formulas, TheBoundOfNodes) {
    const double of_byte = least_bytes_of_node(Collective::allreduce, 2, 8) / 400e9;
    EXPECT_NEAR(bus_factor(Collective::allreduce, 16) / of_byte, 750e9, 1e3);
}

} // namespace
} // namespace assay::predict
