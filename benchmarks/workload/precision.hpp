// SPDX-License-Identifier: Apache-2.0
//
// What the workloads of every library share: precisions, threads, room, and how far results may be off.

#pragma once

#include "../gemm/bfloat16.hpp"

#include <assay/benchmark.hpp>
#include <assay/random.hpp>
#include <assay/room.hpp>

#include <cmath>
#include <cstdint>

namespace assay::workload {

enum class Precision : std::uint8_t { fp32, bf16, int8 };

inline std::int64_t bytes_of(Precision precision) {
    return precision == Precision::fp32 ? 4 : precision == Precision::bf16 ? 2 : 1;
}

/// The largest relative error of storing a number once.
inline double roundoff_of(Precision precision) {
    return precision == Precision::bf16 ? 0x1p-8 : 0x1p-24;
}

/// Uniform in [low, high), and a number that the precision holds exactly.
inline float random_value(Precision precision, std::uint64_t seed, std::uint64_t index, float low,
                          float high) {
    constexpr int bf16_digits = 8;
    const auto value = random_uniform<float>(seed, index, low, high);
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

} // namespace assay::workload
