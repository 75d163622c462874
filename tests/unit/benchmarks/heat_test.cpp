// SPDX-License-Identifier: Apache-2.0
//
// The sweeps of stencil.heat3d, on every instruction set of this CPU: exact where they must be, equal to
// the scalar formula elsewhere, and confined to their block.
#include "stencil/grid.hpp"
#include "stencil/heat_cell.hpp"
#include "stencil/heat_kernels.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::stencil {
namespace {

/// A grid and its successor, a whole number of vectors wide.
template <class T>
struct Example {
    // Odd numbers of rows and planes, so that what pairs leave over is there too.
    explicit Example(Extent extent) : e{extent} {
        in = HostBuffer<T>{layout.count, {.threads = 1}};
        out = HostBuffer<T>{layout.count, {.threads = 1}};
        for (T& x : out.view()) x = untouched;
    }
    template <class Value>
    void fill(Value&& value) { // the shell too
        const auto at = [](std::size_t i) { return static_cast<double>(i) - 1; };
        for (std::size_t z = 0; z < e.planes + 2; ++z)
            for (std::size_t y = 0; y < e.rows + 2; ++y)
                for (std::size_t x = 0; x < e.columns + 2; ++x)
                    in[z * layout.plane + y * layout.row + layout.shell - 1 + x] =
                        static_cast<T>(value(at(x), at(y), at(z)));
    }
    void sweep(const HeatSweep<T>& with, const Weights<T>& weights, const Block& block) {
        const std::size_t first = layout.at(0, 0, 0);
        with.sweep({.in = in.data() + first,
                    .out = out.data() + first,
                    .columns = e.columns,
                    .row = layout.row,
                    .plane = layout.plane},
                   weights, block);
    }
    Block all() const {
        return {.first_row = 0, .last_row = e.rows, .first_plane = 0, .last_plane = e.planes};
    }
    /// The formula itself, in fp64.
    double formula(Neighbours neighbours, const Weights<T>& weights, std::size_t here) const {
        const auto at = [&](int dx, int dy, int dz) {
            return static_cast<double>(in.data()[static_cast<std::ptrdiff_t>(here) + dx +
                                                 dy * static_cast<std::ptrdiff_t>(layout.row) +
                                                 dz * static_cast<std::ptrdiff_t>(layout.plane)]);
        };
        const Weights<double> w{weights.centre, weights.face, weights.edge, weights.corner};
        return neighbours == Neighbours::all ? heat_27(w, at) : heat_7(w, at);
    }

