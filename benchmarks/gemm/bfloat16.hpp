// SPDX-License-Identifier: Apache-2.0
//
// Numbers with fewer bits: bfloat16 as a storage type, and rounding to fewer significant bits, which
// is how a matrix product with silently narrowed inputs is imitated.

#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// The nearest number with `digits` significant bits, to even between two; for normal numbers, whose exponent has room.
/// By integers: Veltkamp's splitting loses its rounding where a compiler contracts products and sums of several
/// statements (g++ for Arm does).
template <class T>
constexpr T round_to_bits(T value, int digits) {
    using Bits =
        std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
    const int dropped = std::numeric_limits<T>::digits - digits;
    if (dropped <= 0) return value;
    auto bits = std::bit_cast<Bits>(value);
    const Bits is_odd = (bits >> dropped) & 1U;
    const Bits unit = Bits{1} << dropped;
    bits += unit / 2 - 1 + is_odd;
    return std::bit_cast<T>(bits & ~(unit - 1));
}

} // namespace assay::gemm
