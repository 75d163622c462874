// SPDX-License-Identifier: Apache-2.0
//
// Which node, or which link, slows a system down? Of measurements between pairs: the logarithm of each is
// what all share, an effect of either end, and what the link itself adds. The effects are fitted by least
// squares that far-off links do not move (Huber 1964, weights again and again); what is left of a link
// says whether it is slow by itself. Decision 0187.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

/// Figures of every pair of nodes, row by row: from, to. NaN where nothing was measured; the diagonal does
/// not count. Only positive figures do.
struct PairMatrix {
    std::size_t nodes = 0;
    std::span<const double> values; ///< nodes * nodes
    bool higher_is_better = false;  ///< of rates; times are the other way round
    /// Standard deviation of the logarithm of one figure, from repetitions; 0 where not known. What the
    /// matrix itself shows counts where it is more.
    double log_noise = 0;
};

struct SlowNode {
    std::size_t node;
    double slowdown; ///< its pairs take so many times as long, for its part
    double p;        ///< of so much by chance, adjusted for the number of nodes (Holm)
};
struct SlowLink {
    std::size_t from;
    std::size_t to;  ///< above `from`
    double slowdown; ///< beyond what its nodes explain
    double p;        ///< adjusted for the number of links (Holm)
};
struct OneWayPair {
    std::size_t from;
    std::size_t to;
    double ratio; ///< from -> to takes so many times as long as the way back
    double p;     ///< adjusted for the number of pairs (Holm)
};

struct Culprits {
    std::vector<SlowNode> nodes; ///< the worst first; only those called
    std::vector<SlowLink> links;
    std::vector<OneWayPair> one_way;
    double noise =
        0; ///< standard deviation of a pair's logarithm beyond the effects; NaN where not to be told
    std::size_t pairs = 0; ///< measured
};

struct CulpritRule {
    double alpha = 0.01;
    double least = 0.05; ///< relative: what is slower by less is never called
};
/// Nothing is called of fewer than five nodes' worth of pairs: too little tells a slow link from a slow
/// end. Pairs measured in both directions count as their mean, and are looked at for a difference.
Culprits find_culprits(const PairMatrix& matrix, const CulpritRule& rule = {});

} // namespace assay::stats
