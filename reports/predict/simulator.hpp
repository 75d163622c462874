// SPDX-License-Identifier: Apache-2.0
//
// Do the formulas hold? Every message of a collective is sent and received in simulated time, with what
// a formula leaves out: ports and node links that carry one message at a time, ranks that wait for slow
// ones. No clock, no randomness.

#pragma once

#include "predict/programs.hpp"

#include <cstdint>
#include <optional>

namespace assay::report {

struct LinkCost {
    double latency = 0;          ///< seconds
    double seconds_per_byte = 0; ///< 1 / bandwidth
    double of(double bytes) const { return latency + bytes * seconds_per_byte; }
};

struct Network {
    Rank ranks = 2;
    Rank ranks_per_node = 1; ///< rank r is on node r / ranks_per_node
    LinkCost within;         ///< of a rank, each way
    LinkCost between;        ///< of a node, each way: its ranks share it
    Rank slow_rank = nobody; ///< what it sends takes `slow_factor` times as long
    double slow_factor = 1;
};

struct Simulated {
    double seconds = 0; ///< until the last rank is done
    std::uint64_t messages = 0;
};

/// Events in order of time: programs of any kind. Nothing where ranks wait for each other for ever, which
/// is a mistake in a program. Memory: 100 bytes for each rank and program, and the messages under way.
std::optional<Simulated> simulate(const std::vector<ProgramPointer>& programs,
                                  const Network& network, double bytes);

/// Rings alone, whose messages grow with the square of the ranks: all ranks at once, step by step. Where
/// every rank has come to take equally long for a step the rest follows from that (in max-plus algebra a
/// state that only moved keeps moving so), and is not repeated. `steps` of `bytes` each, between
/// ranks that have the same place on neighbouring nodes; of one rank a node these are all.
Simulated simulate_ring(const Network& network, std::uint64_t steps, double bytes);

} // namespace assay::report
