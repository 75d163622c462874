// SPDX-License-Identifier: Apache-2.0
//
// Which clusters may hold a neighbour of the atoms of one cluster, in which periodic image.

#pragma once

#include "clusters.hpp"

#include <cstdint>
#include <vector>

namespace assay::md {

/// A periodic image as one number: each digit to base 3 says whether the first atom of a pair moves by
/// minus one, no or one edge of the box, x first.
struct Shift {
    static constexpr std::uint32_t count = 27;
    static constexpr std::uint32_t none = 13;
    static constexpr std::uint32_t of(int x, int y, int z) {
        return static_cast<std::uint32_t>((x + 1) * 9 + (y + 1) * 3 + z + 1);
    }
    static constexpr int along(std::uint32_t shift, std::size_t axis) {
        constexpr std::array<std::uint32_t, 3> weight{9, 3, 1};
        return static_cast<int>(shift / weight[axis] % 3) - 1;
    }
};

/// Clusters [first, last), seen from a cluster that is moved by `shift`.
struct Range {
    std::uint32_t shift;
    std::uint32_t first;
    std::uint32_t last;
};

/// Candidates of a cluster, ordered by shift. The cluster itself, unmoved, is not among them.
struct Candidates {
    /// Pairs of clusters that are found from one side only: they push each other.
    std::vector<Range> mutual;
    /// Pairs that both sides find, each for its own atoms.
    std::vector<Range> one_sided;

    void clear() {
        mutual.clear();
        one_sided.clear();
    }
};

/// Candidates of `cluster` within `reach`. Its worker owns the clusters of `own`: pairs of two of them
/// are mutual, found from the one with the lower number; pairs with another worker's are one-sided,
/// so that a worker writes to its own atoms alone.
template <class T>
void find_candidates(const ClusterView<T>& clusters, Slice own, std::uint32_t cluster, T reach,
                     Candidates& candidates);

extern template void find_candidates(const ClusterView<float>&, Slice, std::uint32_t, float,
                                     Candidates&);
extern template void find_candidates(const ClusterView<double>&, Slice, std::uint32_t, double,
                                     Candidates&);

} // namespace assay::md
