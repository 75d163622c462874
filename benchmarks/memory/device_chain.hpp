// SPDX-License-Identifier: Apache-2.0
//
// The chain of memory.latency on a device: as chain.hpp, with nodes as far apart as a device's caches keep
// lines. How far a call walks, and what follows from a footprint, is decided here, where it is tested.

#pragma once

#include "memory/chain.hpp"
#include "memory/device_levels.hpp"

namespace assay::memory {

/// In shared memory nodes are words: there are no lines.
inline constexpr std::size_t shared_node = 4;

using DeviceNode = ChainNode<device_line>;
static_assert(sizeof(DeviceNode) == device_line);

/// Results of a walk: where it began and ended, and where the next one begins.
struct Walk {
    const DeviceNode* from;
    const DeviceNode* end;
    const DeviceNode* start;
};

/// Nodes of a chain that takes so many bytes of the memory in question; at least one.
constexpr std::uint64_t chain_nodes(std::int64_t footprint, Through through) {
    const std::uint64_t node = through == Through::shared ? shared_node : device_line;
    const std::uint64_t count = static_cast<std::uint64_t>(footprint) / node;
    return count == 0 ? 1 : count;
}

/// Chains that may be meant for the first level cache are read once, outside of the walk but in the same
/// kernel, because each kernel begins with that cache empty.
constexpr bool reads_ahead(std::int64_t footprint, Through through) {
    return through == Through::l1 && footprint <= most_first_level;
}

/// Steps of a call, a multiple of 8: beside them launching and reading ahead (5 us) must be nothing. In the
/// first level a step takes about 20 ns, so that a call takes 1.3 ms; beyond 250 to 800 ns, 1 to 3 ms.
constexpr std::uint64_t chase_steps(std::int64_t footprint, Through through) {
    const bool is_near = through == Through::shared || reads_ahead(footprint, through);
    return is_near ? 65536 : 4096;
}

/// Makes node number `rank` of the chain.
struct LinkNode {
    DeviceNode* nodes;
    std::uint64_t count;
    Shuffle shuffle;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t rank) const {
        DeviceNode& node = nodes[shuffle(rank)];
        node.next = nodes + shuffle(rank + 1 == count ? 0 : rank + 1);
        node.rank = rank;
    }
};

} // namespace assay::memory
