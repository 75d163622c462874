// SPDX-License-Identifier: Apache-2.0
//
// What the workloads of every library share: precisions, threads, room, and how far results may be off.

#pragma once

#include "../gemm/bfloat16.hpp"

#include <assay/benchmark.hpp>
#include <assay/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

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

/// The threads that `threads` stands for become the size of OpenMP's teams, the library's among them.
inline int use_threads(const Machine& machine, Symbolic threads) {
    const auto count = static_cast<int>(machine.workers(threads));
#ifdef _OPENMP // the tests of this file need no threads
    omp_set_num_threads(count);
#endif
    return count;
}

inline Fit fits(const Machine& machine, Symbolic threads, std::int64_t bytes) {
    const std::int64_t cores = std::max(machine.cores(), machine.count("threads"));
    if (machine.workers(threads) > cores)
        return Fit::no("needs " + std::to_string(machine.workers(threads)) +
                       " cores, this process may use " + std::to_string(cores));
    const std::int64_t available = machine.memory_available();
    if (available == 0 || bytes <= available) return Fit::yes(); // 0: not known, so it may try
    constexpr std::int64_t mebi = 1 << 20U;
    return Fit::no("needs " + std::to_string(bytes / mebi) + " MiB of memory, " +
                   std::to_string(available / mebi) +
                   " MiB are available; a smaller batch would do");
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
