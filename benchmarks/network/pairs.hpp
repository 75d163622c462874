// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of pairs share: how many pairs, which way, how many messages at once.

#pragma once

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>
#include <assay/machine.hpp>

#include <cstdint>

namespace assay::network {

enum class Direction : std::uint8_t { one_way, two_way };

/// Ranks of the first half play with those of the second: on two hosts every pair crosses the network.
struct Pairing {
    int partner;
    bool leads; ///< of the first half
    bool operator==(const Pairing&) const = default;
};
constexpr Pairing pairing_of(int rank, int ranks) {
    const int half = ranks / 2;
    return {.partner = (rank + half) % ranks, .leads = rank < half};
}

template <class Params>
consteval auto pairs_axis() {
    return symbolic(
        "ranks",
        "processes, two to a pair: the first half on the first hosts pairs with the second half",
        "", &Params::ranks, {2}, {2, 4096}, {Symbol::all, Symbol::per_node});
}
template <class Params>
consteval auto window_axis() {
    return integer("window", "outstanding messages", "", &Params::window, {64}, {1, 1024});
}
template <class Params>
consteval auto direction_axis() {
    return choice("direction", "one rank of a pair sends, or both at once", &Params::direction,
                  {{"one_way", Direction::one_way}, {"two_way", Direction::two_way}},
                  {Direction::one_way});
}

/// Two ranks for each pair, a core for each rank, and `bytes_per_rank` of memory.
Fit fit_pairs(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine);
/// The number of ranks; records it. Throws std::runtime_error where they are others than asked for, or odd.
int join_pairs(Symbolic ranks, Context& context);

} // namespace assay::network
