// SPDX-License-Identifier: Apache-2.0
//
// Chains of integer additions, compiled for every instruction set.

#pragma once

#include "fma_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::peak {

/// A ring of vectors: in each of `steps` steps every one is added to by the one behind it, the last by
/// the first. All bits change, every addition needs the step before, and no compiler can shorten it.
template <class T>
using Additions = void (*)(const T* start, T* result, std::size_t steps);

template <class T>
struct AdditionPath {
    Additions<T> run;
    std::size_t (*lanes)(); ///< a function, because the length of an SVE vector is only known there
};

struct AdditionChain {
    Isa isa;
    std::int64_t target; ///< Highway's bit for it
    std::size_t vectors; ///< in the ring
    AdditionPath<std::uint32_t> int32;
    AdditionPath<std::uint64_t> int64;
};

/// Widest first.
std::span<const AdditionChain> addition_chains();

} // namespace assay::peak
