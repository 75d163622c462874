// SPDX-License-Identifier: Apache-2.0
//
// Is C = A B^T, on a device? Two tests. One element in every tile of C is compared with its sum in fp64, to the
// bound of device_precision.hpp. And every row of C is compared with A (B^T r) for random vectors r
// (Freivalds, as on hosts: freivalds.hpp), which sees whatever is wrong between the samples. The device
// makes the sums; the judgement is here.

#pragma once

#include "gemm/device_precision.hpp"

#include <assay/verify.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace assay::gemm {

// --- which elements -------------------------------------------------------------------------------

/// C in cells, one random element of each, and its four corners.
struct Sampling {
    std::uint64_t rows;
    std::uint64_t columns;
    std::uint64_t row_cells;
    std::uint64_t column_cells;

    ASSAY_HOST_DEVICE constexpr std::uint64_t count() const { return row_cells * column_cells + 4; }
};

/// No kernel's tile is smaller than 64 in both directions; 128 cells a side are enough work.
constexpr Sampling sampling_of(std::int64_t rows, std::int64_t columns) {
    const auto cells = [](std::int64_t length) {
        return static_cast<std::uint64_t>(std::min<std::int64_t>((length + 63) / 64, 128));
    };
    return {.rows = static_cast<std::uint64_t>(rows),
            .columns = static_cast<std::uint64_t>(columns),
            .row_cells = cells(rows),
            .column_cells = cells(columns)};
}

struct Position {
    std::uint64_t row;
    std::uint64_t column;
};

inline constexpr std::uint64_t sampling_seed = 0x5a3b'1e00;

ASSAY_HOST_DEVICE inline Position sample_at(const Sampling& s, std::uint64_t index) {
    const std::uint64_t cells = s.row_cells * s.column_cells;
    if (index >= cells) {
        const std::uint64_t corner = index - cells;
        return {.row = corner % 2 == 0 ? 0 : s.rows - 1,
                .column = corner / 2 == 0 ? 0 : s.columns - 1};
    }
    const auto inside = [&](std::uint64_t cell, std::uint64_t cells_of_side, std::uint64_t length,
                            std::uint64_t number) {
        const std::uint64_t first = cell * length / cells_of_side;
        const std::uint64_t end = (cell + 1) * length / cells_of_side;
        return first + random_bits(sampling_seed, number) % (end - first);
    };
    return {.row = inside(index % s.row_cells, s.row_cells, s.rows, 2 * index),
            .column = inside(index / s.row_cells, s.column_cells, s.columns, 2 * index + 1)};
}

// --- elements -------------------------------------------------------------------------------------

/// One element of C and what it should be, with the squares of the rows that make it.
struct Entry {
    double got;
    double product;
    double square_a;
    double square_b;
};

inline double allowed_error(const Entry& entry, const Tolerance& tolerance, std::int64_t k) {
    const double rms = std::sqrt(entry.square_a * entry.square_b / static_cast<double>(k));
    return tolerance.relative * std::fabs(entry.product) + tolerance.absolute * rms;
}

namespace detail {

/// A deviation in units of what is allowed; where nothing is, any is infinitely too much.
inline double in_units(double off, double allowed) {
    if (off == 0) return 0;
    return allowed > 0 ? off / allowed : std::numeric_limits<double>::infinity();
}

} // namespace detail

inline Check check_entries(std::span<const Entry> entries, const Tolerance& tolerance,
                           std::int64_t k) {
    return check_each(
        entries.size(),
        [&](std::size_t i) {
            const Entry& entry = entries[i];
            return detail::in_units(std::fabs(entry.got - entry.product),
                                    allowed_error(entry, tolerance, k));
        },
        1.0,
        joined("an element of every tile of C against its sum in fp64, in units of ",
               tolerance.relative, " of the element and ", tolerance.absolute,
               " of the rms of such sums; every row of C against A (B r) for 3 random vectors"));
}

// --- rows -----------------------------------------------------------------------------------------

inline constexpr std::size_t device_vectors = 3;

/// Column after column: device_vectors of length m each.
template <class Sum>
struct RowSums {
    std::span<const Sum> found;    ///< C r
    std::span<const Sum> expected; ///< A (B^T r)
};

/// Rounding errors of a row's elements add up like independent numbers, so a row is off by their rms times
/// sqrt(n): at most 0.6 of `relative`, and a third of `absolute`, which allows for the worst element.
/// Four times both is beyond every chance, and below any wrong row: that is off by sqrt(2) rms.
inline constexpr double row_factor = 4;

/// `square_a`: of each row of A; `square_b`: of the whole of B.
inline Check check_rows(const RowSums<double>& sums, std::span<const double> square_a,
                        double square_b, const Tolerance& tolerance, const Shape& shape) {
    const std::size_t m = square_a.size();
    const double each = row_factor * (tolerance.relative + tolerance.absolute) *
                        std::sqrt(square_b / static_cast<double>(shape.k));
    return check_each(
        m,
        [&](std::size_t i) {
            double worst = 0;
            for (std::size_t v = 0; v < device_vectors; ++v) {
                const double off = std::fabs(sums.found[v * m + i] - sums.expected[v * m + i]);
                if (!(off <= worst)) worst = off; // keeps a NaN
                if (std::isnan(worst)) break;
            }
            return detail::in_units(worst, each * std::sqrt(square_a[i]));
        },
        1.0, "every row of C: C r against A (B r) in fp64 for 3 normal vectors r");
}

/// Modulo 2^64: a wrong row passes one vector with a probability of at most 2^-33 (freivalds.hpp).
inline Check check_rows_exactly(const RowSums<std::uint64_t>& sums) {
    return check_each(
        sums.found.size(),
        [&](std::size_t i) { return sums.found[i] == sums.expected[i] ? 0.0 : 1.0; }, 0.0,
        "every row of C: C r equals A (B r) modulo 2^64 for 3 vectors r of random integers");
}

} // namespace assay::gemm
