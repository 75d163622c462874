// SPDX-License-Identifier: Apache-2.0
//
// What the workloads of every library share: precisions, how far results may be off, and names of kernels.

#pragma once

#include "../gemm/bfloat16.hpp"

#include <assay/benchmark.hpp>
#include <assay/random.hpp>
#include <assay/room.hpp>
#include <assay/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::workload {

/// tf32, fp16 and fp8 are those of devices; tf32 is stored in 32 bits, fp8 is e4m3 times a power of two.
enum class Precision : std::uint8_t { fp32, bf16, int8, tf32, fp16, fp8 };

inline std::int64_t bytes_of(Precision precision) {
    if (precision == Precision::int8 || precision == Precision::fp8) return 1;
    return precision == Precision::bf16 || precision == Precision::fp16 ? 2 : 4;
}

/// The largest relative error of storing a number once.
inline double roundoff_of(Precision precision) {
    if (precision == Precision::fp16) return 0x1p-11;
    if (precision == Precision::fp8) return 0x1p-4;
    return precision == Precision::bf16 ? 0x1p-8 : 0x1p-24;
}

/// The nearest e4m3 number, the largest for what lies beyond (OCP 8-bit floating point specification 1.0).
inline float round_to_e4m3(float value) {
    constexpr float largest = 448;
    constexpr float least_normal = 0x1p-6F;
    constexpr float least = 0x1p-9F; // the step of subnormal numbers
    constexpr int digits = 4;
    if (std::fabs(value) < least_normal) return least * std::nearbyint(value / least);
    return std::clamp(gemm::round_to_bits(value, digits), -largest, largest);
}

/// Uniform numbers of this seed.
struct Numbers {
    std::uint64_t seed;
    float low;
    float high;
};

/// Uniform in [low, high), and a number that the precision holds exactly.
inline float random_value(Precision precision, std::uint64_t seed, std::uint64_t index, float low,
                          float high) {
    constexpr int bf16_digits = 8;
    constexpr int digits_of_devices = 11; // of tf32 and fp16
    const auto value = random_uniform<float>(seed, index, low, high);
    if (precision == Precision::tf32 || precision == Precision::fp16)
        return gemm::round_to_bits(value, digits_of_devices);
    return precision == Precision::bf16 ? gemm::round_to_bits(value, bf16_digits) : value;
}

/// How far a sum of `terms` products may be off, whose typical size is `scale`, and which is `value`.
/// Partial sums grow like sqrt(t) to `scale`, or straight to the value where that is large. Rounding
/// each of them to u/sqrt(3) of its size adds up to a standard deviation of at most u sqrt(terms) / 3
/// of the root of both squares, with u of the fp32 in which sums are kept; four times u sqrt(terms) is
/// twelve of those. Then the sum is stored, once.
inline double allowed_error(Precision stored, double terms, double scale, double value) {
    constexpr double fp32 = 0x1p-24;
    return 4 * fp32 * std::sqrt(terms) * std::hypot(scale, value) +
           roundoff_of(stored) * std::fabs(value);
}

/// Names of kernels, each once, with how often it is used: "brgemm:avx512_core x3, jit:avx512_core".
class Kernels {
public:
    void add(const std::string& name) {
        if (counts_[name]++ == 0) order_.push_back(name);
    }
    std::string words() const {
        std::string text;
        for (const std::string& name : order_) {
            const int count = counts_.at(name);
            text += (text.empty() ? "" : ", ") + name;
            if (count > 1) text += joined(" x", count);
        }
        return text;
    }
    /// Loops that exist to compare results with. A rate of theirs says nothing about a machine.
    bool has_reference() const {
        return std::ranges::any_of(order_, [](const auto& name) {
            return name.starts_with("ref") || name.find(":ref") != std::string::npos;
        });
    }

private:
    std::vector<std::string> order_;
    std::map<std::string, int> counts_;
};

} // namespace assay::workload
