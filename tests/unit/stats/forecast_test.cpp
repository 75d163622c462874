// SPDX-License-Identifier: Apache-2.0
//
// Forecasts of made-up series whose future is known.

#include "stats/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

using Shape = std::function<double(double)>;

double wave(double month) { return std::sin(2 * std::numbers::pi * month / 12); }

std::vector<double> made(const Shape& shape, std::size_t months) {
    std::vector<double> values;
    for (std::size_t i = 0; i < months; ++i) values.push_back(shape(static_cast<double>(i)));
    return values;
}

TEST(Forecast, FollowsSeriesWithKnownFuture) {
    struct Row {
        const char* what;
        Shape shape;
        std::size_t months;
        bool is_damped;
        double near; ///< largest error in a month, relative to the value
    };
    const std::vector<Row> rows{
        {"constant", [](double) { return 7300; }, 6, false, 0},
        {"constant", [](double) { return 7300; }, 36, false, 0},
        {"zero", [](double) { return 0; }, 24, false, 0},
        {"trend", [](double i) { return 1000 + 100 * i; }, 17, true, 0.08},
        {"trend", [](double i) { return 1000 + 100 * i; }, 48, true, 0.03},
        {"season", [](double i) { return 1000 + 500 * wave(i); }, 36, false, 1e-12},
        {"season", [](double i) { return 1000 + 500 * wave(i); }, 18, false, 1e-12},
        {"season and trend", [](double i) { return 1000 + 30 * i + 400 * wave(i); }, 36, true,
         0.05},
        {"three months a year", [](double i) { return std::fmod(i, 12) < 3 ? 7300.0 : 0.0; }, 36,
         false, 0}};
    for (const auto& row : rows) {
        const auto found = forecast_months(made(row.shape, row.months));
        const auto name = row.what + (" of " + std::to_string(row.months));
        EXPECT_EQ((found.method == Method::damped_holt_winters), row.is_damped)
            << name << " " << found.naive_error << " " << found.damped_error;
        ASSERT_EQ(found.months.size(), months_ahead);
        for (std::size_t h = 0; h < months_ahead; ++h) {
            const auto truth = row.shape(static_cast<double>(row.months + h));
            EXPECT_NEAR(found.months[h].value, truth, row.near * truth) << name << " " << h;
        }
        EXPECT_NEAR(found.quarters[1].value,
                    found.months[3].value + found.months[4].value + found.months[5].value, 1e-6);
    }
}

TEST(Forecast, KeepsNoisySeriesAtItsMean) {
    std::mt19937_64 random{7};
    std::normal_distribution<double> noise{1000, 100};
    double worst = 0;
    int damped = 0;
    for (int i = 0; i < 20; ++i) {
        const auto found = forecast_months(made([&](double) { return noise(random); }, 23));
        damped += (found.method == Method::damped_holt_winters) ? 1 : 0;
        for (const auto& one : found.months) worst = std::max(worst, std::abs(one.value - 1000));
    }
    EXPECT_GE(damped, 14) << "repeating a year repeats its noise";
    EXPECT_LT(worst, 300);
}

TEST(Forecast, IsNeverNegative) {
    const auto found =
        forecast_months(made([](double i) { return std::max(1100 - 100 * i, 0.0); }, 12));
    for (const auto& one : found.months) {
        EXPECT_GE(one.value, 0);
        EXPECT_FALSE(one.low < 0);
    }
}

/// An interval needs six errors of its horizon.
TEST(Forecast, HasNoIntervalWithFewErrors) {
    const auto known = [](std::size_t months) {
        std::size_t count = 0;
        for (const auto& one :
             forecast_months(made([](double i) { return 1000 + 500 * wave(i); }, months)).months)
            count += std::isnan(one.high) ? 0 : 1;
        return count;
    };
    EXPECT_EQ(known(9), 0U);
    EXPECT_EQ(known(10), 1U);
    EXPECT_EQ(known(18), 1U);
    EXPECT_EQ(known(24), 7U);
    EXPECT_EQ(known(29), 12U);
}

TEST(Forecast, IntervalCoversFourOfFive) {
    std::mt19937_64 random{20261128};
    std::normal_distribution<double> noise;
    for (const bool season : {false, true}) {
        double inside = 0;
        double count = 0;
        double quarters = 0;
        for (int i = 0; i < 200; ++i) {
            const auto values = made(
                [&](double month) {
                    return 1000 + (season ? 300 * wave(month) + 5 * month : 0) + 60 * noise(random);
                },
                60 + 12);
            const auto found = forecast_months(Values{values}.first(60));
            double widest = 0;
            for (std::size_t h = 0; h < months_ahead; ++h) {
                const auto& one = found.months[h];
                EXPECT_GE(one.high - one.value, widest - 1e-9);
                widest = one.high - one.value;
                inside += one.low <= values[60 + h] && values[60 + h] <= one.high ? 1 : 0;
                ++count;
            }
            for (std::size_t q = 0; q < 4; ++q) {
                const auto& one = found.quarters[q];
                const double truth = values[60 + 3 * q] + values[61 + 3 * q] + values[62 + 3 * q];
                quarters += one.low <= truth && truth <= one.high ? 1 : 0;
            }
        }
        EXPECT_NEAR(inside / count, 0.8, 0.06) << season;
        EXPECT_NEAR(quarters / 800, 0.8, 0.06) << season;
    }
}

} // namespace
} // namespace assay::stats
