// SPDX-License-Identifier: Apache-2.0
//
// Numbers with fewer bits: bfloat16 as a storage type, and rounding to fewer significant bits, which
// is how a matrix product with silently narrowed inputs is imitated.

#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace assay::gemm {

/// The upper half of an IEEE single: 8 significant bits.
struct Bfloat16 {
    std::uint16_t bits = 0;

    constexpr operator float() const { // widening loses nothing, so it may be implicit
        return std::bit_cast<float>(std::uint32_t{bits} << 16U);
    }
};

/// Nearest, ties to even. Not for NaN, which the addition could turn into an infinity.
constexpr Bfloat16 to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = 0x7fffU + ((bits >> 16U) & 1U); // just below, or at, half a step
    return {static_cast<std::uint16_t>((bits + half) >> 16U)};
}

/// The nearest number with `digits` significant bits, for numbers whose product with 2^53 does not
/// overflow (Veltkamp's splitting: three operations, and exact). Three statements, so that no
/// compiler contracts them into a fused multiply-add.
template <class T>
constexpr T round_to_bits(T value, int digits) {
    const T factor =
        static_cast<T>((std::uint64_t{1} << (std::numeric_limits<T>::digits - digits)) + 1);
    const T large = factor * value;
    const T rest = value - large;
    return large + rest;
}

} // namespace assay::gemm
