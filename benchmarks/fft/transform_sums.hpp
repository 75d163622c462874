// SPDX-License-Identifier: Apache-2.0
//
// Sums that carry their rounding errors along, and the error that a transform may have: for hosts and devices.
//
// The bound. Each of the log2(N) stages adds rounding errors that are independent of each other, so
// the relative error in the Euclidean norm grows as u sqrt(log2 N) on average (Schatzman, SIAM J.
// Sci. Comput. 17(5), 1996; the upper bound is u log2 N: Gentleman and Sande, AFIPS 29, 1966). There
// and back, powers of two show 0.9 u sqrt(log2(N) + 2). Lengths with a large prime factor are
// convolutions, three transforms of up to four times the length, hence the 2, and show 1.5 to 4.
// 8 u sqrt(log2(N) + 2) is twice the largest error that was seen (decision 0100).

#pragma once

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

/// A sum that carries its rounding errors along (Neumaier, 1974): as exact as its terms, where a
/// plain sum over a million of them would lose ten bits.
class Sum {
public:
    ASSAY_HOST_DEVICE void add(double term) {
        const double next = sum_ + term;
        error_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    ASSAY_HOST_DEVICE void add(const Sum& other) {
        add(other.sum_);
        add(other.error_);
    }
    ASSAY_HOST_DEVICE double value() const { return sum_ + error_; }

private:
    double sum_ = 0;
    double error_ = 0;
};

} // namespace assay::fft
