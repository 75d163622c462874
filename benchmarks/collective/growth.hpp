// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a sum that is taken in place again and again. After the first call every rank holds
// the sum s, after the second n s, after call k it is s n^(k-1): exact for a while, then rounded, in
// the end infinite. This says how far one may go, and what must have come out.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::collective {

/// Calls in a row whose results stay finite in T, for first sums of at most `largest_sum`.
template <class T>
std::uint64_t finite_calls(int ranks, double largest_sum) {
    // One binade below the largest number: partial sums and rounding stay finite, too.
    const double room = std::numeric_limits<T>::max_exponent - 1 - std::log2(largest_sum);
    return 1 + static_cast<std::uint64_t>(room / std::log2(static_cast<double>(ranks)));
}

/// n^(calls-1): what the first sum has been multiplied by.
inline double growth(int ranks, std::uint64_t calls) {
    return std::pow(static_cast<double>(ranks), static_cast<double>(calls) - 1);
}

/// How far, relative to the larger of it and one step of growth, a result may be off: not at all while
/// every value on the way is an integer that T holds or n is a power of two; later each call adds at
/// most n-1 roundings.
template <class T>
double growth_bound(int ranks, std::uint64_t calls, double largest_sum) {
    const bool power_of_two = (ranks & (ranks - 1)) == 0;
    const double holds = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (power_of_two || largest_sum * growth(ranks, calls) <= holds) return 0;
    constexpr double u = std::numeric_limits<T>::epsilon() / 2;
    // One more call's worth for the expected value, which is rounded too.
    return static_cast<double>(calls) * static_cast<double>(ranks) * u;
}

} // namespace assay::collective
