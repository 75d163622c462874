// SPDX-License-Identifier: Apache-2.0
//
// Operands of the dot instructions, and what the sums must be.
//
// Every result is exact, in integers and in bf16: no order of the additions and no way to round makes a
// difference, so verify() can ask for equality without knowing how a chip rounds. Sums of
// bf16 products have room for it because the second operand b is the first one negated, but for one
// element of each column that differs by one: two steps multiply full-sized numbers and move a sum
// by at most 255.

#pragma once

#include "dot_kernels.hpp"

#include <assay/random.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::peak {

/// Steps of one run: 0.1 ms or more with 12 or 16 chains, some tens of times what a parallel region
/// costs. Sums of bf16 stay below 2^24 (2^15 x 255, and one step), where fp32 holds every integer.
inline constexpr std::size_t dot_steps = std::size_t{1} << 16U;

inline constexpr std::int64_t dot_start = 1000; ///< sums begin between -1000 and 1000

/// Operands as integers: two a and two b, each of shape.elements() elements.
struct DotValues {
    std::vector<int> a;
    std::vector<int> b;
};

/// int8: a is unsigned or signed as the instruction has it, so 0 to 127; b stays below 64, because
/// without VNNI pairs of products are added in 16 bits and would saturate. bf16: all integers that
/// have eight significant bits, and a sign.
inline DotValues dot_values(const DotShape& shape, Format format, std::uint64_t seed) {
    const bool is_int8 = format == Format::int8;
    const std::size_t n = shape.elements();
    DotValues values{.a = std::vector<int>(2 * n), .b = std::vector<int>(2 * n)};
    const int most_b = is_int8 ? 62 : 254; // leaves room for one more
    for (std::size_t i = 0; i < 2 * n; ++i)
        values.a[i] = random_integer<int>(seed, i, is_int8 ? 0 : -255, is_int8 ? 127 : 255);
    for (std::size_t i = 0; i < n; ++i) {
        values.b[i] = random_integer<int>(seed + 1, i, -most_b, most_b);
        values.b[n + i] = -values.b[i];
    }
    for (std::size_t sum = 0; sum < shape.sums; ++sum) {
        // Sums of one column share their b, and so the element that is picked.
        const std::size_t column = shape.b_index(sum, 0);
        const std::size_t pick = random_bits(seed + 2, column) % shape.depth;
        const std::size_t at = shape.b_index(sum, pick);
        values.b[n + at] = 1 - values.b[at];
    }
    return values;
}

/// Growth by one pair of steps of a sum of the chains that use the operand a number `operand`.
inline std::int64_t dot_growth(const DotShape& shape, const DotValues& values, std::size_t operand,
                               std::size_t sum) {
    const std::size_t n = shape.elements();
    std::int64_t growth = 0;
    for (std::size_t k = 0; k < shape.depth; ++k) {
        const std::size_t at = shape.b_index(sum, k);
        growth += std::int64_t{values.a[operand * n + shape.a_index(sum, k)]} *
                  (values.b[at] + values.b[n + at]);
    }
    return growth;
}

/// Elements as the instruction reads them, in bytes.
inline void store_elements(std::span<const int> values, Format format, std::span<std::byte> to) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (format == Format::int8) {
            to[i] = static_cast<std::byte>(values[i]);
            continue;
        }
        // The upper half of an fp32; the lower one is zero for integers of eight significant bits.
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(values[i]));
        to[2 * i] = static_cast<std::byte>(bits >> 16U);
        to[2 * i + 1] = static_cast<std::byte>(bits >> 24U);
    }
}

/// A sum as 32 bits, and back.
inline std::uint32_t sum_bits(std::int64_t value, Format format) {
    if (format == Format::bf16) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return static_cast<std::uint32_t>(value);
}
inline double sum_value(std::uint32_t bits, Format format) {
    if (format == Format::bf16) return std::bit_cast<float>(bits);
    return static_cast<std::int32_t>(bits);
}

} // namespace assay::peak
