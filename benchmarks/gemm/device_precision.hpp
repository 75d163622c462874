// SPDX-License-Identifier: Apache-2.0
//
// The precisions of matrix products on devices: how operands lie in memory, what a chip and a library need,
// how much memory a product takes, and how far a right result may be off.

#pragma once

#include "gemm/device_operand.hpp"

#include <assay/benchmark.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace assay::gemm {

enum class DevicePrecision : std::uint8_t {
    fp64,
    fp32,
    tf32,
    fp16,
    bf16,
    fp8_e4m3,
    fp8_e5m2,
    int8,
    mxfp8,
    nvfp4,
    fp64_emulated,
    fp32_emulated
};
enum class Accumulation : std::uint8_t { exact, fast };

/// Rows and columns of C, and the length of the sums.
struct Shape {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    bool operator==(const Shape&) const = default;
};

struct PrecisionSpec {
    Storage a;
    Storage b;
    Storage c;
    int capability;  ///< the oldest chips with it: 89 for 8.9
    int cublas;      ///< the oldest cuBLAS with it, as CUBLAS_VERSION counts: 120800
    int multiple_of; ///< every dimension must be
};

constexpr PrecisionSpec spec_of(DevicePrecision precision) {
    using enum Storage;
    constexpr int any = 0;
    switch (precision) {
    case DevicePrecision::fp64:
        return {fp64, fp64, fp64, any, any, 1};
    case DevicePrecision::fp32:
        return {fp32, fp32, fp32, any, any, 1};
    case DevicePrecision::tf32:
        return {tf32, tf32, fp32, 80, any, 1};
    case DevicePrecision::fp16:
        return {fp16, fp16, fp16, 75, any, 1};
    case DevicePrecision::bf16:
        return {bf16, bf16, bf16, 80, any, 1};
    case DevicePrecision::fp8_e4m3:
        return {e4m3, e4m3, bf16, 89, any, 16};
    case DevicePrecision::fp8_e5m2: // there is no product of e5m2 with e5m2
        return {e5m2, e4m3, bf16, 89, any, 16};
    case DevicePrecision::int8:
        return {int8, int8, int32, 75, any, 4};
    case DevicePrecision::mxfp8:
        return {mx_e4m3, mx_e4m3, bf16, 100, 120800, 128};
    case DevicePrecision::nvfp4:
        return {nv_e2m1, nv_e2m1, bf16, 100, 120800, 128};
    case DevicePrecision::fp64_emulated: // before 13.1 nothing tells whether it was emulated
        return {fp64, fp64, fp64, any, 130100, 1};
    case DevicePrecision::fp32_emulated:
        return {fp32, fp32, fp32, any, 130100, 1};
    }
    return {fp64, fp64, fp64, any, any, 1};
}

constexpr bool is_emulated(DevicePrecision p) {
    return p == DevicePrecision::fp64_emulated || p == DevicePrecision::fp32_emulated;
}
constexpr bool is_fp8(DevicePrecision p) {
    return p == DevicePrecision::fp8_e4m3 || p == DevicePrecision::fp8_e5m2;
}

/// "13.1", of CUBLAS_VERSION.
inline std::string cublas_text(int version) {
    return joined(version / 10000, '.', version / 100 % 100);
}

/// Rules of a shape, a library and the two parameters together, for any device.
inline Fit allowed(DevicePrecision precision, Accumulation accumulation, const Shape& shape,
                   int cublas) {
    const PrecisionSpec spec = spec_of(precision);
    if (accumulation == Accumulation::fast && !is_fp8(precision))
        return Fit::no("not applicable: only fp8 has a fast accumulation");
    if (cublas < spec.cublas)
        return Fit::no("not applicable: needs cuBLAS " + cublas_text(spec.cublas) +
                       ", this build has " + cublas_text(cublas));
    for (const std::int64_t length : {shape.m, shape.n, shape.k})
        if (length % spec.multiple_of != 0)
            return Fit::no("not applicable: this precision needs sizes that are multiples of ",
                           spec.multiple_of, ", not ", length);
    return Fit::yes();
}

