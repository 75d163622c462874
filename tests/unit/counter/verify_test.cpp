// SPDX-License-Identifier: Apache-2.0

#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::span<const double> view(const std::vector<double>& values) { return values; }
double one_more(std::size_t i) { return static_cast<double>(i) + 1; }
std::vector<double> counted(std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = one_more(i);
    return values;
}

TEST(UlpsApart, CountsRepresentableNumbers) {
    EXPECT_EQ(ulps_apart(1.0, 1.0), 0);
    EXPECT_EQ(ulps_apart(0.0, -0.0), 0);
    EXPECT_EQ(ulps_apart(1.0, std::nextafter(1.0, 2.0)), 1);
    EXPECT_EQ(ulps_apart(std::nextafter(1.0F, 0.0F), std::nextafter(1.0F, 2.0F)), 2);
    const double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(ulps_apart(tiny, -tiny), 2);
    EXPECT_GT(ulps_apart(-1e308, 1e308), 1e18);
    EXPECT_EQ(ulps_apart(1.0, nan), infinity);
    EXPECT_EQ(ulps_apart(infinity, infinity), infinity);
}

TEST(CheckValue, PassesUpToItsBound) {
    EXPECT_TRUE(check_value(-0.5, 0.5, "m").passed);
    EXPECT_EQ(check_value(-0.5, 0.5, "m").error, 0.5);
    const Check failed = check_value(0.6, 0.5, "m", "why");
    EXPECT_FALSE(failed.passed);
    EXPECT_EQ(failed.method, "m");
    EXPECT_EQ(failed.detail, "why");
    EXPECT_EQ(check_value(0.1, 0.5, "m", "why").detail, "");
}

TEST(CheckValue, NeverPassesWhatIsNoNumber) {
    EXPECT_FALSE(check_value(nan, 1, "m").passed);
    EXPECT_FALSE(check_value(0, nan, "m").passed);
    EXPECT_FALSE(check_value(infinity, infinity, "m").passed);
}

TEST(CheckEach, LooksAtEveryElement) {
    for (std::size_t bad = 0; bad < 1000; bad += 37) {
        const Check check =
            check_each(1000, [&](std::size_t i) { return i == bad ? 2.0 : 0.5; }, 1, "m");
        EXPECT_FALSE(check.passed) << bad;
        EXPECT_EQ(check.error, 2);
        EXPECT_NE(check.detail.find("element " + std::to_string(bad) + " "), std::string::npos)
            << check.detail;
    }
    EXPECT_TRUE(check_each(1000, [](std::size_t) { return 0.5; }, 1, "m").passed);
}

TEST(CheckEach, NeverPassesNothing) {
    EXPECT_FALSE(check_each(0, [](std::size_t) { return 0.0; }, 1, "m").passed);
}

TEST(CheckRelative, IsRelativeToTheExpectedValue) {
    std::vector<double> values = counted(100);
    values[9] *= 1 + 1e-6;
    EXPECT_TRUE(check_relative(view(values), one_more, 1.1e-6, "m").passed);
    const Check check = check_relative(view(values), one_more, 0.9e-6, "m");
    EXPECT_FALSE(check.passed);
    EXPECT_NEAR(check.error, 1e-6, 1e-9);
    EXPECT_NE(check.detail.find("element 9 "), std::string::npos) << check.detail;
    EXPECT_NE(check.detail.find("expected 10"), std::string::npos) << check.detail;
}

TEST(CheckRelative, ExpectsZeroExactly) {
    const std::vector<double> zero{0.0};
    const std::vector<double> tiny{1e-300};
    const auto nothing = [](std::size_t) { return 0.0; };
    EXPECT_TRUE(check_relative(view(zero), nothing, 1e-9, "m").passed);
    EXPECT_FALSE(check_relative(view(tiny), nothing, 1e-9, "m").passed);
}

TEST(CheckUlps, SeesOneBit) {
    std::vector<double> values = counted(100);
    EXPECT_TRUE(check_ulps(view(values), one_more, 0, "m").passed);
    values[57] = std::nextafter(values[57], 0);
    EXPECT_FALSE(check_ulps(view(values), one_more, 0, "m").passed);
    EXPECT_TRUE(check_ulps(view(values), one_more, 1, "m").passed);
    values[57] = nan;
    EXPECT_FALSE(check_ulps(view(values), one_more, 1e9, "m").passed);
}

TEST(CheckEqual, ComparesIntegers) {
    std::vector<std::int64_t> values(50, (1LL << 60U) + 1);
    const auto expected = [](std::size_t) { return (std::int64_t{1} << 60U) + 1; };
    EXPECT_TRUE(check_equal(std::span<const std::int64_t>{values}, expected, "m").passed);
    ++values[49]; // a difference that a double cannot tell
    const Check check = check_equal(std::span<const std::int64_t>{values}, expected, "m");
    EXPECT_FALSE(check.passed);
    EXPECT_GE(check.error, 1);
}

TEST(CheckEqual, DoesNotAcceptInfinity) {
    const std::vector<double> values{infinity};
    EXPECT_FALSE(check_equal(view(values), [](std::size_t) { return infinity; }, "m").passed);
}

TEST(CheckNorm, IsTheErrorOfTheWholeVector) {
    std::vector<double> values = counted(1000);
    EXPECT_EQ(check_norm(view(values), one_more, 1e-9, "m").error, 0);
    for (double& value : values) value *= 1 + 1e-6;
    EXPECT_NEAR(check_norm(view(values), one_more, 1e-9, "m").error, 1e-6, 1e-10);
    EXPECT_FALSE(check_norm(view(values), one_more, 1e-9, "m").passed);
    values[3] = nan;
    EXPECT_FALSE(check_norm(view(values), one_more, 1e9, "m").passed);
    EXPECT_FALSE(check_norm(view({}), one_more, 1, "m").passed);
}

} // namespace
} // namespace assay
