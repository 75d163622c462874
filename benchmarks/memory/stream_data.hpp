// SPDX-License-Identifier: Apache-2.0
//
// What memory.stream computes, wherever it runs: its loops, what they count, the random arrays they walk
// over and the values that must come out, to the last bit.

#pragma once

#include <assay/host_device.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace assay::memory {

/// read and write alone are for devices, where one direction has a rate of its own.
enum class Kernel : std::uint8_t { copy, scale, add, triad, dot, nstream, read, write };

/// Bytes and operations of each kernel for one element, in the order of the enumeration.
struct PerElement {
    std::int64_t arrays; ///< that a kernel walks over: what the footprint is divided by
    std::int64_t
        accesses; ///< counted as STREAM does; nstream reads three arrays and writes one of them
    double flops; ///< read sums what it reads
};
inline constexpr std::array<PerElement, 8> per_element{
    {{2, 2, 0}, {2, 2, 1}, {3, 3, 1}, {3, 3, 2}, {2, 2, 2}, {3, 4, 3}, {1, 1, 1}, {1, 1, 0}}};

constexpr const PerElement& of_element(Kernel kernel) {
    return per_element[static_cast<std::size_t>(kernel)];
}
constexpr std::int64_t arrays_of(Kernel kernel) { return of_element(kernel).arrays; }
constexpr double bytes_per_element(Kernel kernel) {
    return static_cast<double>(of_element(kernel).accesses) * sizeof(double);
}
constexpr double flops_per_element(Kernel kernel) { return of_element(kernel).flops; }

inline Work work_of(Kernel kernel, std::size_t count) {
    const auto n = static_cast<double>(count);
    return {.flops = flops_per_element(kernel) * n, .bytes = bytes_per_element(kernel) * n};
}
constexpr double footprint_of(Kernel kernel, std::size_t count) {
    return static_cast<double>(arrays_of(kernel)) * static_cast<double>(count * sizeof(double));
}

/// Does it give one sum instead of an array?
constexpr bool is_sum(Kernel kernel) { return kernel == Kernel::dot || kernel == Kernel::read; }
constexpr bool reads_right(Kernel kernel) {
    return kernel == Kernel::add || kernel == Kernel::triad || kernel == Kernel::dot ||
           kernel == Kernel::nstream;
}

/// Rounding errors of n additions of positive numbers behave like a random walk: sqrt(n) is more than twenty
/// standard deviations away with the 16 partial sums that every thread has at least; adding those up accounts
/// for the rest.
inline double sum_bound(std::size_t count) {
    return unit_roundoff<double> * (std::sqrt(static_cast<double>(count)) + 16);
}

/// nstream is recomputed call by call for every element: fails where there were too many.
inline Check check_calls(Kernel kernel, std::uint64_t calls) {
    constexpr double most = 1000;
    return check_value(kernel == Kernel::nstream ? static_cast<double>(calls) : 0, most,
                       "calls since the last reset", "reset before the checked call");
}
inline Check check_sum(double sum, double exact, std::size_t count) {
    return check_value((sum - exact) / exact, sum_bound(count),
                       "against a compensated sum over the random seed, bound u*(sqrt(n)+16)",
                       joined("the sum is ", sum, ", expected ", exact));
}

/// One bit of an element; of a sum, twice the bound.
inline double spoilt(Kernel kernel, double value, std::size_t count) {
    return is_sum(kernel) ? off_by_twice(value, sum_bound(count))
                          : std::nextafter(value, 2 * value);
}

namespace stream_data {

// Between 0.5 and 1.5 sums and products keep their size and nothing cancels.
inline constexpr double low = 0.5;
inline constexpr double high = 1.5;
inline constexpr double scalar = 0.7320508075688772; // sqrt(3) - 1: a mantissa full of bits
inline constexpr std::uint64_t out_seed = 1;
inline constexpr std::uint64_t left_seed = 2;
inline constexpr std::uint64_t right_seed = 3;
inline constexpr std::uint64_t spoil_seed = 4;

ASSAY_HOST_DEVICE inline double start(std::uint64_t i) {
    return random_uniform(out_seed, i, low, high);
}
ASSAY_HOST_DEVICE inline double left(std::uint64_t i) {
    return random_uniform(left_seed, i, low, high);
}
ASSAY_HOST_DEVICE inline double right(std::uint64_t i) {
    return random_uniform(right_seed, i, low, high);
}
/// The values of `write`: cheap to make and different everywhere.
ASSAY_HOST_DEVICE inline double written(std::uint64_t i) { return scalar + static_cast<double>(i); }

ASSAY_HOST_DEVICE inline double multiply_add(double x, double y, double z, bool fused) {
    return fused ? std::fma(x, y, z) : x * y + z;
}

/// Element i of the output after so many calls; only nstream depends on their number.
ASSAY_HOST_DEVICE inline double expected(Kernel kernel, std::uint64_t i, std::uint64_t calls,
                                         bool fused) {
    switch (kernel) {
    case Kernel::copy:
        return left(i);
    case Kernel::scale:
        return scalar * left(i);
    case Kernel::add:
        return left(i) + right(i);
    case Kernel::triad:
        return multiply_add(scalar, right(i), left(i), fused);
    case Kernel::write:
        return written(i);
    default:
        break;
    }
    double sum = start(i);
    for (std::uint64_t call = 0; call < calls; ++call)
        sum = multiply_add(scalar, right(i), sum + left(i), fused);
    return sum;
}

/// A sum in twice the precision (Ogita, Rump and Oishi 2005: Sum2, Dot2).
struct CompensatedSum {
    double sum = 0;
    double error = 0;
    ASSAY_HOST_DEVICE void add(double value) {
        const double next = sum + value;
        const double kept = next - sum;
        error += (sum - (next - kept)) + (value - kept);
        sum = next;
    }
    ASSAY_HOST_DEVICE void add_product(double x, double y) {
        const double product = x * y;
        add(product);
        error += std::fma(x, y, -product);
    }
    ASSAY_HOST_DEVICE double value() const { return sum + error; }
};

} // namespace stream_data

} // namespace assay::memory
