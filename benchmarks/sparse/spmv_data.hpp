// SPDX-License-Identifier: Apache-2.0
//
// What sparse.spmv computes, wherever it runs: its parameters, its matrix and vectors, what it counts, and what every
// element of the product is compared with.

#pragma once

#include "sparse/cube.hpp"

#include <assay/define.hpp>

namespace assay::sparse {

/// A matrix in compressed rows: the entries of row i are those from first[i] up to first[i + 1].
template <class T>
struct Csr {
    const std::uint32_t* first;
    const std::uint32_t* columns;
    const T* values;
};

namespace spmv_data {

template <class Params>
inline constexpr std::tuple axes{
    precision_axis("precision of matrix and vectors", &Params::precision),
    footprint_axis("bytes of the matrix and both vectors", &Params::footprint,
                   {Symbol::beyond_cache}, {64_KiB, 64_GiB}),
};

template <class T>
Work work(const Cube& cube) {
    const auto entries = static_cast<double>(cube.entries());
    return {.flops = 2 * entries, .bytes = static_cast<double>(csr_bytes(cube, sizeof(T)))};
}
template <class T>
void describe(const Cube& cube, const Context& context) {
    const auto bytes = static_cast<double>(csr_bytes(cube, sizeof(T)));
    context.setting("rows", cube.rows());
    context.setting("nonzeros", cube.entries());
    context.setting("footprint", bytes);
    context.tell({.footprint_bytes = bytes});
}

// All are positive: nothing cancels, and so every element has a relative bound.
template <class T>
inline constexpr T low = T{0.5};
template <class T>
inline constexpr T high = T{1.5};
inline constexpr std::uint64_t values_seed = 31;
inline constexpr std::uint64_t vector_seed = 32;
inline constexpr std::uint64_t spoil_seed = 33;

template <class T>
ASSAY_HOST_DEVICE T value_at(std::uint64_t entry) {
    return random_uniform<T>(values_seed, entry, low<T>, high<T>);
}
template <class T>
ASSAY_HOST_DEVICE T vector_at(std::uint64_t row) {
    return random_uniform<T>(vector_seed, row, low<T>, high<T>);
}

/// Entries of row number `row` of the matrix, and that element of the vector it is multiplied by.
template <class T>
struct Fill {
    Cube cube;
    std::uint32_t* first;
    std::uint32_t* columns;
    T* values;
    T* x;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t number) const {
        const Cube::Row row = cube.row(number);
        first[number] = static_cast<std::uint32_t>(row.first);
        if (number + 1 == cube.rows())
            first[number + 1] = static_cast<std::uint32_t>(cube.entries());
        for (unsigned k = 0; k < row.count; ++k) {
            columns[row.first + k] = static_cast<std::uint32_t>(cube.column(row, k));
            values[row.first + k] = value_at<T>(row.first + k);
        }
        x[number] = vector_at<T>(number);
    }
};

template <class T>
constexpr double bound() {
    return 2 * (27 + 1) * unit_roundoff<T>;
}
inline constexpr const char* method =
    "every element against the sum of its row in fp64, relative; n products in any order err by "
    "(n+1) u at most, and so does that sum; and the matrix and the vector are unchanged";

/// How far element `number` of y is from what the stencil's geometry and the random seeds say, relative to it.
template <class T>
struct Deviation {
    Cube cube;
    Csr<T> matrix;
    const T* x;
    const T* y;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t number) const {
        const Cube::Row row = cube.row(number);
        bool same = matrix.first[number] == row.first &&
                    matrix.first[number + 1] == row.first + row.count &&
                    x[number] == vector_at<T>(number);
        double expected = 0;
        for (unsigned k = 0; k < row.count; ++k) {
            const std::uint64_t column = cube.column(row, k);
            const T value = value_at<T>(row.first + k);
            same = same && matrix.columns[row.first + k] == column &&
                   matrix.values[row.first + k] == value;
            expected += static_cast<double>(value) * static_cast<double>(x[column]);
        }
        if (!same) return std::numeric_limits<double>::infinity();
        return (static_cast<double>(y[number]) - expected) / expected;
    }
};

} // namespace spmv_data
} // namespace assay::sparse
