// SPDX-License-Identifier: Apache-2.0
//
// The loops of stencil.window, on every instruction set of this CPU: as exact as they say.
#include "device/compensated_sum.hpp"
#include "stencil/window_kernels.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::stencil {
namespace {

constexpr std::size_t granule = 512;

template <class T>
struct Example {
    explicit Example(std::size_t window_)
        : window{window_}, count{40 * granule / sizeof(T)},
          in{count + window + window_margin<T>, {.threads = 1}}, out{count, {.threads = 1}} {}
    void run(const WindowLoop<T>& loop) { run(loop, 0, count); }
    void run(const WindowLoop<T>& loop, std::size_t first, std::size_t last) {
        loop.average(in.data(), out.data(), first, last, window);
    }
    std::size_t window;
    std::size_t count;
    HostBuffer<T> in;
    HostBuffer<T> out;
};

template <class T>
std::string words(const WindowLoop<T>& loop, std::size_t window) {
    return std::string{loop.instructions} + " window " + std::to_string(window);
}

template <class T>
class WindowLoops : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(WindowLoops, Reals);

TYPED_TEST(WindowLoops, stay_within_the_error_they_claim) {
    for (const std::size_t window : {1, 3, 5, 8, 9, 16, 100, 250, 1000, 3000})
        for (const auto& loop : window_loops<TypeParam>()) {
            SCOPED_TRACE(words(loop, window));
            Example<TypeParam> example{window};
            fill_uniform<TypeParam>(example.in.view(), 5, TypeParam{0.5}, TypeParam{1.5}, 1);
            example.run(loop);
            const double bound =
                unit_roundoff<TypeParam> * window_error<TypeParam>(window, loop.lanes, 0.5, 1.5);
            double worst = 0;
            for (std::size_t i = 0; i < example.count; ++i) {
                long double sum = 0;
                for (std::size_t k = 0; k < window; ++k) sum += example.in[i + k];
                const auto expected = static_cast<double>(sum / static_cast<long double>(window));
                worst = std::max(worst, std::fabs(example.out[i] - expected) / expected);
            }
            EXPECT_LE(worst, bound);
            EXPECT_LT(bound, 1e-2) << "a bound that wide would see nothing";
        }
}

TYPED_TEST(WindowLoops, write_their_part_and_nothing_else) {
    for (const std::size_t window : {8, 100})
        for (const auto& loop : window_loops<TypeParam>()) {
            SCOPED_TRACE(words(loop, window));
            Example<TypeParam> example{window};
            fill_uniform<TypeParam>(example.in.view(), 5, TypeParam{0.5}, TypeParam{1.5}, 1);
            const std::size_t first = 3 * granule / sizeof(TypeParam);
            const std::size_t last = 7 * granule / sizeof(TypeParam);
            example.run(loop, first, last);
            for (std::size_t i = 0; i < example.count; ++i)
                EXPECT_EQ(example.out[i] != 0, first <= i && i < last) << i;
        }
}

TEST(WindowBlocks, are_multiples_of_every_vector_and_long_enough) {
    for (const std::size_t window : {1, 17, 256, 257, 1000, 1048576}) {
        EXPECT_EQ(window_block<double>(window) * sizeof(double) % granule, 0U);
        EXPECT_EQ(window_block<float>(window) * sizeof(float) % granule, 0U);
        EXPECT_GE(window_block<float>(window), 4 * window);
    }
}

TEST(CompensatedSum, forgets_what_has_left) {
    CompensatedSum sum;
    sum.add(1e16);
    for (int i = 0; i < 100; ++i) sum.add(0.125);
    sum.add(-1e16);
    EXPECT_EQ(sum.value(), 12.5);
}

} // namespace
} // namespace assay::stencil
