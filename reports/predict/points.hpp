// SPDX-License-Identifier: Apache-2.0
//
// Which measured times belong together? Those of one collective on one kind of machine and place, by one
// library with the same parameters; only message size, ranks and nodes may differ.

#pragma once

#include "base/names.hpp"
#include "store/collection.hpp"
#include "store/keys.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::predict {

// --- formulas ------------------------------------------------------------------------------------
// What do the known algorithms of collectives cost? Messages one after the other on the longest way, and
// the bytes that they carry, by the number of ranks. Pure arithmetic.
// Sources, named at each formula:
// - Hockney 1994, Parallel Computing 20, 389-398: a message costs latency plus bytes over bandwidth
// - Thakur, Rabenseifner, Gropp 2005, IJHPCA 19(1), 49-66: what MPICH does
// - Patarasuk, Yuan 2009, JPDC 69(2), 117-124: the ring is optimal in bytes
// - Sanders, Speck, Träff 2009, Parallel Computing 35(12), 581-594: two trees at full bandwidth
// - Bruck, Ho, Kipnis, Upfal, Weathersby 1997, IEEE TPDS 8(11), 1143-1156: all-to-all in log n steps
// The size of a message is counted as NCCL's tests count it (PERFORMANCE.md there): for all-gather,
// reduce-scatter and all-to-all the blocks of all ranks together.

ASSAY_ENUM(Collective, allreduce, allgather, reduce_scatter, broadcast, alltoall, send_receive)
/// "allreduce": the part of a benchmark's id behind "collective.".

ASSAY_ENUM(Algorithm,
           ring,               ///< neighbour to neighbour; all-to-all: with everyone in turn
           recursive_doubling, ///< with the rank 1, 2, 4, ... away, everything each time
           halving_doubling,   ///< the same, half as much each time (Rabenseifner)
           binomial_tree,      ///< up and down a tree, one child after the other
           double_tree,        ///< two trees at once, half of the data down each, in many pieces
           direct)             ///< one message

/// Time = messages * latency + bytes / bandwidth.
struct Steps {
    double messages = 0;
    double bytes = 0; ///< per byte of the message
};

/// Nothing where the algorithm does not exist for this collective or these ranks (two at least).
std::optional<Steps> steps_of(Collective collective, Algorithm algorithm, double ranks);

/// A collective over k nodes of g ranks. First within the nodes, then between nodes with what each rank
/// has, at the same time through the node's link, then within the nodes again. `between` is of the node:
/// its bytes pass the link that the node's ranks share.
struct Levels {
    Steps within;
    Steps between;
};
std::optional<Levels> levels_of(Collective collective, Algorithm within, Algorithm between,
                                double nodes, double ranks_per_node);

/// Bus bandwidth over algorithm bandwidth, as NCCL's tests define it.
double bus_factor(Collective collective, double ranks);

/// Bytes that must leave each node, per byte of the message, whatever the algorithm: with it the bus rate
/// of an all-reduce over nodes of bandwidth B is at most B * k/(k-1) * (n-1)/n, n ranks on k nodes.
double least_bytes_of_node(Collective collective, double nodes, double ranks_per_node);

// -------------------------------------------------------------------------------------------------

struct TimedPoint {
    double bytes = 0;
    double seconds = 0;
    double nodes = 1;
    double ranks_per_node = 1;
    double log_error = 0; ///< standard error of the logarithm of `seconds`; 0 where not known
};

struct MeasuredCurve {
    std::string machine; ///< instance type, or its processor
    std::string place;
    std::string library;
    std::string what; ///< the other parameters, in words
    std::vector<TimedPoint> points;
    std::set<std::uint32_t> runs;      ///< indices into Collection::runs
    std::set<std::string> machine_ids; ///< that the runs were started on
};

struct MeasuredCurves {
    std::vector<MeasuredCurve> curves;
    std::vector<store::Problem> not_used;
};
MeasuredCurves measured_curves(const store::Collection& collection, Collective collective,
                               const std::vector<store::Filter>& filters);

} // namespace assay::predict
