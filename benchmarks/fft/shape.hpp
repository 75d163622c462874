// SPDX-License-Identifier: Apache-2.0
//
// What is transformed, whichever library does it: how many numbers lie where, and what one call counts
// as. Transforms of a batch follow each other; rows are dense, and the last index runs fastest.

#pragma once

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace assay::fft {

enum class Dimensions : std::uint8_t { one = 1, two = 2, three = 3 };
enum class Type : std::uint8_t { c2c, r2c };
enum class Precision : std::uint8_t { fp64, fp32, fp16 }; ///< fp16 on devices alone

/// The longest dimension: twice its logarithm fits into 63 bits, as products of two indices must.
inline constexpr std::int64_t longest = std::int64_t{1} << 31U;
inline constexpr std::int64_t most_transforms = std::int64_t{1} << 30U;

struct Shape {
    std::int64_t dimensions; ///< 1 to 3
    std::int64_t points;     ///< along each of them
    std::int64_t batch;      ///< transforms
    Type type;

    /// Complex numbers in a row of the output: a real row's spectrum is its own mirror image, and
    /// only half of it is computed.
    std::int64_t row() const { return type == Type::c2c ? points : points / 2 + 1; }
    std::int64_t rows() const {
        return dimensions == 1 ? 1 : dimensions == 2 ? points : points * points;
    }
    /// Points of one transform, and of its output.
    std::int64_t volume() const { return rows() * points; }
    std::int64_t bins() const { return rows() * row(); }
    /// Real numbers of one transform's input.
    std::int64_t inputs() const { return type == Type::c2c ? 2 * volume() : volume(); }
};

/// Parameters of fft.transform, whichever library does it.
struct TransformParams {
    Dimensions dimensions = Dimensions::three;
    std::int64_t points = 128;
    std::int64_t batch = 1;
    Type type = Type::c2c;
    Precision precision = Precision::fp64;

    Shape shape() const { return {static_cast<std::int64_t>(dimensions), points, batch, type}; }
    /// Bytes of a real number.
    double real_size() const {
        return precision == Precision::fp64 ? 8 : precision == Precision::fp32 ? 4 : 2;
    }
};
template <class Params, std::size_t N>
consteval auto shape_axes(const std::int64_t (&points)[N]) {
    return std::tuple{
        choice("dimensions", "dimensions of a transform", &Params::dimensions,
               {{"1d", Dimensions::one}, {"2d", Dimensions::two}, {"3d", Dimensions::three}},
               {Dimensions::three}),
        integer("points", "length of each dimension; any number, primes too", "", &Params::points,
                points, {2, longest}),
        integer("batch", "transforms of one call", "", &Params::batch, {1}, {1, most_transforms}),
        choice("type", "complex to complex, or real to half of the complex bins", &Params::type,
               {{"c2c", Type::c2c}, {"r2c", Type::r2c}})};
}

/// Bytes of all inputs, and of all outputs; as reals, because nothing else holds every shape.
inline double input_bytes(const Shape& s, double real_size) {
    const double volume =
        std::pow(static_cast<double>(s.points), static_cast<double>(s.dimensions));
    return volume * static_cast<double>(s.batch) * real_size * (s.type == Type::c2c ? 2 : 1);
}
inline double output_bytes(const Shape& s, double real_size) {
    const double rows =
        std::pow(static_cast<double>(s.points), static_cast<double>(s.dimensions - 1));
    return rows * static_cast<double>(s.row()) * static_cast<double>(s.batch) * real_size * 2;
}

inline std::int64_t largest_prime_factor(std::int64_t n) {
    std::int64_t largest = 1;
    for (std::int64_t factor = 2; factor * factor <= n; ++factor)
        for (; n % factor == 0; n /= factor) largest = factor;
    return std::max(largest, n);
}

/// Memory for the transform, for its check, and for what FFTW keeps itself.
inline double needed_bytes(const Shape& s, double real_size) {
    const double out = output_bytes(s, real_size);
    const double data = input_bytes(s, real_size) + 2 * out; // the check transforms a copy back
    // Above 13, FFTW convolves (Rader, Bluestein): transforms of two to four times the length, with
    // tables and buffers beside them. Elsewhere its tables are a small part of one transform.
    const double one = out / static_cast<double>(s.batch);
    return data + (largest_prime_factor(s.points) > 13 ? 12 * one : one);
}

/// 5 N log2(N) floating point operations for each complex transform of N points and half of that for
/// a real one: the count of the radix-2 algorithm, by which the field compares (benchFFT; Frigo and
/// Johnson, Proc. IEEE 93(2), 2005, section V), whatever an implementation really does.
inline Work work_of(const Shape& s, double real_size) {
    const auto volume = static_cast<double>(s.volume());
    const auto batch = static_cast<double>(s.batch);
    const double per_point = s.type == Type::c2c ? 5 : 2.5;
    return {.flops = per_point * volume * std::log2(volume) * batch,
            .bytes = input_bytes(s, real_size) + output_bytes(s, real_size),
            .items = batch};
}

} // namespace assay::fft
