// SPDX-License-Identifier: Apache-2.0

#include "series.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace assay::stats {
namespace {

using List = std::vector<double>;
using Figure = std::function<double(stats::Values)>;

bool has_none(const stats::Interval& interval) {
    return std::isnan(interval.low) && std::isnan(interval.high);
}

TEST(BatchMeans, AgreesWithASecondTool) {
    // Eleven uncorrelated values cannot be halved: plain Student's t with ten degrees of freedom.
    const stats::Interval interval = stats::batch_means_interval(quoted);
    EXPECT_DOUBLE_EQ(interval.mean, 3.8181818181818183);
    EXPECT_NEAR(interval.low, 2.6041506949123407, 1e-10);
    EXPECT_NEAR(interval.high, 5.032212941451296, 1e-10);
    EXPECT_TRUE(interval.decorrelated);
    EXPECT_EQ(interval.batches, 11U);
    EXPECT_NEAR(interval.relative_half_width(), 1.2140311232694777 / 3.8181818181818183, 1e-10);
}

TEST(BatchMeans, HigherConfidenceIsWider) {
    const List series = gamma_series(200, 1);
    double before = 0;
    for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
        const double here = stats::batch_means_interval(series, confidence).relative_half_width();
        EXPECT_GT(here, before);
        before = here;
    }
}

TEST(BatchMeans, MemoryWidensTheInterval) {
    const List remembering = correlated_series(3200, 0.9, 4);
    List forgetful = remembering;
    std::shuffle(forgetful.begin(), forgetful.end(), std::mt19937_64{1});
    const stats::Interval wide = stats::batch_means_interval(remembering);
    const stats::Interval narrow = stats::batch_means_interval(forgetful);
    EXPECT_TRUE(wide.decorrelated);
    // The mean of an AR(1) series has sqrt(1.9 / 0.1) = 4.4 times the error of an independent one.
    EXPECT_GT(wide.relative_half_width(), 2.5 * narrow.relative_half_width());
    EXPECT_LE(wide.batches, 200U);
}

TEST(BatchMeans, SaysWhenItCouldNotDecorrelate) {
    List ramp(200);
    for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = 1 + static_cast<double>(i);
    const stats::Interval interval = stats::batch_means_interval(ramp);
    EXPECT_FALSE(interval.decorrelated);
    EXPECT_GE(interval.batches, 10U);
    EXPECT_LT(interval.batches, 20U);
    EXPECT_LT(interval.low, interval.high);
}

TEST(BatchMeans, UsesTheLastOfAnOddNumberForTheMean) {
    List series = correlated_series(101, 0.9, 2);
    series.back() = 50;
    EXPECT_DOUBLE_EQ(stats::batch_means_interval(series).mean, stats::mean(series));
}

TEST(BatchMeans, FewValuesAreTakenAsTheyAreAndNotTrusted) {
    // t(0.975; 1) = 12.706; the sample deviation of 1 and 3 is sqrt(2), not divided by sqrt(2).
    const stats::Interval two = stats::batch_means_interval(List{1, 3});
    EXPECT_NEAR(two.low, 2 - 12.706204736174696 * std::sqrt(2), 1e-9);
    EXPECT_NEAR(two.high, 2 + 12.706204736174696 * std::sqrt(2), 1e-9);
    EXPECT_FALSE(two.decorrelated);
    EXPECT_FALSE(stats::batch_means_interval(gamma_series(9, 1)).decorrelated);
}

TEST(BatchMeans, DependentValuesGiveTheirOwnSpread) {
    // Two modes that switched once: the mean of what comes next may be either.
    List switched(200, 1.0);
    std::fill(switched.begin() + 90, switched.end(), 1.2);
    const stats::Interval interval = stats::batch_means_interval(switched);
    EXPECT_FALSE(interval.decorrelated);
    EXPECT_LT(interval.low, 1);
    EXPECT_GT(interval.high, 1.2);
}

