// SPDX-License-Identifier: Apache-2.0
//
// The matrix of sparse.spmv against its definition, and the loops on matrices of other shapes.
#include "sparse/spmv_kernels.hpp"
#include "sparse/spmv_rows.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::sparse {
namespace {

/// Whole numbers, so that sums are exact in any order.
template <class T>
struct Example {
    std::vector<std::uint32_t> first{0};
    std::vector<std::uint32_t> columns;
    std::vector<T> values;
    std::vector<T> x;

    /// Row i has lengths[i] entries, at random columns.
    explicit Example(const std::vector<std::size_t>& lengths) {
        for (std::size_t i = 0; i < lengths.size(); ++i)
            x.push_back(random_integer<T>(1, i, 1, 100));
        for (const std::size_t length : lengths) {
            for (std::size_t k = 0; k < length; ++k) {
                const std::size_t at = columns.size();
                columns.push_back(static_cast<std::uint32_t>(random_bits(2, at) % lengths.size()));
                values.push_back(random_integer<T>(3, at, 1, 100));
            }
            first.push_back(static_cast<std::uint32_t>(columns.size()));
        }
        columns.resize(columns.size() + spmv_margin<T>);
        values.resize(values.size() + spmv_margin<T>, T{1000});
    }
    Csr<T> matrix() const { return {first.data(), columns.data(), values.data()}; }
    T expected(std::size_t row) const {
        T sum = 0;
        for (std::size_t at = first[row]; at < first[row + 1]; ++at)
            sum += values[at] * x[columns[at]];
        return sum;
    }
};

std::vector<std::size_t> every_length() {
    std::vector<std::size_t> lengths;
    for (std::size_t length = 0; length < 80; ++length) lengths.push_back(length);
    return lengths;
}

template <class T>
class Spmv : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(Spmv, Reals);

TYPED_TEST(Spmv, LoopsMultiplyRowsOfEveryLength) {
    const Example<TypeParam> example{every_length()};
    const std::size_t rows = example.x.size();
    for (const auto& loop : spmv_loops<TypeParam>()) {
        SCOPED_TRACE(loop.instructions);
        std::vector<TypeParam> y(rows, -1);
        loop.multiply(example.matrix(), example.x.data(), y.data(), 1, rows - 1);
        EXPECT_EQ(y.front(), -1) << "a row of another thread";
        EXPECT_EQ(y.back(), -1);
        for (std::size_t row = 1; row + 1 < rows; ++row)
            EXPECT_EQ(y[row], example.expected(row)) << row;
    }
}

template <unsigned lanes, class T>
T sum_of_lanes(const Csr<T>& matrix, const T* x, std::uint32_t row) {
    T shares[lanes];
    for (unsigned lane = 0; lane < lanes; ++lane)
        shares[lane] = share_of_lane<lanes>(matrix, x, row, lane);
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        for (unsigned lane = 0; lane < distance; ++lane) shares[lane] += shares[lane + distance];
    return shares[0];
}

TYPED_TEST(Spmv, LanesOfADeviceShareRowsOfEveryLength) {
    const Example<TypeParam> example{every_length()};
    for (std::uint32_t row = 0; row < example.x.size(); ++row) {
        const auto all = [&]<unsigned lanes>() {
            return sum_of_lanes<lanes>(example.matrix(), example.x.data(), row);
        };
        EXPECT_EQ(all.template operator()<32>(), example.expected(row)) << row;
        EXPECT_EQ(all.template operator()<4>(), example.expected(row)) << row;
    }
}

TYPED_TEST(Spmv, LanesOfADeviceGiveTheSameBitsHoweverManyThereAre) {
    constexpr std::size_t rows = 33;
    Example<TypeParam> example{std::vector<std::size_t>(rows, 27)};
    for (std::size_t i = 0; i < example.values.size(); ++i)
        example.values[i] = spmv_data::value_at<TypeParam>(i);
    for (std::size_t i = 0; i < rows; ++i) example.x[i] = spmv_data::vector_at<TypeParam>(i);
    for (std::uint32_t row = 0; row < rows; ++row) {
        const auto all = [&]<unsigned lanes>() {
            return sum_of_lanes<lanes>(example.matrix(), example.x.data(), row);
        };
        const TypeParam wanted = all.template operator()<32>();
        EXPECT_EQ(all.template operator()<16>(), wanted);
        EXPECT_EQ(all.template operator()<8>(), wanted);
        EXPECT_EQ(all.template operator()<4>(), wanted);
    }
}

/// Every pair of points, by their distance.
TEST(Cube, HasAnEntryForEachNeighbour) {
    for (const std::uint64_t edge : {2U, 3U, 5U}) {
        const Cube cube{edge};
        std::uint64_t entries = 0;
        const auto is_near = [&](std::uint64_t a, std::uint64_t b) {
            return a + 1 >= b && b + 1 >= a;
        };
        for (std::uint64_t number = 0; number < cube.rows(); ++number) {
            const auto row = cube.row(number);
            EXPECT_EQ(row.first, entries);
            unsigned k = 0;
            for (std::uint64_t other = 0; other < cube.rows(); ++other) {
                if (!is_near(number % edge, other % edge) ||
                    !is_near(number / edge % edge, other / edge % edge) ||
                    !is_near(number / edge / edge, other / edge / edge))
                    continue;
                EXPECT_EQ(cube.column(row, k), other) << edge << ' ' << number;
                ++k;
            }
            EXPECT_EQ(row.count, k);
            entries += k;
        }
        EXPECT_EQ(cube.entries(), entries);
    }
}

TEST(Cube, IsTheLargestThatFits) {
    for (const std::size_t size : {sizeof(double), sizeof(float)})
        for (const std::int64_t bytes : {64'000L, 1'000'000L, 512L << 20U, 20L << 30U}) {
            const Cube cube = cube_of(bytes, size);
            EXPECT_LE(csr_bytes(cube, size), static_cast<std::uint64_t>(bytes));
            EXPECT_GT(csr_bytes(Cube{cube.edge() + 1}, size), static_cast<std::uint64_t>(bytes));
        }
    const Cube largest = cube_of(1L << 40U, sizeof(double));
    EXPECT_LT(largest.entries(), std::uint64_t{1} << 32U);
    EXPECT_GE(Cube{largest.edge() + 1}.entries(), std::uint64_t{1} << 32U);
}

} // namespace
} // namespace assay::sparse
