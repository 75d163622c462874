// SPDX-License-Identifier: Apache-2.0
//
// The sweeps of stencil.filter2d on every instruction set of this CPU and the columns of a device's threads, against
// the definition, and exactly on whole numbers.
#include "stencil/filter_column.hpp"
#include "stencil/filter_kernels.hpp"

#include <assay/host.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace assay::stencil {
namespace {

using filter_data::Image;

template <class T>
class Filters : public testing::Test {
protected:
    static constexpr T untouched = T{-77};
    struct Example {
        explicit Example(Side side) : image{40'000, sizeof(T), side, 3} {
            for (std::size_t i = 0; i < image.count; ++i) in[i] = random_integer<T>(1, i, 0, 50);
            for (std::size_t i = 0; i < image.side * image.side; ++i)
                weights.values[i] = random_integer<T>(2, i, 1, 50);
            for (T& pixel : out.view()) pixel = untouched;
        }
        T expected(std::size_t x, std::size_t y) const {
            T sum = 0;
            for (std::size_t dy = 0; dy < image.side; ++dy)
                for (std::size_t dx = 0; dx < image.side; ++dx)
                    sum += weights.values[dy * image.side + dx] * in[image.at(x + dx, y + dy)];
            return sum;
        }
        /// Rows [first, last) are right and nothing else was written.
        void expect_rows(std::size_t first, std::size_t last) const {
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < image.count; ++i) {
                const std::size_t x = i % image.stride;
                const std::size_t y = i / image.stride;
                const bool inside = x < image.columns && y >= first && y < last;
                wrong += out[i] == (inside ? expected(x, y) : untouched) ? 0U : 1U;
            }
            EXPECT_EQ(wrong, 0U);
        }
        Image image;
        HostBuffer<T> in{image.count, {.threads = 1}};
        HostBuffer<T> out{image.count, {.threads = 1}};
        filter_data::FilterWeights<T> weights{};
    };
};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(Filters, Reals);

TYPED_TEST(Filters, AreExactOnWholeNumbers) {
    for (const Side side : {Side::three, Side::five, Side::seven})
        for (const auto& way : filter_sweeps<TypeParam>(side)) {
            SCOPED_TRACE(std::string{way.instructions} + ' ' +
                         std::to_string(static_cast<int>(side)));
            typename TestFixture::Example example{side};
            const std::size_t last = example.image.rows - filter_data::rows_at_once;
            way.sweep(example.image, example.weights.values, example.in.data(), example.out.data(),
                      filter_data::rows_at_once, last);
            example.expect_rows(filter_data::rows_at_once, last);
        }
}

TYPED_TEST(Filters, OfADeviceAreExactHoweverManyPixelsAThreadHas) {
    typename TestFixture::Example four{Side::five};
    typename TestFixture::Example eight{Side::five};
    const auto sweep = [](auto& example, auto rows) {
        constexpr unsigned each = decltype(rows)::value;
        // More threads than there are pixels, as in the last blocks.
        for (std::size_t y = 0; y < example.image.rows + 3 * each; y += each)
            for (std::size_t x = 0; x < example.image.columns + 31; ++x)
                filter_column<5, each>(example.image, example.weights, example.in.data(),
                                       example.out.data(), x, y);
        example.expect_rows(0, example.image.rows);
    };
    sweep(four, std::integral_constant<unsigned, 4>{});
    sweep(eight, std::integral_constant<unsigned, 8>{});
    EXPECT_NE(four.image.rows % 8, 0U) << "the last thread of eight has four";
}

TYPED_TEST(Filters, AreWithinTheirBoundOnRandomNumbers) {
    for (const Side side : {Side::three, Side::seven})
        for (const auto& way : filter_sweeps<TypeParam>(side)) {
            typename TestFixture::Example example{side};
            for (std::size_t i = 0; i < example.image.count; ++i)
                example.in[i] = filter_data::input<TypeParam>(i);
            const auto weights = filter_data::weights<TypeParam>(example.image.side);
            way.sweep(example.image, weights.values, example.in.data(), example.out.data(), 0,
                      example.image.rows);
            const filter_data::Deviation<TypeParam> deviation{
                example.image, weights, example.in.data(), example.out.data()};
            double worst = 0;
            for (std::size_t i = 0; i < example.image.pixels(); ++i)
                worst = std::max(worst, std::fabs(deviation(i)));
            const double bound = filter_data::bound<TypeParam>(example.image.side);
            EXPECT_LE(worst, bound / 2);
            auto& pixel = example.out[example.image.place(7)];
            pixel = off_by_twice(pixel, bound);
            EXPECT_GT(std::fabs(deviation(7)), bound);
            example.in[example.image.place(7)] += 1;
            EXPECT_FALSE(std::isfinite(deviation(7)));
        }
}

TEST(Images, HaveWholeVectorsAndRowsForAllThreads) {
    for (const std::int64_t bytes : {64'000L, 4L << 20U, 1L << 30U})
        for (const std::size_t threads : {1U, 2U, 7U, 192U})
            for (const std::size_t size : {sizeof(double), sizeof(float)}) {
                const Image image{bytes, size, Side::seven, threads};
                EXPECT_EQ(image.columns * size % filter_data::row_bytes, 0U);
                EXPECT_EQ(image.rows % (filter_data::rows_at_once * threads), 0U);
                // The last vectors of the last rows read no further than this.
                EXPECT_GE(image.count, image.at(image.columns + 6, image.rows + 5) + 1);
                EXPECT_EQ(image.stride * size % 64, 0U);
                EXPECT_GE(image.stride, image.columns + 6);
            }
}

} // namespace
} // namespace assay::stencil
