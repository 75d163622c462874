// SPDX-License-Identifier: Apache-2.0
//
// Chains of multiply-adds, compiled for every instruction set; fma_chains() lists those in this
// build, whether or not this CPU has them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::peak {

enum class Isa : std::uint8_t { best, sse4, avx2, avx512, neon, sve, sve2 };

/// Every step is value = factor * value + addend in each lane of each chain.
template <class T>
struct Step {
    T factor;
    T addend;
};

/// Loads chains() * lanes() start values, takes `steps` steps with each, stores the results.
template <class T>
using Chains = void (*)(const T* start, T* result, Step<T> step, std::size_t steps);

template <class T>
struct Path {
    Chains<T> run;
    std::size_t (*lanes)(); ///< a function, because the length of an SVE vector is only known there
};

struct Chain {
    Isa isa;
    std::int64_t target; ///< Highway's bit for it
    std::size_t chains;  ///< independent ones, to hide the latency of the instruction
    bool fused;          ///< one instruction that rounds once, or a multiplication and an addition
    Path<float> fp32;
    Path<double> fp64;
};

/// Widest first.
std::span<const Chain> fma_chains();

/// Can this CPU run code for this target of Highway's (and does the operating system save its
/// registers)?
bool is_supported(std::int64_t target);

} // namespace assay::peak
