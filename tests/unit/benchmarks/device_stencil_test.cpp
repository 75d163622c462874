// SPDX-License-Identifier: Apache-2.0
//
// What threads of a device do in stencil.heat3d and stencil.window, one thread after the other: every cell
// and every mean once, right, and nothing else.
#include "stencil/heat_data.hpp"
#include "stencil/heat_march.hpp"
#include "stencil/window_data.hpp"
#include "stencil/window_tiles.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::stencil {
namespace {

using Reals = testing::Types<double, float>;

template <class T>
class DeviceHeat : public testing::Test {
protected:
    static constexpr Extent e{.columns = row_granule / sizeof(T), .rows = 11, .planes = 19};
    static constexpr T untouched = T{-77};

    DeviceHeat() {
        fill_uniform<T>(in, heat_data::in_seed, heat_data::low<T>, heat_data::high<T>, 1);
    }
    void sweep(Neighbours neighbours, const HeatShape& shape) {
        const std::size_t first = layout.at(0, 0, 0);
        const HeatBlocks blocks = blocks_of(shape, e);
        with_march(
            neighbours, shape,
            Fields<T>{in.data() + first, out.data() + first, e.columns, layout.row, layout.plane},
            e, heat_data::weights<T>(neighbours), [&](const auto& march) {
                for (unsigned part = 0; part < blocks.z; ++part)
                    for (unsigned y = 0; y < blocks.y * shape.threads_y; ++y)
                        for (unsigned x = 0; x < blocks.x * shape.threads_x; ++x) march(x, y, part);
            });
    }
    void check(Neighbours neighbours) const {
        const heat_data::Deviation<T> deviation{in.data(),  out.data(),
                                                layout.row, layout.plane,
                                                neighbours, heat_data::weights<T>(neighbours)};
        const Check check = check_each(
            e.cells(),
            [&](std::size_t i) {
                const std::size_t row = i / e.columns;
                return deviation(layout.at(i % e.columns, row % e.rows, row / e.rows));
            },
            heat_data::bound<T>(neighbours), heat_data::method);
        EXPECT_TRUE(check.passed) << check.detail;
        if (neighbours == Neighbours::all) { // 7 points can be added up in the formula's own order
            EXPECT_GT(check.error, 0) << "nothing was rounded, so nothing was tried";
        }
        std::size_t written = 0;
        for (const T value : out) written += value != untouched ? 1U : 0U;
        EXPECT_EQ(written, e.cells());
    }

