// SPDX-License-Identifier: Apache-2.0
//
// A chain of pointers through memory in random order: one node per cache line, every line once, back
// to the start. No address is known before the load before it has ended, so that a step takes one
// latency and nothing can be fetched ahead.

#pragma once

#include "shuffle.hpp"

#include <assay/host.hpp>
#include <assay/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::memory {

/// One cache line of the chain.
struct alignas(cache_line) Node {
    Node* next;
    std::uint64_t rank; ///< its number along the chain; never read by the timed loop
};
static_assert(sizeof(Node) == cache_line);

inline constexpr std::uint64_t chain_seed = 9;

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

/// Does the chain visit every node exactly once? It does where every step leads to a node of the chain
/// whose number is the next one: then the first `count` steps pass `count` different nodes.
inline Check check_chain(std::span<const Node> nodes) {
    const auto* const first = nodes.data();
    const std::size_t count = nodes.size();
    return check_each(
        count,
        [=](std::size_t i) {
            const auto at = reinterpret_cast<std::uintptr_t>(first[i].next) -
                            reinterpret_cast<std::uintptr_t>(first);
            if (at % sizeof(Node) != 0 || at / sizeof(Node) >= count) return 1.0;
            const std::uint64_t wanted = first[i].rank + 1 == count ? 0 : first[i].rank + 1;
            return first[at / sizeof(Node)].rank == wanted ? 0.0 : 1.0;
        },
        0, "every step of the chain leads to the node whose number is the next");
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
