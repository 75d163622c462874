// SPDX-License-Identifier: Apache-2.0
//
// Series for the tests of stats. Random ones have a fixed seed.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace assay::stats {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The series whose figures were computed once with Python's statistics and fractions modules.
inline const std::vector<double> quoted{3.1, 2.7, 3.9, 2.2, 5.8, 3.3, 4.1, 2.9, 3.0, 8.4, 2.6};

inline std::vector<double> gamma_series(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::gamma_distribution<> times{4, 0.25}; // mean 1, skewed like times
    std::vector<double> series(count);
    for (double& value : series) value = times(random);
    return series;
}

/// Neighbours correlated by `correlation`, about 10.
inline std::vector<double> correlated_series(std::size_t count, double correlation,
                                             std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<> noise;
    std::vector<double> series(count);
    double state = noise(random);
    for (double& value : series) {
        state = correlation * state + std::sqrt(1 - correlation * correlation) * noise(random);
        value = 10 + state;
    }
    return series;
}

inline std::vector<double> transformed(std::vector<double> series, double factor, double offset) {
    for (double& value : series) value = factor * value + offset;
    return series;
}

} // namespace assay::stats
