// SPDX-License-Identifier: Apache-2.0

#include "predict/document.hpp"
#include "predict/prediction.hpp"
#include "support/measured_collective.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PredictOptions target(double nodes, double per_node) {
    return {.nodes = nodes,
            .ranks_per_node = per_node,
            .sizes = {1024, 1 << 20, 1 << 30},
            .algorithm = {},
            .node_bandwidth = {},
            .filter = {}};
}

PredictedCurve only_curve(const Collection& collection, const PredictOptions& options) {
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
    const auto prediction = predict_collective(measured_allreduce({}, {1}, 8, 0.01, 1), options);
    ASSERT_TRUE(prediction);
    EXPECT_FALSE(has_prediction(*prediction));
    ASSERT_TRUE(prediction->bound);
    EXPECT_NEAR(prediction->bound->bus_rate, 1.875 * 400e9, 1) << "B k/(k-1) (n-1)/n";
    const double sent = 2.0 * (1 << 30) * 15 / 16; // each rank of an ideal algorithm
    EXPECT_NEAR(prediction->bound->seconds.back(), sent / prediction->bound->bus_rate, 1e-9);
    EXPECT_THAT(write::to_terminal({{make_document(*prediction)}}), HasSubstr("750 GB/s at most"));
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
                HasSubstr("alone"));
    auto other = target(2, 8);
    other.collective = Collective::alltoall;
    EXPECT_FALSE(has_prediction(*predict_collective(one_node, other)));
}

TEST(Prediction, CasesThatSayTooLittleAreListed) {
    auto collection = measured_allreduce({}, {1, 2}, 8, 0.01, 1);
    collection.settings[0].clear();
    collection.settings[1] = {{"ranks", std::int64_t{7}}, {"machines", std::int64_t{2}}};
    collection.observations[2].value = -1;
    const auto prediction = predict_collective(collection, target(2, 8));
    ASSERT_TRUE(prediction);
    EXPECT_THAT(prediction->not_used, SizeIs(3));
    EXPECT_TRUE(has_prediction(*prediction));
}

} // namespace
} // namespace assay::report
