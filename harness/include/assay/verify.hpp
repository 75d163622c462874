// SPDX-License-Identifier: Apache-2.0
//
// Checks for verify(): each compares every element and gives error and bound on one scale, and where
// the bound comes from. NaN and infinity never pass.

#pragma once

#include "assay/benchmark.hpp"
#include "assay/parallel.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {

/// Unit roundoff: half the distance from 1 to the next number.
template <class T>
inline constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

namespace detail {

/// Orders deviations; NaN is the largest.
inline double orderable(double error) {
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::fabs(error);
}

struct Worst {
    double error = -1; // below every deviation
    std::size_t index = 0;
};

/// The largest error_at(i) and the lowest i where it occurs.
template <class ErrorAt>
Worst find_worst(std::size_t count, ErrorAt&& error_at) {
    std::vector<Worst> found(static_cast<std::size_t>(team_threads()));
    on_each_thread(team_threads(), [&](std::size_t thread, std::size_t team) {
        const Slice slice = slice_of(count, thread, team);
        Worst worst;
        for (std::size_t i = slice.first; i < slice.last; ++i) {
            const double error = orderable(error_at(i));
            if (error > worst.error) worst = {.error = error, .index = i};
        }
        found[thread] = worst;
    });
    Worst worst;
    for (const Worst& candidate : found)
        if (candidate.error > worst.error) worst = candidate;
    return worst;
}

} // namespace detail

/// For spoil(): a relative error of twice the bound.
template <class T>
T off_by_twice(T value, double bound) {
    return static_cast<T>(static_cast<double>(value) * (1 + 2 * bound));
}

/// Distance in units in the last place; 0 for equal numbers (and for 0 and -0), infinite for NaN.
template <class T>
double ulps_apart(T a, T b) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    // Ordered integers: negative numbers below zero.
    const auto ordered = [](T value) {
        const auto bits = std::bit_cast<Bits>(value);
        return bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits;
    };
    const Bits x = ordered(a);
    const Bits y = ordered(b);
    return std::fabs(static_cast<double>(x) - static_cast<double>(y)) < 0x1p53
               ? std::fabs(static_cast<double>(x - y))
               : std::fabs(static_cast<double>(x) - static_cast<double>(y));
}

/// A Check of a single deviation.
inline Check check_value(double error, double bound, std::string method, std::string detail = {}) {
    Check check;
    check.error = detail::orderable(error);
    check.bound = bound;
    check.passed = std::isfinite(check.error) && check.error <= bound;
    check.method = std::move(method);
    if (!check.passed) check.detail = std::move(detail);
    return check;
}

/// A custom error: error_at(i) <= bound for all i < count. Called from several threads; must not
/// throw.
template <class ErrorAt>
Check check_each(std::size_t count, ErrorAt&& error_at, double bound, std::string method) {
    if (count == 0)
        return check_value(std::numeric_limits<double>::infinity(), bound, std::move(method),
                           "there is nothing to check");
    const auto worst = detail::find_worst(count, error_at);
    return check_value(
        worst.error, bound, std::move(method),
        joined("element ", worst.index, " is off by ", worst.error, ", allowed is ", bound));
}

namespace detail {

template <class T, class Expected, class Distance>
Check check_elements(std::span<const T> got, Expected&& expected, Distance&& distance, double bound,
                     std::string method) {
    Check check = check_each(
        got.size(), [&](std::size_t i) { return distance(got[i], expected(i)); }, bound,
        std::move(method));
    if (check.passed || got.empty()) return check;
    const auto worst =
        find_worst(got.size(), [&](std::size_t i) { return distance(got[i], expected(i)); });
    check.detail += ": got " + number_text(static_cast<double>(got[worst.index])) + ", expected " +
                    number_text(static_cast<double>(expected(worst.index)));
    return check;
}

} // namespace detail

/// Every element within `bound` of expected(i), relative to expected(i).
template <class T, class Expected>
Check check_relative(std::span<const T> got, Expected&& expected, double bound,
                     std::string method) {
    const auto distance = [](T value, auto wanted) {
        const auto difference = static_cast<double>(value) - static_cast<double>(wanted);
        return difference == 0 ? 0.0 : difference / static_cast<double>(wanted);
    };
    return detail::check_elements(got, expected, distance, bound, std::move(method));
}

/// Every element within `ulps` units in the last place of expected(i), which returns T.
template <class T, class Expected>
Check check_ulps(std::span<const T> got, Expected&& expected, double ulps, std::string method) {
    const auto distance = [](T value, T wanted) { return ulps_apart(value, wanted); };
    return detail::check_elements(got, expected, distance, ulps, std::move(method));
}

/// Every element equal to expected(i): integers, and floating point numbers that are exact.
template <class T, class Expected>
Check check_equal(std::span<const T> got, Expected&& expected, std::string method) {
    const auto distance = [](T value, T wanted) {
        // An infinity never passes, even if expected.
        if (value == wanted && std::isfinite(static_cast<double>(value))) return 0.0;
        const double difference =
            std::fabs(static_cast<double>(value) - static_cast<double>(wanted));
        return difference == 0 ? 1.0
                               : difference; // the difference is below the resolution of double
    };
    return detail::check_elements(got, expected, distance, 0.0, std::move(method));
}

/// The whole vector: Euclidean norm of the difference relative to that of the expected one. A norm can
/// hide one wrong element among many; the method must say why it cannot here.
template <class T, class Expected>
Check check_norm(std::span<const T> got, Expected&& expected, double bound, std::string method) {
    struct Sums {
        double difference = 0;
        double size = 0;
    };
    std::vector<Sums> sums(static_cast<std::size_t>(team_threads()));
    on_each_thread(team_threads(), [&](std::size_t thread, std::size_t team) {
        const Slice slice = slice_of(got.size(), thread, team);
        Sums sum;
        for (std::size_t i = slice.first; i < slice.last; ++i) {
            const auto wanted = static_cast<double>(expected(i));
            const double difference = static_cast<double>(got[i]) - wanted;
            sum.difference += difference * difference;
            sum.size += wanted * wanted;
        }
        sums[thread] = sum;
    });
    Sums total;
    for (const Sums& sum : sums) {
        total.difference += sum.difference;
        total.size += sum.size;
    }
    const double error = std::sqrt(total.difference) / std::sqrt(total.size);
    return check_value(error, bound, std::move(method),
                       joined("relative error of the norm is ", error, ", allowed is ", bound));
}

} // namespace assay
