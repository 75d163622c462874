// SPDX-License-Identifier: Apache-2.0

#include "series.hpp"
#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace assay::stats {
namespace {

using Figure = std::function<double(Values)>;
using List = std::vector<double>;

const List none;

double upper_tail(Values values) { return quantile(values, 0.95); }

TEST(Summary, AgreesWithASecondTool) {
    EXPECT_DOUBLE_EQ(mean(quoted), 3.8181818181818183);
    EXPECT_DOUBLE_EQ(variance(quoted), 3.265636363636364);
    EXPECT_DOUBLE_EQ(median(quoted), 3.1);
    EXPECT_DOUBLE_EQ(geometric_mean(quoted), 3.5330964464757595);
    EXPECT_DOUBLE_EQ(min(quoted), 2.2);
    EXPECT_DOUBLE_EQ(quantile(quoted, 0.05), 2.4);
    EXPECT_DOUBLE_EQ(quantile(quoted, 0.35), 2.95);
    EXPECT_DOUBLE_EQ(quantile(quoted, 0.85), 4.95);
    EXPECT_NEAR(quantile(quoted, 0.95), 7.1, 1e-14);
    EXPECT_NEAR(lag1_autocorrelation(quoted), -0.3870153008285629, 1e-15);
}

TEST(Summary, LocationFollowsShiftAndScale) {
    const Figure figures[] = {mean, median, min, upper_tail};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const List series = gamma_series(10 + seed, seed);
        const List moved = transformed(series, 3e-6, 2e-6);
        for (const Figure& figure : figures)
            EXPECT_NEAR(figure(moved), 3e-6 * figure(series) + 2e-6, 1e-18) << seed;
    }
}

TEST(Summary, SpreadIgnoresShiftAndFollowsScale) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const List series = gamma_series(10 + seed, seed);
        const List moved = transformed(series, 3, 7);
        EXPECT_NEAR(variance(moved), 9 * variance(series), 1e-12);
        EXPECT_NEAR(lag1_autocorrelation(moved), lag1_autocorrelation(series), 1e-12);
        EXPECT_NEAR(geometric_mean(transformed(series, 3, 0)), 3 * geometric_mean(series), 1e-12);
    }
}

TEST(Summary, OrderMattersOnlyToAutocorrelation) {
    const Figure figures[] = {mean, variance, median, min, upper_tail, geometric_mean};
    const List series = gamma_series(31, 5);
    List ordered = series;
    std::ranges::sort(ordered);
    for (const Figure& figure : figures) EXPECT_NEAR(figure(series), figure(ordered), 1e-14);
    EXPECT_GT(lag1_autocorrelation(ordered), 0.5);
    EXPECT_LT(lag1_autocorrelation(series), 0.3);
}

TEST(Summary, QuantilesAreOrderedAndBounded) {
    const List series = gamma_series(40, 3);
    double before = min(series);
    for (double p = 0; p <= 1; p += 0.01) {
        const double here = quantile(series, p);
        EXPECT_GE(here, before);
        before = here;
    }
    EXPECT_EQ(quantile(series, 1), std::ranges::max(series));
    EXPECT_EQ(quantile(series, 0), min(series));
}

TEST(Summary, NothingIsSaidAboutNothing) {
    const Figure figures[] = {
        mean, variance, median, min, upper_tail, geometric_mean, lag1_autocorrelation};
    for (const Figure& figure : figures) EXPECT_TRUE(std::isnan(figure(none)));
}

TEST(Summary, OneValueHasNoSpread) {
    const List one{4};
    EXPECT_EQ(mean(one), 4);
    EXPECT_EQ(median(one), 4);
    EXPECT_EQ(quantile(one, 0.95), 4);
    EXPECT_DOUBLE_EQ(geometric_mean(one), 4);
    EXPECT_TRUE(std::isnan(variance(one)));
    EXPECT_TRUE(std::isnan(lag1_autocorrelation(one)));
}

TEST(Summary, NanSpreads) {
    const Figure figures[] = {
        mean, variance, median, min, upper_tail, geometric_mean, lag1_autocorrelation};
    for (const List& series : {List{nan, 1, 2}, List{1, nan, 2}, List{1, 2, nan}})
        for (const Figure& figure : figures) EXPECT_TRUE(std::isnan(figure(series)));
}

TEST(Summary, InfinitiesStayInOrderStatistics) {
    const List series{infinity, 1, 2, infinity, infinity};
    EXPECT_EQ(median(series), infinity);
    EXPECT_EQ(quantile(series, 0.6), infinity);
    EXPECT_EQ(min(series), 1);
    EXPECT_EQ(mean(series), infinity);
}

TEST(Summary, ZerosAndNegatives) {
    const List zeros(12, 0.0);
    EXPECT_EQ(mean(zeros), 0);
    EXPECT_EQ(variance(zeros), 0);
    EXPECT_EQ(lag1_autocorrelation(zeros), 0);
    EXPECT_EQ(geometric_mean(zeros), 0);
    EXPECT_TRUE(std::isnan(geometric_mean(List{1, -1})));
}

TEST(Summary, DenormalsKeepTheirLocation) {
    const double tiny = std::numeric_limits<double>::denorm_min();
    const List series{tiny, 3 * tiny, 5 * tiny};
    EXPECT_EQ(mean(series), 3 * tiny);
    EXPECT_EQ(median(series), 3 * tiny);
    EXPECT_EQ(min(series), tiny);
    EXPECT_EQ(variance(series), 0); // the square of a denormal is zero
}

TEST(Summary, QuantileRefusesWhatIsNoProbability) {
    for (const double p : {-0.01, 1.01, nan}) EXPECT_TRUE(std::isnan(quantile(quoted, p)));
}

TEST(Summary, AutocorrelationSeesMemory) {
    EXPECT_NEAR(lag1_autocorrelation(correlated_series(20000, 0.7, 1)), 0.7, 0.02);
    EXPECT_NEAR(lag1_autocorrelation(correlated_series(20000, 0, 1)), 0, 0.02);
    EXPECT_NEAR(lag1_autocorrelation(correlated_series(20000, -0.5, 1)), -0.5, 0.02);
}

} // namespace
} // namespace assay::stats