    Layout layout{e, sizeof(T), 128};
    std::vector<T> in =
        std::vector<T>(layout.count); // with zones that sanitizers watch around them
    std::vector<T> out = std::vector<T>(layout.count);
};
TYPED_TEST_SUITE(DeviceHeat, Reals);

TYPED_TEST(DeviceHeat, computes_every_cell_with_every_shape) {
    std::vector<HeatShape> shapes = heat_shapes(sizeof(TypeParam));
    EXPECT_LE(shapes.size(), 28U) << "the trial is part of every case";
    for (std::size_t i = shapes.size(); i-- > 0;) { // runs up and down, and a shorter last one
        shapes.push_back(shapes[i]);
        shapes.back().depth = 3;
    }
    for (const Neighbours neighbours : {Neighbours::faces, Neighbours::all}) {
        std::vector<TypeParam> first;
        for (const HeatShape& shape : shapes) {
            ASSERT_LE(shape.threads_x * shape.threads_y, most_heat_threads);
            SCOPED_TRACE(std::to_string(shape.lanes) + " lanes, " + std::to_string(shape.rows) +
                         " rows, depth " + std::to_string(shape.depth) + ", " +
                         std::to_string(points_of(neighbours)));
            std::ranges::fill(this->out, this->untouched);
            this->sweep(neighbours, shape);
            this->check(neighbours);
            if (first.empty()) first = this->out;
            EXPECT_TRUE(first == this->out) << "other bits";
        }
    }
}

/// A block's threads in turns, and their prefix sum as a sum.
template <class T, unsigned items>
void run_block(const WindowTask<T>& task, const WindowShape& shape, std::size_t block) {
    const std::size_t at_once = std::size_t{shape.threads} * items;
    const std::size_t steps = window_steps(shape, task.window);
    if (task.window <= longest_direct) {
        for (unsigned thread = 0; thread < shape.threads; ++thread)
            task.template direct<items>((block * shape.threads + thread) * items);
        return;
    }
    const std::size_t first = block * at_once * steps;
    T sum = 0;
    for (unsigned thread = 0; thread < shape.threads; ++thread)
        sum += task.share(first, thread, shape.threads);
    for (std::size_t step = 0; step < steps; ++step)
        for (unsigned thread = 0; thread < shape.threads; ++thread) {
            const std::size_t at = first + step * at_once + std::size_t{thread} * items;
            const auto rise = task.template rise<items>(at);
            task.template finish<items>(at, sum, rise);
            sum += rise.values[items];
        }
}

template <class T>
class DeviceWindow : public testing::Test {};
TYPED_TEST_SUITE(DeviceWindow, Reals);

TYPED_TEST(DeviceWindow, computes_every_mean_with_every_shape) {
    using T = TypeParam;
    constexpr unsigned lanes = 16 / sizeof(T);
    const std::size_t count = 41 * window_granule<T>; // no multiple of any tile
    for (const std::size_t window : {1, 2, 8, 9, 20, 250, 3001}) {
        HostBuffer<T> in{count + window, {.threads = 1}};
        fill_uniform<T>(in.view(), window_data::in_seed, window_data::low<T>, window_data::high<T>,
                        1);
        for (const WindowShape& shape : window_shapes(sizeof(T))) {
            SCOPED_TRACE("window " + std::to_string(window) + ", " + std::to_string(shape.threads) +
                         " threads of " + std::to_string(shape.items));
            HostBuffer<T> out{count, {.threads = 1}};
            std::ranges::fill(out.view(), T{-77});
            const WindowTask<T> task{in.data(), out.data(), count, window,
                                     T{1} / static_cast<T>(window)};
            for (unsigned b = 0; b < window_blocks(shape, window, count); ++b) {
                if (shape.items == lanes)
                    run_block<T, lanes>(task, shape, b);
                else
                    run_block<T, 2 * lanes>(task, shape, b);
            }
            const double worst =
                window_data::worst_of(in.data(), out.data(), 0, count, window) / unit_roundoff<T>;
            EXPECT_LE(worst,
                      window_error(shape, window, window_data::low<T>, window_data::high<T>));
            if (window > 2) {
                EXPECT_GT(worst, 0) << "nothing was rounded, so nothing was tried";
            }
        }
    }
}

TEST(DeviceWindowShape, has_tiles_of_four_windows_and_covers_all) {
    for (const std::size_t window : {9UL, 250UL, 1UL << 20U})
        for (const WindowShape& shape : window_shapes(sizeof(float))) {
            const std::size_t tile = shape.threads * shape.items * window_steps(shape, window);
            EXPECT_GE(tile, 4 * window);
            EXPECT_GE(window_blocks(shape, window, 5 * tile + 1) * tile, 5 * tile + 1);
            EXPECT_EQ(window_blocks(shape, window, 5 * tile), 5U);
        }
}

/// One wrong mean, one changed input, and NaN.
TEST(DeviceWindowCheck, sees_the_smallest_damage) {
    const std::size_t count = window_granule<double>;
    std::vector<double> in(count + 20);
    fill_uniform<double>(in, window_data::in_seed, 0.5, 1.5, 1);
    std::vector<double> out(count);
    const WindowTask<double> task{in.data(), out.data(), count, 20, 1.0 / 20};
    run_block<double, 2>(task, {.threads = 256, .items = 2}, 0);
    const auto worst = [&] { return window_data::worst_of(in.data(), out.data(), 0, count, 20); };
    const double bound =
        unit_roundoff<double> * window_error({.threads = 256, .items = 2}, 20, 0.5, 1.5);
    EXPECT_LE(worst(), bound);
    out[17] *= 1 + 2 * bound;
    EXPECT_GT(worst(), bound);
    out[17] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(worst(), std::numeric_limits<double>::infinity());
    run_block<double, 2>(task, {.threads = 256, .items = 2}, 0);
    in[3] = std::nextafter(in[3], 2.0);
    EXPECT_EQ(worst(), std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace assay::stencil
