// SPDX-License-Identifier: Apache-2.0
//
// What slows a fabric down: a node, a link, a group of nodes such as those of a switch, or what joins two groups? From
// pairs that were played at once and some of them alone. From the whole to the part: a group is slow if the median of
// its nodes is; what it explains is taken away, and the rest is searched for nodes and links (culprits.hpp), links
// for what they share. Pairs slow at once and not alone are blocked by something shared. Decision 0380.

#pragma once

#include "decide/culprits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::decide {

/// Bytes per second; NaN if not measured.
struct FabricPair {
    std::size_t from;
    std::size_t to;
    double there;
    double back;
    double there_alone;
    double back_alone;
};

/// One kind of group, such as switches.
struct FabricKind {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t groups = 0;
    std::vector<std::size_t> of_node; ///< below `groups`, or none
};

/// Is what is slow at once slow alone as well?
enum class Alone : std::uint8_t { not_measured, slow, fine };

struct SlowGroup {
    std::size_t kind;
    std::size_t group;
    double slowdown; ///< of pairs with one end in it
    double p;        ///< adjusted for the number of groups of its kind (Holm)
    Alone alone = Alone::not_measured;
};
/// Between two groups, beyond what either explains.
struct SlowTrunk {
    std::size_t kind;
    std::size_t from;
    std::size_t to;
    double slowdown;
    double p;
    std::size_t pairs; ///< measured
};
/// Slow links that meet in a group more often than chance would have it: one of several ways out of it.
struct SharedGroup {
    std::size_t kind;
    std::size_t group;
    std::size_t links; ///< slow ones with one end in it
    std::size_t of;    ///< slow ones that leave a group of this kind
    double slowdown;   ///< median of these
    double p;
};
struct NodeFound : SlowNode {
    Alone alone = Alone::not_measured;
};
struct LinkFound : SlowLink {
    Alone alone = Alone::not_measured;
};

/// How much slower good pairs are when all play at once.
struct Blocking {
    double slowdown = 1;
    double low = 1; ///< 95% interval
    double high = 1;
    std::size_t pairs = 0; ///< played both ways; fewer than five say nothing
};

struct FabricFindings {
    std::vector<SlowGroup> groups; ///< each list: the worst first
    std::vector<SlowTrunk> trunks;
    std::vector<SharedGroup> shared;
    std::vector<NodeFound> nodes; ///< beyond what their groups explain
    std::vector<LinkFound> links; ///< neither in `trunks` nor in `shared`
    std::vector<OneWayPair> one_way;
    Blocking blocking;
    std::size_t pairs = 0;          ///< measured at once
    std::vector<std::size_t> never; ///< nodes without any measured pair
    bool is_enough = false;         ///< to call anything
};

/// `log_noise` as in PairMatrix.
FabricFindings find_in_fabric(std::span<const FabricPair> pairs, std::size_t nodes,
                              std::span<const FabricKind> kinds, double log_noise,
                              const CulpritRule& rule = {});

} // namespace assay::decide
