// SPDX-License-Identifier: Apache-2.0
//
// Which node, or which link, slows a system down? From measurements between pairs: the logarithm of each is
// a common level, an effect of either end, and the effect of the link itself. The effects are fitted by
// robust least squares (Huber 1964, iteratively reweighted); the residual of a link
// shows whether it is slow by itself. Decision 0187.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::decide {

/// Values of every pair of nodes, row-major: from, to. NaN if not measured; the diagonal does not count,
/// and only positive values do.
struct PairMatrix {
    std::size_t nodes = 0;
    std::span<const double> values; ///< nodes * nodes
    bool higher_is_better = false;  ///< true for rates, false for times
    /// Standard deviation of the logarithm of one value, from repetitions; 0 if unknown. The deviation
    /// within the matrix is used if it is larger.
    double log_noise = 0;
};

/// The same where few of many pairs were measured: logarithms of slowness, NaN if not measured.
struct MeasuredPair {
    std::size_t from;
    std::size_t to; ///< another one; each pair once
    double there;
    double back;
};
/// A pair's logarithm beyond the level of all and the effects of its nodes.
struct PairRest {
    std::size_t from;
    std::size_t to;
    double rest;
};

struct SlowNode {
    std::size_t node;
    double slowdown; ///< its share of how many times as long its pairs take
    double p;        ///< p value, adjusted for the number of nodes (Holm)
};
struct SlowLink {
    std::size_t from;
    std::size_t to;  ///< above `from`
    double slowdown; ///< beyond the effects of its nodes
    double p;        ///< adjusted for the number of links (Holm)
};
struct OneWayPair {
    std::size_t from;
    std::size_t to;
    double ratio; ///< of the times from -> to and back
    double p;     ///< adjusted for the number of pairs (Holm)
};

struct Culprits {
    std::vector<SlowNode> nodes; ///< the worst first; only those called
    std::vector<SlowLink> links;
    std::vector<OneWayPair> one_way;
    double noise =
        0; ///< standard deviation of a pair's logarithm beyond the effects; NaN if unknown
    std::size_t pairs = 0;       ///< measured
    std::vector<double> effects; ///< of every node, logarithms with median 0; NaN without pairs
    std::vector<PairRest> rests;
};

struct CulpritRule {
    double alpha = 0.01;
    double least = 0.05; ///< relative: smaller slowdowns are never called
};
/// Nothing is called for fewer than five nodes' worth of pairs: a slow link and a slow end look alike.
/// Pairs measured in both directions count as their mean, and are tested for a difference.
Culprits find_culprits(const PairMatrix& matrix, const CulpritRule& rule = {});
Culprits find_culprits(std::span<const MeasuredPair> pairs, std::size_t nodes, double log_noise,
                       const CulpritRule& rule = {});

/// The p value of being so many standard errors above the others, or more, by a robust estimate of the error that has
/// so many degrees of freedom.
double p_of_excess(double errors, double degrees);

} // namespace assay::decide
