// SPDX-License-Identifier: Apache-2.0
//
// The error that a transform may have.
//
// The bound. Each of the log2(N) stages adds rounding errors that are independent of each other, so
// the relative error in the Euclidean norm grows as u sqrt(log2 N) on average (Schatzman, SIAM J.
// Sci. Comput. 17(5), 1996; the upper bound is u log2 N: Gentleman and Sande, AFIPS 29, 1966). There
// and back, powers of two show 0.9 u sqrt(log2(N) + 2). Lengths with a large prime factor are
// convolutions, three transforms of up to four times the length, hence the 2, and show 1.5 to 4.
// 8 u sqrt(log2(N) + 2) is twice the largest error that was seen (decision 0100).

#pragma once

#include "device/compensated_sum.hpp"
#include "half.hpp"
#include "shape.hpp"

#include <assay/host_device.hpp>
#include <assay/verify.hpp>

#include <cmath>

namespace assay::fft {

/// 11 significant bits.
template <class T>
inline constexpr double roundoff = unit_roundoff<T>;
template <>
inline constexpr double roundoff<Half> = 0x1p-11;

template <class T>
double transform_bound(const Shape& shape) {
    return 8 * roundoff<T> * std::sqrt(std::log2(static_cast<double>(shape.volume())) + 2);
}

using Sum = CompensatedSum;

} // namespace assay::fft