TEST(BatchMeans, NoIntervalWithoutTwoFiniteValues) {
    EXPECT_TRUE(has_none(stats::batch_means_interval({})));
    EXPECT_TRUE(has_none(stats::batch_means_interval(List{3})));
    EXPECT_EQ(stats::batch_means_interval(List{3}).mean, 3);
    EXPECT_TRUE(has_none(stats::batch_means_interval(List{1, 2, nan})));
    EXPECT_TRUE(has_none(stats::batch_means_interval(List{1, 2, infinity})));
    for (const double confidence : {0.0, 1.0, -1.0, nan})
        EXPECT_TRUE(has_none(stats::batch_means_interval(quoted, confidence)));
}

TEST(BatchMeans, ConstantsAndZerosHaveNoWidth) {
    const stats::Interval constant = stats::batch_means_interval(List(64, 0.5));
    EXPECT_EQ(constant.low, 0.5);
    EXPECT_EQ(constant.high, 0.5);
    EXPECT_TRUE(constant.decorrelated);
    EXPECT_TRUE(std::isnan(stats::batch_means_interval(List(64, 0.0)).relative_half_width()));
}

TEST(BatchMeans, SurvivesExtremes) {
    const stats::Interval huge = stats::batch_means_interval(List{1e300, 3e300, 2e300});
    EXPECT_FALSE(std::isnan(huge.low));
    EXPECT_LE(huge.low, huge.high);
    const double tiny = std::numeric_limits<double>::denorm_min();
    const stats::Interval small = stats::batch_means_interval(List{tiny, 2 * tiny, 3 * tiny});
    EXPECT_LE(small.low, small.high);
}

TEST(HalfDrift, TellsDriftFromNoise) {
    int noise_called_drift = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
        noise_called_drift += stats::half_drift(gamma_series(200, seed)).significant ? 1 : 0;
    EXPECT_LE(noise_called_drift, 8); // 5% nominal

    List drifting = gamma_series(200, 1);
    for (std::size_t i = 0; i < drifting.size(); ++i) drifting[i] += static_cast<double>(i) / 100;
    const stats::Drift drift = stats::half_drift(drifting);
    EXPECT_TRUE(drift.significant);
    EXPECT_NEAR(drift.second - drift.first, 1, 0.2);
    EXPECT_NEAR(drift.relative(), 0.5, 0.1);
}

TEST(HalfDrift, NeedsFourValues) {
    const stats::Drift drift = stats::half_drift(List{1, 2, 3});
    EXPECT_TRUE(std::isnan(drift.first));
    EXPECT_FALSE(drift.significant);
    const stats::Drift four = stats::half_drift(List{1, 1, 2, 2});
    EXPECT_EQ(four.first, 1);
    EXPECT_EQ(four.second, 2);
    EXPECT_TRUE(four.significant);
}

const std::vector<stats::Estimate> replicas{
    {1.00, 0.99, 1.01}, {1.02, 1.01, 1.03}, {0.97, 0.96, 0.98}};

TEST(CombineReplicas, TakesStudentWhereReplicasDisagree) {
    const stats::Combined combined = combine_replicas(replicas);
    EXPECT_DOUBLE_EQ(combined.value, 0.9964541081791061);
    EXPECT_NEAR(combined.low, 0.9357126568438999, 1e-10);
    EXPECT_NEAR(combined.high, 1.0611385690304511, 1e-10);
    EXPECT_EQ(combined.scope, stats::Scope::between_replicas);
}

TEST(CombineReplicas, TakesThePooledIntervalWhereItIsWider) {
    const std::vector<stats::Estimate> noisy{
        {1.00, 0.80, 1.20}, {1.02, 0.72, 1.32}, {0.97, 0.72, 1.22}};
    const stats::Combined combined = combine_replicas(noisy);
    EXPECT_DOUBLE_EQ(combined.value, 0.9964541081791061);
    EXPECT_NEAR(combined.low, 0.8749070028441633, 1e-12);
    EXPECT_NEAR(combined.high, 1.134887235419551, 1e-12);
}

