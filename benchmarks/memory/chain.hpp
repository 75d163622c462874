// SPDX-License-Identifier: Apache-2.0
//
// A chain of pointers through memory in random order: one node per cache line, every line once, back
// to the start. No address is known before the load before it has ended, so that a step takes one
// latency and nothing can be fetched ahead.

#pragma once

#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace assay::memory {

/// A random permutation of 0 .. count-1 that needs no table: any thread computes any part of it, where
/// a shuffle of an array walks through all of it in one thread. Positions are written as (left, right)
/// in a rectangle that holds hardly more than `count`; each round turns one of the two by a random
/// amount that depends on the other, which can be undone, so that no two positions meet (Black and
/// Rogaway 2002, "Ciphers with arbitrary finite domains", section 5). What falls into the rectangle's
/// surplus is sent on until it comes out.
class Shuffle {
public:
    Shuffle(std::uint64_t count, std::uint64_t seed) : count_{count}, seed_{seed} {
        rows_ = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
        if (rows_ == 0) rows_ = 1;
        columns_ = count / rows_ + (count % rows_ != 0 ? 1 : 0);
    }
    std::uint64_t operator()(std::uint64_t position) const {
        do position = turn(position);
        while (position >= count_);
        return position;
    }

private:
    /// A random number below `limit`, which is below 2^32.
    std::uint64_t amount(std::uint64_t round, std::uint64_t from, std::uint64_t limit) const {
        return (random_bits(seed_ + round, from) >> 32U) * limit >> 32U;
    }
    std::uint64_t turn(std::uint64_t position) const {
        // Luby and Rackoff 1988: four rounds cannot be told from a random permutation.
        constexpr std::uint64_t rounds = 4;
        std::uint64_t left = position / columns_;
        std::uint64_t right = position % columns_;
        for (std::uint64_t round = 0; round < rounds; round += 2) {
            left += amount(round, right, rows_);
            if (left >= rows_) left -= rows_;
            right += amount(round + 1, left, columns_);
            if (right >= columns_) right -= columns_;
        }
        return left * columns_ + right;
    }

    std::uint64_t count_;
    std::uint64_t seed_;
    std::uint64_t rows_;
    std::uint64_t columns_;
};

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
