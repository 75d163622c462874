// SPDX-License-Identifier: Apache-2.0
//
// A chain of pointers through memory in random order: one node per cache line, every line once, back
// to the start. No address is known before the load before it has ended, so that a step takes one
// latency and nothing can be fetched ahead. On hosts and devices: memory.latency.

#pragma once

#include "shuffle.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::memory {

/// One cache line of the chain.
template <std::size_t line>
struct alignas(line) ChainNode {
    ChainNode* next;
    std::uint64_t rank; ///< its number along the chain; never read by the timed loop
};
using Node = ChainNode<cache_line>;
static_assert(sizeof(Node) == cache_line);

inline constexpr std::uint64_t chain_seed = 9;
inline constexpr std::uint64_t chain_spoil_seed = 8;

template <class Params>
consteval auto chain_axis(Symbolic Params::* field) {
    return footprint_axis("bytes of the chain", field,
                          {16_KiB, 256_KiB, 8_MiB, Symbol::beyond_cache}, {1_KiB, 16_TiB});
}

/// Makes one chain of all nodes, in an order that depends on their number alone.
inline void link(std::span<Node> nodes) {
    const Shuffle shuffle{nodes.size(), chain_seed};
    on_each_slice(team_threads(), nodes.size(), 1, [&](Slice slice) {
        if (slice.size() == 0) return;
        Node* node = &nodes[shuffle(slice.first)];
        for (std::size_t rank = slice.first; rank < slice.last; ++rank) {
            Node* const next = &nodes[shuffle((rank + 1) % nodes.size())];
            node->next = next;
            node->rank = rank;
            node = next;
        }
    });
}

/// 0 where node i leads to a node of the chain whose number is the next one. If all do, the chain visits every
/// node exactly once, and any `count` steps pass `count` different nodes.
template <class ChainNode>
struct WrongLink {
    const ChainNode* nodes;
    std::uint64_t count;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const auto at = reinterpret_cast<std::uintptr_t>(nodes[i].next) -
                        reinterpret_cast<std::uintptr_t>(nodes);
        if (at % sizeof(ChainNode) != 0 || at / sizeof(ChainNode) >= count) return 1;
        const std::uint64_t wanted = nodes[i].rank + 1 == count ? 0 : nodes[i].rank + 1;
        return nodes[at / sizeof(ChainNode)].rank == wanted ? 0 : 1;
    }
};
inline constexpr const char* links_method =
    "every step of the chain leads to the node whose number is the next";
inline Check check_chain(std::span<const Node> nodes) {
    return check_each(nodes.size(), WrongLink<Node>{nodes.data(), nodes.size()}, 0, links_method);
}

inline constexpr const char* chase_method = "every link of the chain, and where the chase ended";
/// Did a chase of so many steps from node number `from` end where it should?
inline Check check_end(std::uint64_t from, std::uint64_t steps, std::uint64_t end,
                       std::uint64_t count) {
    return check_value(end == (from + steps) % count ? 0 : 1, 0, chase_method,
                       joined("the chase ended at node ", end, " of the chain after ", steps,
                              " steps from node ", from));
}
inline Check not_followed() {
    return check_value(1, 0, chase_method, "the chain was not followed");
}

/// The timed loop: where `steps` steps lead. The number of steps is a multiple of 8; loads and the
/// counting of them overlap.
inline const Node* follow(const Node* node, std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; i += 8) {
        node = node->next->next->next->next;
        node = node->next->next->next->next;
    }
    return node;
}

} // namespace assay::memory
