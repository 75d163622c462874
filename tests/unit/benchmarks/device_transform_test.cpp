// SPDX-License-Identifier: Apache-2.0
//
// fft.transform on a device, as far as a host can tell: half precision, layouts, room, and names of errors.
#include "fft/cufft_status.hpp"
#include "fft/half.hpp"
#include "fft/plan_layout.hpp"
#include "fft/transform_shares.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::fft {
namespace {

TEST(Half, widens_as_the_standard_says) {
    EXPECT_EQ(to_float({0x3c00}), 1.0F);
    EXPECT_EQ(to_float({0xc000}), -2.0F);
    EXPECT_EQ(to_float({0x7bff}), 65504.0F);
    EXPECT_EQ(to_float({0x0400}), 0x1p-14F);
    EXPECT_EQ(to_float({0x0001}), 0x1p-24F);
    EXPECT_EQ(to_float({0x3555}), 0.333251953125F);
    EXPECT_FALSE(std::isfinite(to_float({0x7c00})));
    EXPECT_FALSE(std::isfinite(to_float({0xfc00})));
    EXPECT_TRUE(std::isnan(to_float({0xffff})));
}

TEST(Half, comes_back_from_every_number_that_it_holds) {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const Half half{static_cast<std::uint16_t>(bits)};
        const float value = to_float(half);
        if (std::isnan(value) || bits == 0x8000U) continue; // -0 becomes 0
        ASSERT_EQ(to_half(value).bits, bits) << value;
    }
}

TEST(Half, takes_the_nearest_and_even_ones_of_two) {
    EXPECT_EQ(to_half(1.0F + 0x1p-11F).bits, 0x3c00);            // a tie, down to even
    EXPECT_EQ(to_half(1.0F + 3 * 0x1p-11F).bits, 0x3c02);        // a tie, up to even
    EXPECT_EQ(to_half(1.0F + 0x1p-11F + 0x1p-20F).bits, 0x3c01); // just above
    EXPECT_EQ(to_half(-(2.0F - 0x1p-12F)).bits, 0xc000);         // carries
    EXPECT_EQ(to_half(0x1p-25F).bits, 0);                        // half of the smallest, a tie
    EXPECT_EQ(to_half(0x1p-14F - 0x1p-26F).bits, 0x0400);        // into the normal ones
    EXPECT_EQ(to_half(65519.0F).bits, 0x7bff);
    EXPECT_EQ(to_half(1e30F).bits, 0x7c00);
    EXPECT_EQ(to_half(-1e30F).bits, 0xfc00);
}

/// Every transform of this kind in half precision: rounded bins pass, a wrong one does not.
TEST(HalfPrecision, is_checked_by_bounds_of_its_own) {
    const Shape shape{.dimensions = 1, .points = 64, .batch = 1, .type = Type::c2c};
    std::vector<Half> points(128);
    const FillPoints<Half> fill{points.data()};
    for (std::uint64_t i = 0; i < points.size(); ++i) fill(i);
    std::vector<Half> bins(128);
    std::vector<float> returned(128);
    const auto turn = [](std::int64_t m) { return root_of_one(m % 64, 64); };
    for (std::int64_t k = 0; k < 64; ++k) {
        double re = 0;
        double im = 0;
        for (std::int64_t j = 0; j < 64; ++j) {
            const auto at = static_cast<std::size_t>(2 * j);
            const Complex w = turn(j * k);
            re += as_double(points[at]) * w.re - as_double(points[at + 1]) * w.im;
            im += as_double(points[at]) * w.im + as_double(points[at + 1]) * w.re;
        }
        bins[static_cast<std::size_t>(2 * k)] = to_half(static_cast<float>(re));
        bins[static_cast<std::size_t>(2 * k + 1)] = to_half(static_cast<float>(im));
    }
    const auto worst = [&] {
        for (std::size_t j = 0; j < 64; ++j) {
            double re = 0;
            double im = 0;
            for (std::size_t k = 0; k < 64; ++k) {
                const Complex w = turn(static_cast<std::int64_t>(j * k));
                re += as_double(bins[2 * k]) * w.re + as_double(bins[2 * k + 1]) * w.im;
                im += as_double(bins[2 * k + 1]) * w.re - as_double(bins[2 * k]) * w.im;
            }
            returned[2 * j] = static_cast<float>(re);
            returned[2 * j + 1] = static_cast<float>(im);
        }
        Squares squares{};
        ShareOfSquares<Half, float>{Sizes{shape},    1,       points.data(), bins.data(),
                                    returned.data(), &squares}(0);
        std::array<double, 3> errors{};
        double norm = 0;
        ErrorsOfTransform{1, 64, &squares, errors.data(), &norm}(0);
        double total = 0;
        ShareOfNorm<Half>{points.data(), 128, 1, &total}(0);
        EXPECT_DOUBLE_EQ(norm, total);
        return *std::ranges::max_element(errors);
    };
    const double bound = transform_bound<Half>(shape);
    EXPECT_DOUBLE_EQ(bound, 8 * 0x1p-11 * std::sqrt(8.0));
    EXPECT_LT(worst(), bound / 4);
    EXPECT_GT(worst(), 0);
    bins[7] =
        to_half(to_float(bins[7]) + static_cast<float>(2 * bound * std::sqrt(64.0 * 128 / 3)));
    EXPECT_GT(worst(), bound);
}