TEST(CombineReplicas, OneReplicaKeepsItsInterval) {
    const stats::Combined combined = combine_replicas(std::vector<stats::Estimate>{{2, 1.5, 2.6}});
    EXPECT_EQ(combined.value, 2);
    EXPECT_EQ(combined.low, 1.5);
    EXPECT_EQ(combined.high, 2.6);
    EXPECT_EQ(combined.scope, stats::Scope::within_process);

    const stats::Combined bare = combine_replicas(std::vector<stats::Estimate>{{2, nan, nan}});
    EXPECT_EQ(bare.value, 2);
    EXPECT_TRUE(std::isnan(bare.low));
    EXPECT_EQ(bare.scope, stats::Scope::none);
}

TEST(CombineReplicas, MissingIntervalsLeaveStudent) {
    std::vector<stats::Estimate> bare = replicas;
    for (stats::Estimate& estimate : bare) estimate.low = estimate.high = nan;
    EXPECT_NEAR(combine_replicas(bare).low, 0.9357126568438999, 1e-10);
}

TEST(CombineReplicas, EqualReplicasAreNotCertain) {
    const std::vector<stats::Estimate> equal(3, stats::Estimate{1, 0.98, 1.02});
    const stats::Combined combined = combine_replicas(equal);
    EXPECT_NEAR(combined.high, 1 + 0.02 / std::sqrt(3), 1e-3);
    EXPECT_LT(combined.low, 1);
}

TEST(CombineReplicas, NothingFromNothingAndFromWhatIsNoTime) {
    EXPECT_EQ(combine_replicas({}).scope, stats::Scope::none);
    EXPECT_TRUE(std::isnan(combine_replicas({}).value));
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        std::vector<stats::Estimate> broken = replicas;
        broken[1].value = bad;
        const stats::Combined combined = combine_replicas(broken);
        EXPECT_EQ(combined.scope, stats::Scope::none);
        EXPECT_TRUE(std::isnan(combined.value));
    }
}

TEST(CombineReplicas, AnIntervalDownToZeroIsNotLost) {
    // Wider than its own value: on the scale of logarithms its lower end would be at minus infinity.
    const std::vector<stats::Estimate> wide{{1, -0.5, 2.5}, {1, -0.5, 2.5}};
    const stats::Combined combined = combine_replicas(wide);
    EXPECT_GT(combined.low, 0);
    EXPECT_GT(combined.high, 1.5);
}

TEST(CombineWithZeros, IsTheArithmeticMeanWhereThereIsAZero) {
    const double unknown_end = std::numeric_limits<double>::quiet_NaN();
    const auto of = [&](const std::vector<double>& values) {
        std::vector<stats::Estimate> replicas;
        for (const double value : values)
            replicas.push_back({.value = value, .low = unknown_end, .high = unknown_end});
        return combine_with_zeros(replicas);
    };
    const stats::Combined some = of({0, 0.02, 0.04});
    EXPECT_DOUBLE_EQ(some.value, 0.02);
    EXPECT_EQ(some.low, 0); // not below
    EXPECT_NEAR(some.high, 0.02 + 4.302652729911275 * 0.02 / std::sqrt(3.0), 1e-10);
    EXPECT_EQ(some.scope, stats::Scope::between_replicas);
    for (const auto& none : {of({0}), of({0, 0, 0})}) {
        EXPECT_EQ(none.value, 0);
        EXPECT_EQ(none.scope, stats::Scope::none);
    }
    EXPECT_DOUBLE_EQ(of({1, 4}).value, 2) << "without one, the geometric mean";
    EXPECT_TRUE(std::isnan(of({0, -1}).value));
    EXPECT_TRUE(std::isnan(of({0, unknown_end}).value));
}

// --- summaries ---------------------------------------------------------------------------------------