/// Memory that the library may use beside the matrices. Emulated fp64 keeps every operand as slices of 8 bits: 10
/// of them hold the 79 bits that it goes up to. Padded as its kernels do, half as much again for sums.
constexpr std::int64_t workspace_bytes(DevicePrecision precision, const Shape& shape) {
    constexpr std::int64_t mebi = std::int64_t{1} << 20U;
    if (!is_emulated(precision)) return 32 * mebi; // NVIDIA's advice for Hopper and later
    const auto padded = [](std::int64_t length) { return (length + 1023) / 1024 * 1024; };
    constexpr std::int64_t slices = 10;
    const std::int64_t operands = (padded(shape.m) + padded(shape.n)) * padded(shape.k) * slices;
    return std::max(1024 * mebi, operands / 2 * 3);
}

/// Memory of the matrices, with scales.
constexpr std::int64_t matrix_bytes(DevicePrecision precision, const Shape& shape) {
    const PrecisionSpec spec = spec_of(precision);
    const auto bytes = [](Storage storage, std::int64_t rows, std::int64_t inner) {
        const auto r = static_cast<std::uint64_t>(rows);
        const auto i = static_cast<std::uint64_t>(inner);
        return static_cast<std::int64_t>(data_bytes(storage, r * i) + scale_bytes(storage, r, i));
    };
    return bytes(spec.a, shape.m, shape.k) + bytes(spec.b, shape.n, shape.k) +
           bytes(spec.c, shape.n, shape.m);
}

constexpr Work product_work(DevicePrecision precision, const Shape& shape) {
    const double count = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                         static_cast<double>(shape.k);
    return precision == DevicePrecision::int8 ? Work{.operations = count} : Work{.flops = count};
}

/// How far an element may be off: relative * |element| + absolute * rms, where rms is the size that sums of
/// independent products have, |row of A| |column of B| / sqrt(k).
struct Tolerance {
    double relative = 0; ///< the rounding to the type of C
    double absolute = 0; ///< the rounding of sums
};

namespace detail {

/// Sums whose every step rounds to nearest, with unit roundoff u: partial sums grow like sqrt(t), so
/// the errors add up to a standard deviation of u sqrt(k/6) rms. Eight of them.
inline double rounded_sums(double u, double k) { return 8 * u * std::sqrt(k / 6); }

/// Sums in tensor cores, which cut off what does not fit, `together` products at a time: half a unit in the
/// last place of the partial sum is lost on average at each step, all towards zero, which adds up to a
/// third of (k / together) units: three times that. Aligning the products to the largest cuts each of
/// them too; those errors have no common sign: eight of their standard deviations at most.
inline double cut_sums(double unit, double k, double together) {
    return unit * (k / together + 8 * std::sqrt(k / together));
}

} // namespace detail

/// Units in the last place: fp32 sums have 2^-23. Hopper and Ada sum fp8 products with 13 bits behind the
/// leading one; with fast accumulation all of them, else they move to fp32 every few hundred products: the
/// bound allows for 512, whose loss is 2^-13 * 512/32 / 3, and six times that for the worst of many elements.
inline Tolerance tolerance_of(DevicePrecision precision, Accumulation accumulation,
                              std::int64_t length) {
    const auto k = static_cast<double>(length);
    constexpr double fp32_unit = 0x1p-23;
    constexpr double fp8_unit = 0x1p-13;
    switch (precision) {
    case DevicePrecision::fp64:
    case DevicePrecision::fp64_emulated:
        return {.relative = 0x1p-53, .absolute = detail::rounded_sums(0x1p-53, k)};
    case DevicePrecision::fp32:
        return {.relative = 0x1p-24, .absolute = detail::rounded_sums(0x1p-24, k)};
    case DevicePrecision::tf32:
        return {.relative = 0x1p-24, .absolute = detail::cut_sums(fp32_unit, k, 4)};
    case DevicePrecision::fp32_emulated: // the products of three bf16 parts of each number
        return {.relative = 0x1p-24, .absolute = detail::cut_sums(fp32_unit, k, 8)};
    case DevicePrecision::fp16:
        return {.relative = 0x1p-11, .absolute = detail::cut_sums(fp32_unit, k, 8)};
    case DevicePrecision::bf16:
    case DevicePrecision::mxfp8:
    case DevicePrecision::nvfp4:
        return {.relative = 0x1p-8, .absolute = detail::cut_sums(fp32_unit, k, 8)};
    case DevicePrecision::fp8_e4m3:
    case DevicePrecision::fp8_e5m2:
        return {.relative = 0x1p-8,
                .absolute = accumulation == Accumulation::fast ? detail::cut_sums(fp8_unit, k, 32)
                                                               : 32 * fp8_unit};
    case DevicePrecision::int8:
        break;
    }
    return {};
}

} // namespace assay::gemm
