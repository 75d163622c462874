// SPDX-License-Identifier: Apache-2.0
//
// Floating point numbers of few bits, as bit patterns: hosts have no types for them. One pair of functions
// for every format, the same on hosts and devices, so that a device's inputs and expected results are
// tested without one.

#pragma once

#include <assay/host_device.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::device {

/// Sign, exponent, mantissa from the highest bit down; subnormal numbers below the lowest exponent.
struct NarrowFloat {
    int exponent_bits;
    int mantissa_bits;
    int lowest_exponent;           ///< of normal numbers: 1 - bias
    std::uint32_t largest;         ///< code of the largest finite number; NaN or infinity above
    bool has_negative_zero = true; ///< false: that code is NaN
};

// OCP 8-bit floating point specification 1.0 (e4m3 has no infinity, one NaN), OCP microscaling formats 1.0 (e2m1 is all
// numbers), IEEE 754 (fp16), its upper parts (bf16, tf32: here 19 bits). CDNA3 ISA, "FP8 and BF8": e4m3fnuz and
// e5m2fnuz have a bias that is larger by one, no infinity and no negative zero; CDNA4 has OCP's. Functions and not
// constants, which device code could not refer to.
ASSAY_HOST_DEVICE constexpr NarrowFloat fp16_format() { return {5, 10, -14, 0x7bff}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat bf16_format() { return {8, 7, -126, 0x7f7f}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat tf32_format() { return {8, 10, -126, 0x3fbff}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat e4m3_format() { return {4, 3, -6, 0x7e}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat e5m2_format() { return {5, 2, -14, 0x7b}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat e4m3fnuz_format() { return {4, 3, -7, 0x7f, false}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat e5m2fnuz_format() { return {5, 2, -15, 0x7f, false}; }
ASSAY_HOST_DEVICE constexpr NarrowFloat e2m1_format() { return {2, 1, 0, 0x7}; }

/// The nearest number, ties to even; beyond the largest, the largest. Not for infinities and NaN.
ASSAY_HOST_DEVICE inline std::uint32_t encode(NarrowFloat format, double value) {
    const double size = std::fabs(value);
    int exponent = size > 0 ? std::ilogb(size) : format.lowest_exponent;
    if (exponent < format.lowest_exponent) exponent = format.lowest_exponent;
    const double steps = std::rint(std::ldexp(size, format.mantissa_bits - exponent));
    // Consecutive codes are consecutive numbers, so that rounding up to a power of two carries.
    const auto field = static_cast<std::uint32_t>(exponent - format.lowest_exponent);
    const std::uint32_t code = (field << format.mantissa_bits) + static_cast<std::uint32_t>(steps);
    const bool is_negative = value < 0 && (code > 0 || format.has_negative_zero);
    const std::uint32_t sign =
        is_negative ? 1U << (format.exponent_bits + format.mantissa_bits) : 0U;
    return sign | (code < format.largest ? code : format.largest);
}

ASSAY_HOST_DEVICE inline double decode(NarrowFloat format, std::uint32_t code) {
    const std::uint32_t sign = 1U << (format.exponent_bits + format.mantissa_bits);
    const std::uint32_t size = code & (sign - 1);
    if (size > format.largest || (code == sign && !format.has_negative_zero))
        return std::numeric_limits<double>::quiet_NaN();
    const std::uint32_t field = size >> format.mantissa_bits;
    const std::uint32_t hidden = field > 0 ? 1U << format.mantissa_bits : 0U;
    const std::uint32_t steps = hidden + (size & ((1U << format.mantissa_bits) - 1));
    const int exponent = format.lowest_exponent + (field > 0 ? static_cast<int>(field) - 1 : 0);
    const double value = std::ldexp(static_cast<double>(steps), exponent - format.mantissa_bits);
    return (code & sign) != 0 ? -value : value;
}

/// A scale of microscaling formats: a power of two, 127 stands for 1.
ASSAY_HOST_DEVICE inline double decode_e8m0(std::uint32_t code) {
    return std::ldexp(1.0, static_cast<int>(code) - 127);
}

} // namespace assay::device
