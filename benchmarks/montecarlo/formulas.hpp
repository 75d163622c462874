// SPDX-License-Identifier: Apache-2.0
//
// From random words to prices of a share, for single numbers: on devices, and in tests.

#pragma once

#include <assay/host_device.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace assay::montecarlo {

/// A share's possible values at the end of the term, and the question about them.
struct Terms {
    double start;  ///< price today
    double drift;  ///< of the logarithm of the price, over the term
    double spread; ///< its standard deviation
    double strike; ///< of the option to buy
    double floor;  ///< how often is the price below it?
};

ASSAY_HOST_DEVICE constexpr double factorial(std::size_t n) {
    double product = 1;
    for (std::size_t i = 2; i <= n; ++i) product *= static_cast<double>(i);
    return product;
}

/// Operations on one number.
template <class T>
struct ScalarOps {
    using Real = T;
    using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
    static constexpr bool is_fp64 = sizeof(T) == sizeof(double);
    static constexpr unsigned width = 8 * sizeof(T);
    static constexpr unsigned fraction = sizeof(T) == sizeof(double) ? 52 : 23; // bits
    static constexpr Bits one = sizeof(T) == sizeof(double) ? static_cast<Bits>(0x3FF) << fraction
                                                            : static_cast<Bits>(0x7F) << fraction;

    ASSAY_HOST_DEVICE static Real set(double value) { return static_cast<Real>(value); }
    ASSAY_HOST_DEVICE static Real fma(Real a, Real b, Real c) { return std::fma(a, b, c); }
    ASSAY_HOST_DEVICE static Real mul(Real a, Real b) { return a * b; }
    ASSAY_HOST_DEVICE static Real add(Real a, Real b) { return a + b; }
    ASSAY_HOST_DEVICE static Real sub(Real a, Real b) { return a - b; }
    ASSAY_HOST_DEVICE static Real div(Real a, Real b) { return a / b; }
    ASSAY_HOST_DEVICE static Real sqrt(Real a) { return std::sqrt(a); }
    ASSAY_HOST_DEVICE static Real round(Real a) { return std::rint(a); }
    ASSAY_HOST_DEVICE static Real not_negative(Real a) { return a > 0 ? a : Real{0}; }
    ASSAY_HOST_DEVICE static Real is_below(Real a, Real limit) {
        return a < limit ? Real{1} : Real{0};
    }
    /// In [1, 2), by the upper bits.
    ASSAY_HOST_DEVICE static Real from_one_to_two(Bits bits) {
        return std::bit_cast<Real>(static_cast<Bits>((bits >> (width - fraction)) | one));
    }
    /// With the sign changed where the lowest bit is set.
    ASSAY_HOST_DEVICE static Real flipped(Real a, Bits bits) {
        return std::bit_cast<Real>(
            static_cast<Bits>(std::bit_cast<Bits>(a) ^ (bits << (width - 1))));
    }
    /// Exponent e and mantissa m of a positive number m 2^e, with m from sqrt(1/2) up to sqrt(2).
    ASSAY_HOST_DEVICE static Real exponent(Real a) {
        return static_cast<Real>(static_cast<std::make_signed_t<Bits>>(above_root(a)) >> fraction);
    }
    ASSAY_HOST_DEVICE static Real mantissa(Real a) {
        return std::bit_cast<Real>(
            static_cast<Bits>(std::bit_cast<Bits>(a) - (above_root(a) >> fraction << fraction)));
    }
    /// a 2^power
    ASSAY_HOST_DEVICE static Real scaled(Real a, Real power) {
        const auto steps = static_cast<std::make_signed_t<Bits>>(power);
        return std::bit_cast<Real>(
            static_cast<Bits>(std::bit_cast<Bits>(a) + (static_cast<Bits>(steps) << fraction)));
    }
    static constexpr Bits root_half = std::bit_cast<Bits>(static_cast<T>(0.70710678118654752));

private:
    ASSAY_HOST_DEVICE static Bits above_root(Real a) {
        return static_cast<Bits>(std::bit_cast<Bits>(a) - root_half);
    }
};

/// The same, which counts floating point operations; those on bits, of signs and comparisons are none.
template <class T>
struct CountingOps : ScalarOps<T> {
    using Base = ScalarOps<T>;
    double* flops = nullptr;
    ASSAY_HOST_DEVICE T fma(T a, T b, T c) const { return *flops += 2, Base::fma(a, b, c); }
    ASSAY_HOST_DEVICE T mul(T a, T b) const { return *flops += 1, Base::mul(a, b); }
    ASSAY_HOST_DEVICE T add(T a, T b) const { return *flops += 1, Base::add(a, b); }
    ASSAY_HOST_DEVICE T sub(T a, T b) const { return *flops += 1, Base::sub(a, b); }
    ASSAY_HOST_DEVICE T div(T a, T b) const { return *flops += 1, Base::div(a, b); }
    ASSAY_HOST_DEVICE T sqrt(T a) const { return *flops += 1, Base::sqrt(a); }
};

#define ASSAY_INLINE inline
#include "montecarlo/formulas.inc"
#undef ASSAY_INLINE

/// Floating point operations for a path.
template <class T>
double flops_of_path(const Terms& terms) {
    using Ops = CountingOps<T>;
    double flops = 0;
    Ops ops;
    ops.flops = &flops;
    typename Formulas<Ops>::Sums sums{};
    Formulas<Ops>::add_paths(ops, terms, typename Ops::Bits{1} << 30U, typename Ops::Bits{1} << 29U,
                             sums);
    return flops / 2;
}

} // namespace assay::montecarlo
