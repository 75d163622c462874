// SPDX-License-Identifier: Apache-2.0
//
// Random values for tests of statistics.

#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace assay::test {

/// Log-normal noise; the same on every machine (Box and Muller, no std::normal_distribution).
class Noise {
public:
    explicit Noise(std::uint64_t seed) : random_{seed} {}
    double normal() {
        const double u = (static_cast<double>(random_()) + 1) / 18446744073709551617.0;
        const double v = static_cast<double>(random_()) / 18446744073709551616.0;
        return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
    }
    double about(double value, double spread) { return value * std::exp(spread * normal()); }
    std::vector<double> replicas(double value, double spread, int count) {
        std::vector<double> list;
        for (int i = 0; i < count; ++i) list.push_back(about(value, spread));
        return list;
    }

private:
    std::mt19937_64 random_;
};

} // namespace assay::test