TEST(PlanLayout, is_dense_on_the_way_there) {
    PlanLayout layout =
        forward_layout({.dimensions = 3, .points = 5, .batch = 7, .type = Type::r2c});
    EXPECT_EQ(layout.rank, 3);
    EXPECT_EQ(layout.points, (std::array<long long, 3>{5, 5, 5}));
    EXPECT_FALSE(layout.in.is_complex);
    EXPECT_TRUE(layout.out.is_complex);
    EXPECT_EQ(layout.in.sizes_or_null(), nullptr);
    EXPECT_EQ(layout.out.sizes_or_null(), nullptr);
    EXPECT_EQ(layout.in.distance, 125);
    EXPECT_EQ(layout.out.distance, 75);
    EXPECT_EQ(layout.batch, 7);
}

TEST(PlanLayout, leaves_real_rows_the_room_of_their_bins_on_the_way_back) {
    PlanLayout layout =
        backward_layout({.dimensions = 2, .points = 8, .batch = 3, .type = Type::r2c});
    EXPECT_TRUE(layout.in.is_complex);
    EXPECT_FALSE(layout.out.is_complex);
    EXPECT_EQ(layout.in.sizes, (std::array<long long, 3>{8, 5, 0}));
    EXPECT_EQ(layout.out.sizes, (std::array<long long, 3>{8, 10, 0}));
    EXPECT_EQ(layout.in.distance, 40);
    EXPECT_EQ(layout.out.distance, 80);
    PlanLayout complex =
        backward_layout({.dimensions = 1, .points = 8, .batch = 3, .type = Type::c2c});
    EXPECT_EQ(complex.in.sizes_or_null(), nullptr);
    EXPECT_TRUE(complex.out.is_complex);
    EXPECT_EQ(complex.out.distance, 8);
}

TEST(DeviceBytes, are_counted_without_overflow) {
    const Shape cube{.dimensions = 3, .points = 128, .batch = 1, .type = Type::c2c};
    EXPECT_EQ(device_bytes(cube, 8, 8), 4LL * 128 * 128 * 128 * 16 + 64);
    const Shape prime{.dimensions = 1, .points = 100003, .batch = 1, .type = Type::c2c};
    EXPECT_EQ(device_bytes(prime, 8, 8), 15LL * 100003 * 16 + 64);
    const Shape largest{
        .dimensions = 3, .points = longest, .batch = most_transforms, .type = Type::c2c};
    EXPECT_EQ(device_bytes(largest, 8, 8), 1LL << 62U);
}

TEST(HalfPrecision, is_for_powers_of_two_of_some_size) {
    const auto why = [](std::int64_t dimensions, std::int64_t points, std::int64_t batch) {
        return why_not_half(
            {.dimensions = dimensions, .points = points, .batch = batch, .type = Type::c2c});
    };
    EXPECT_EQ(why(1, 2, 1), "");
    EXPECT_EQ(why(3, 256, 1), "");
    EXPECT_NE(why(3, 100, 1).find("not applicable: cuFFT transforms powers of two"),
              std::string::npos);
    EXPECT_NE(why(3, 512, 1).find("65504"), std::string::npos);
    EXPECT_NE(why(1, 4096, 1 << 20U).find("2^32"), std::string::npos);
    EXPECT_NE(why(3, longest, most_transforms), "");
}

TEST(CufftStatus, has_names_and_advice) {
    EXPECT_STREQ(cufft_status_name(2), "CUFFT_ALLOC_FAILED");
    EXPECT_STREQ(cufft_status_name(0x14), "CUFFT_NVSHMEM_FAILURE");
    EXPECT_STREQ(cufft_status_name(77), "an unknown status");
    EXPECT_NE(std::string{cufft_status_advice(2)}.find("memory"), std::string::npos);
    EXPECT_STREQ(cufft_status_advice(5), "");
}

} // namespace
} // namespace assay::fft
