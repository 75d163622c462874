// SPDX-License-Identifier: Apache-2.0
//
// The matrix of a 27-point stencil on a cube, as HPCG has it: a row for each point, with an entry for itself and each
// neighbour that is there. The place of an entry follows from its number, so that any thread makes or checks any row.

#pragma once

#include <assay/host_device.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace assay::sparse {

class Cube {
public:
    /// Points along one edge, at least two.
    ASSAY_HOST_DEVICE explicit constexpr Cube(std::uint64_t edge) : edge_{edge} {}

    ASSAY_HOST_DEVICE constexpr std::uint64_t edge() const { return edge_; }
    ASSAY_HOST_DEVICE constexpr std::uint64_t rows() const { return edge_ * edge_ * edge_; }
    ASSAY_HOST_DEVICE constexpr std::uint64_t entries() const { return line() * line() * line(); }

    struct Row {
        std::uint64_t first = 0;  ///< number of its first entry
        unsigned count = 0;       ///< 8 in a corner, 27 inside
        std::uint64_t column = 0; ///< of its first entry
        unsigned wide = 0;        ///< entries along x, and along y
        unsigned high = 0;
    };
    ASSAY_HOST_DEVICE constexpr Row row(std::uint64_t number) const {
        const std::uint64_t x = number % edge_;
        const std::uint64_t y = number / edge_ % edge_;
        const std::uint64_t z = number / edge_ / edge_;
        const unsigned wide = around(x);
        const unsigned high = around(y);
        const unsigned deep = around(z);
        return {.first =
                    before(z) * line() * line() + deep * (before(y) * line() + high * before(x)),
                .count = wide * high * deep,
                .column = (lower(z) * edge_ + lower(y)) * edge_ + lower(x),
                .wide = wide,
                .high = high};
    }
    /// Column of entry number `entry` of a row: they ascend.
    ASSAY_HOST_DEVICE constexpr std::uint64_t column(const Row& row, unsigned entry) const {
        const unsigned above = entry / row.wide;
        return row.column + entry % row.wide +
               edge_ * (above % row.high + edge_ * (above / row.high));
    }

private:
    /// Along one edge: entries of all points, and of those before one.
    ASSAY_HOST_DEVICE constexpr std::uint64_t line() const { return 3 * edge_ - 2; }
    ASSAY_HOST_DEVICE static constexpr std::uint64_t before(std::uint64_t at) {
        return at == 0 ? 0 : 3 * at - 1;
    }
    ASSAY_HOST_DEVICE constexpr unsigned around(std::uint64_t at) const {
        return 3U - (at == 0 ? 1U : 0U) - (at + 1 == edge_ ? 1U : 0U);
    }
    ASSAY_HOST_DEVICE static constexpr std::uint64_t lower(std::uint64_t at) {
        return at == 0 ? 0 : at - 1;
    }

    std::uint64_t edge_;
};

/// Bytes of the matrix in CSR with indexes of 32 bits, and of both vectors.
constexpr std::uint64_t csr_bytes(const Cube& cube, std::size_t element_size) {
    constexpr std::uint64_t index = sizeof(std::uint32_t);
    return cube.entries() * (element_size + index) + (cube.rows() + 1) * index +
           2 * cube.rows() * element_size;
}

/// The largest cube of at most so many bytes whose entries 32 bits can count.
inline Cube cube_of(std::int64_t bytes, std::size_t element_size) {
    constexpr std::uint64_t largest = 542; // (3 * 542 - 2)^3 < 2^32
    const double each = 27.0 * static_cast<double>(element_size + sizeof(std::uint32_t));
    auto edge = static_cast<std::uint64_t>(std::cbrt(static_cast<double>(bytes) / each)) + 2;
    if (edge > largest) edge = largest;
    while (edge > 2 && csr_bytes(Cube{edge}, element_size) > static_cast<std::uint64_t>(bytes))
        --edge;
    return Cube{edge};
}

} // namespace assay::sparse