double upper_tail(stats::Values values) { return stats::quantile(values, 0.95); }

TEST(Summary, AgreesWithASecondTool) {
    EXPECT_DOUBLE_EQ(stats::mean(quoted), 3.8181818181818183);
    EXPECT_DOUBLE_EQ(stats::variance(quoted), 3.265636363636364);
    EXPECT_DOUBLE_EQ(stats::median(quoted), 3.1);
    EXPECT_DOUBLE_EQ(stats::geometric_mean(quoted), 3.5330964464757595);
    EXPECT_DOUBLE_EQ(stats::min(quoted), 2.2);
    EXPECT_DOUBLE_EQ(stats::quantile(quoted, 0), 2.2);
    EXPECT_DOUBLE_EQ(stats::quantile(quoted, 1), 8.4);
    EXPECT_DOUBLE_EQ(stats::quantile(quoted, 0.05), 2.4);
    EXPECT_DOUBLE_EQ(stats::quantile(quoted, 0.35), 2.95);
    EXPECT_DOUBLE_EQ(stats::quantile(quoted, 0.85), 4.95);
    EXPECT_NEAR(stats::quantile(quoted, 0.95), 7.1, 1e-14);
    EXPECT_NEAR(stats::lag1_autocorrelation(quoted), -0.3870153008285629, 1e-15);
}

const Figure figures[] = {stats::mean,
                          stats::variance,
                          stats::median,
                          stats::min,
                          upper_tail,
                          stats::geometric_mean,
                          stats::lag1_autocorrelation};

TEST(Summary, OfNothingIsNothingAndOfOneValueHasNoSpread) {
    for (const Figure& figure : figures) EXPECT_TRUE(std::isnan(figure({})));
    const List one{4};
    for (const Figure& figure : {Figure{stats::mean}, Figure{stats::median}, Figure{upper_tail}})
        EXPECT_EQ(figure(one), 4);
    EXPECT_TRUE(std::isnan(stats::variance(one)));
    EXPECT_TRUE(std::isnan(stats::lag1_autocorrelation(one)));
}

TEST(Summary, NanSpreads) {
    for (const List& series : {List{nan, 1, 2}, List{1, nan, 2}, List{1, 2, nan}})
        for (const Figure& figure : figures) EXPECT_TRUE(std::isnan(figure(series)));
}

TEST(Summary, InfinitiesStayInOrderStatistics) {
    const List series{infinity, 1, 2, infinity, infinity};
    EXPECT_EQ(stats::median(series), infinity);
    EXPECT_EQ(stats::quantile(series, 0.6), infinity);
    EXPECT_EQ(stats::min(series), 1);
    EXPECT_EQ(stats::mean(series), infinity);
}

TEST(Summary, ZerosAndNegatives) {
    const List zeros(12, 0.0);
    EXPECT_EQ(stats::mean(zeros), 0);
    EXPECT_EQ(stats::variance(zeros), 0);
    EXPECT_EQ(stats::lag1_autocorrelation(zeros), 0);
    EXPECT_EQ(stats::geometric_mean(zeros), 0);
    EXPECT_TRUE(std::isnan(stats::geometric_mean(List{1, -1})));
}

TEST(Summary, QuantileRefusesWhatIsNoProbability) {
    for (const double p : {-0.01, 1.01, nan}) EXPECT_TRUE(std::isnan(stats::quantile(quoted, p)));
}

TEST(Summary, AutocorrelationSeesMemory) {
    EXPECT_NEAR(stats::lag1_autocorrelation(correlated_series(20000, 0.7, 1)), 0.7, 0.02);
    EXPECT_NEAR(stats::lag1_autocorrelation(correlated_series(20000, 0, 1)), 0, 0.02);
    EXPECT_NEAR(stats::lag1_autocorrelation(correlated_series(20000, -0.5, 1)), -0.5, 0.02);
}

} // namespace
} // namespace assay::stats
