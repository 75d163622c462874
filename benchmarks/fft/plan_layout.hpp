// SPDX-License-Identifier: Apache-2.0
//
// How the numbers of a transform lie in memory, in the words of cuFFT. Pure numbers: tested on the host.

#pragma once

#include "shape.hpp"

#include <array>
#include <cstdint>

namespace assay::fft {

/// One side of a plan.
struct PlanSide {
    bool is_complex = true;
    /// Elements along each dimension of the memory; 0: dense, which is all that half precision can do.
    std::array<long long, 3> sizes{};
    long long stride = 1;
    long long distance = 0; ///< from one transform of the batch to the next

    long long* sizes_or_null() { return sizes[0] == 0 ? nullptr : sizes.data(); }
};

struct PlanLayout {
    int rank = 1;
    std::array<long long, 3> points{};
    PlanSide in;
    PlanSide out;
    long long batch = 1;
};

/// From points to bins, in another place; both dense.
inline PlanLayout forward_layout(const Shape& s) {
    PlanLayout layout;
    layout.rank = static_cast<int>(s.dimensions);
    for (std::size_t d = 0; d < static_cast<std::size_t>(s.dimensions); ++d)
        layout.points.at(d) = s.points;
    layout.in.is_complex = s.type == Type::c2c;
    layout.in.distance = s.volume();
    layout.out.distance = s.bins();
    layout.batch = s.batch;
    return layout;
}

/// From bins to points, in place: rows of real numbers keep the room of the bins that they were.
inline PlanLayout backward_layout(const Shape& s) {
    PlanLayout layout = forward_layout(s);
    layout.in = {.is_complex = true, .distance = s.bins()};
    layout.out = layout.in;
    if (s.type == Type::c2c) return layout;
    layout.out = {.is_complex = false, .distance = 2 * s.bins()};
    const auto last = static_cast<std::size_t>(s.dimensions) - 1;
    layout.in.sizes = layout.points;
    layout.out.sizes = layout.points;
    layout.in.sizes.at(last) = s.row();
    layout.out.sizes.at(last) = 2 * s.row();
    return layout;
}

/// Bytes of a device for a transform and its check, which goes back in at least single precision.
/// cuFFT's own memory is about one output, and for large prime factors, of which it makes convolutions, a few
/// transforms of two to four times the length.
inline std::int64_t device_bytes(const Shape& s, double real_size, double returned_size) {
    const double out = output_bytes(s, real_size);
    const double returned = output_bytes(s, returned_size);
    const double work = (largest_prime_factor(s.points) > 127 ? 12 : 1) * returned;
    const double sums = 64 * static_cast<double>(s.batch); // of a transform with a single share
    constexpr double most = 0x1p62;
    return static_cast<std::int64_t>(
        std::min(input_bytes(s, real_size) + out + returned + work + sums, most));
}

/// Why cuFFT cannot do it in half precision; empty where it can.
inline std::string why_not_half(const Shape& s) {
    if ((s.points & (s.points - 1)) != 0)
        return "not applicable: cuFFT transforms powers of two alone in half precision";
    // Each part of a bin of N uniform random points is a sum with a standard deviation of sqrt(N/3):
    // 4,730 for 2^26 points, a fourteenth of the largest number.
    constexpr double most_points = 0x1p26;
    constexpr double most_elements = 0x1p32;
    const double volume =
        std::pow(static_cast<double>(s.points), static_cast<double>(s.dimensions));
    if (volume > most_points)
        return "not applicable: with more than 2^26 points, bins can exceed 65504, the largest "
               "number of half precision";
    if (volume * static_cast<double>(s.batch) >= most_elements)
        return "not applicable: cuFFT transforms less than 2^32 points at once in half precision";
    return {};
}

} // namespace assay::fft