    static constexpr T untouched = T{-77};
    Extent e;
    Layout layout{e, sizeof(T)};
    HostBuffer<T> in;
    HostBuffer<T> out;
};

template <class T>
std::string words(const HeatSweep<T>& sweep) {
    return std::string{sweep.instructions} +
           (sweep.neighbours == Neighbours::all ? " 27 points" : " 7 points") +
           (sweep.stores == Stores::plain ? " plain" : " streaming");
}

template <class T>
class Heat : public testing::Test {
protected:
    static constexpr Extent odd{.columns = 2 * row_granule / sizeof(T), .rows = 11, .planes = 7};
    /// Both stencils with a diffusion whose weights have few bits, so that small integers stay exact.
    template <class Body>
    static void each_sweep(Body&& body) {
        for (const auto neighbours : {Neighbours::faces, Neighbours::all}) {
            const auto sweeps = heat_sweeps<T>(neighbours);
            ASSERT_FALSE(sweeps.empty());
            for (const auto& sweep : sweeps) body(sweep);
        }
    }
    static constexpr T diffusion = T{30} / T{256};
    static Weights<T> weights_of(Neighbours neighbours) {
        return neighbours == Neighbours::all ? weights_of_27(diffusion) : weights_of_7(diffusion);
    }
};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(Heat, Reals);

TYPED_TEST(Heat, is_exact_for_quadratic_polynomials) {
    this->each_sweep([&](const auto& sweep) {
        SCOPED_TRACE(words(sweep));
        Example<TypeParam> example{this->odd};
        example.fill([](double x, double y, double z) {
            return x * x + 2 * y * y + 3 * z * z - x * y + y * z - 2 * x * z + 5 * x - y + 11;
        });
        example.sweep(sweep, this->weights_of(sweep.neighbours), example.all());
        constexpr double laplacian = 2 + 4 + 6;
        std::size_t wrong = 0;
        for (std::size_t z = 0; z < example.e.planes; ++z)
            for (std::size_t y = 0; y < example.e.rows; ++y)
                for (std::size_t x = 0; x < example.e.columns; ++x) {
                    const std::size_t at = example.layout.at(x, y, z);
                    const auto step = static_cast<TypeParam>(this->diffusion * laplacian);
                    wrong += example.out[at] == example.in[at] + step ? 0U : 1U;
                }
        EXPECT_EQ(wrong, 0U);
    });
}

TYPED_TEST(Heat, is_the_formula_on_random_cells) {
    this->each_sweep([&](const auto& sweep) {
        SCOPED_TRACE(words(sweep));
        const bool all = sweep.neighbours == Neighbours::all;
        constexpr auto some = static_cast<TypeParam>(0.123456789);
        const auto weights = all ? weights_of_27(some) : weights_of_7(some);
        Example<TypeParam> example{this->odd};
        fill_uniform<TypeParam>(example.in.view(), 3, TypeParam{0.5}, TypeParam{1.5}, 1);
        example.sweep(sweep, weights, example.all());
        const double bound = 2 * ((all ? 27 : 7) + 1) * unit_roundoff<TypeParam>;
        double worst = 0;
        for (std::size_t z = 0; z < example.e.planes; ++z)
            for (std::size_t y = 0; y < example.e.rows; ++y)
                for (std::size_t x = 0; x < example.e.columns; ++x) {
                    const std::size_t at = example.layout.at(x, y, z);
                    const double expected = example.formula(sweep.neighbours, weights, at);
                    worst = std::max(worst,
                                     std::fabs(example.out[at] - expected) / std::fabs(expected));
                }
        EXPECT_LE(worst, bound);
        EXPECT_GT(worst, 0) << "nothing was rounded, so nothing was tried";
    });
}

TYPED_TEST(Heat, writes_its_block_and_nothing_else) {
    this->each_sweep([&](const auto& sweep) {
        SCOPED_TRACE(words(sweep));
        Example<TypeParam> example{this->odd};
        fill_uniform<TypeParam>(example.in.view(), 3, TypeParam{0.5}, TypeParam{1.5}, 1);
        example.sweep(sweep, this->weights_of(sweep.neighbours),
                      {.first_row = 3, .last_row = 8, .first_plane = 2, .last_plane = 5});
        std::size_t written = 0;
        for (const TypeParam x : example.out.view())
            written += x != Example<TypeParam>::untouched ? 1U : 0U;
        EXPECT_EQ(written, 5 * 3 * example.e.columns);
        for (std::size_t z = 2; z < 5; ++z)
            for (std::size_t y = 3; y < 8; ++y)
                EXPECT_NE(example.out[example.layout.at(0, y, z)], Example<TypeParam>::untouched);
    });
}

TEST(HeatWeights, keep_a_constant_field) {
    const auto w7 = weights_of_7(0.1);
    EXPECT_NEAR(w7.centre + 6 * w7.face, 1, 1e-15);
    const auto w27 = weights_of_27(0.1);
    EXPECT_NEAR(w27.centre + 6 * w27.face + 12 * w27.edge + 8 * w27.corner, 1, 1e-15);
    for (const double weight : {w7.centre, w7.face, w27.centre, w27.edge, w27.corner})
        EXPECT_GT(weight, 0) << "a stable step mixes, it does not amplify";
}

TEST(HeatGrid, uses_the_footprint_it_is_given) {
    for (const std::size_t size : {sizeof(double), sizeof(float)})
        for (const int threads : {1, 2, 7, 64, 256})
            for (const std::int64_t bytes : {32LL << 10U, 4LL << 20U, 64LL << 20U, 3LL << 30U}) {
                const Extent e = extent_for(bytes, size, threads);
                SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(threads));
                EXPECT_EQ(e.columns * size % row_granule, 0U);
                EXPECT_EQ(e.planes % (2 * static_cast<std::size_t>(threads)), 0U);
                EXPECT_GT(e.cells(), 0U);
                if (bytes < (4LL << 20U) * threads) continue; // too small to be shared out well
                const auto used = static_cast<double>(e.cells() * size);
                EXPECT_LE(used, static_cast<double>(bytes));
                EXPECT_GE(used, 0.9 * static_cast<double>(bytes));
            }
}

TEST(HeatGrid, has_every_cell_in_one_block_of_one_thread) {
    for (const std::size_t tile : {4U, 8U, 100U})
        for (const std::size_t threads : {1U, 2U, 3U}) {
            const Extent e{.columns = 64, .rows = 18, .planes = 12};
            std::multiset<std::pair<std::size_t, std::size_t>> covered;
            for (std::size_t thread = 0; thread < threads; ++thread)
                for_each_block(e, slice_of(e.planes, thread, threads), tile, [&](const Block& b) {
                    EXPECT_LE(b.last_row - b.first_row, tile);
                    for (std::size_t z = b.first_plane; z < b.last_plane; ++z)
                        for (std::size_t y = b.first_row; y < b.last_row; ++y)
                            covered.insert({y, z});
                });
            EXPECT_EQ(covered.size(), e.rows * e.planes);
            for (std::size_t z = 0; z < e.planes; ++z)
                for (std::size_t y = 0; y < e.rows; ++y) EXPECT_EQ(covered.count({y, z}), 1U);
        }
}

TEST(HeatGrid, keeps_rows_on_cache_lines_and_shells_apart) {
    const Extent e{.columns = 128, .rows = 6, .planes = 4};
    const Layout layout{e, sizeof(float)};
    for (std::size_t z = 0; z < e.planes; ++z)
        for (std::size_t y = 0; y < e.rows; ++y)
            EXPECT_EQ(layout.at(0, y, z) * sizeof(float) % line, 0U);
    EXPECT_LT(layout.at(e.columns - 1, e.rows - 1, e.planes - 1) + 1 + layout.row + layout.plane,
              layout.count)
        << "the last cell has all its neighbours";
    EXPECT_GE(tile_rows(e, sizeof(float), 0), 8U);
    EXPECT_EQ(tile_rows(e, sizeof(float), 2 << 20U) % 8, 0U);
}

} // namespace
} // namespace assay::stencil
