// SPDX-License-Identifier: Apache-2.0
//
// What takes the time, compiled for every instruction set: choosing the neighbours, and their forces.

#pragma once

#include "candidates.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::md {

/// The neighbours of a worker's atoms. For every atom, in order: sections that begin with a head
/// and hold so many clusters, each as the offset of its position; a head of zero ends the atom.
struct NeighbourList {
    static constexpr std::uint32_t one_sided = 0x80000000U;
    static constexpr std::uint32_t shift_at = 24; // bits below are the number of entries
    static constexpr std::uint32_t count_mask = (1U << shift_at) - 1;

    std::vector<std::uint32_t> words;
    std::size_t used = 0;    ///< words
    std::size_t entries = 0; ///< pairs of an atom and a cluster

    std::vector<std::uint32_t> scratch;
    Candidates candidates;
};

template <class T>
struct Kernels {
    /// Makes the list of a worker's clusters: all pairs nearer than `reach`.
    void (*list)(const ClusterView<T>& clusters, Slice own, T reach, NeighbourList& list);
    /// Sets the forces on the atoms of a worker's clusters.
    void (*forces)(const ClusterView<T>& clusters, Slice own, const NeighbourList& list, T* force);
    /// velocity += kick * force, position += drift * velocity, for a worker's elements.
    void (*move)(T* position, T* velocity, const T* force, std::size_t elements, T kick, T drift);
    std::size_t width; ///< atoms of a cluster
};

struct KernelSet {
    const char* isa;     ///< as in settings: avx512, avx2, ...
    std::int64_t target; ///< Highway's bit for it
    Kernels<float> fp32;
    Kernels<double> fp64;
};

/// Widest first. All in this build, whether or not this CPU has them.
std::span<const KernelSet> kernel_sets();

bool is_supported(const KernelSet& set);

} // namespace assay::md
