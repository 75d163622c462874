// SPDX-License-Identifier: Apache-2.0
//
// Do the formulas of reports/predict hold for many ranks? Formula and simulation side by side, with the
// time that simulating took. collectives [RANKS] (100,000), of which eight are on a node.

#include "predict/simulator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

using namespace assay::report;

namespace {

constexpr double bytes = 1 << 30;
constexpr Rank per_node = 8;
constexpr LinkCost inside{.latency = 1e-6, .seconds_per_byte = 1 / 400e9};
constexpr LinkCost outside{.latency = 5e-6, .seconds_per_byte = 1 / 50e9};

double of(const Steps& steps, const LinkCost& link) {
    return steps.messages * link.latency + steps.bytes * bytes * link.seconds_per_byte;
}

void row(const std::string& name, double formula,
         const std::function<std::optional<Simulated>()>& simulate_it) {
    const auto begin = std::chrono::steady_clock::now();
    const auto done = simulate_it();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!done) {
        std::printf("%-34s ranks wait for each other for ever\n", name.c_str());
        std::exit(EXIT_FAILURE);
    }
    std::printf("%-34s %12.6f %12.6f %8.4f %14llu %8.2f\n", name.c_str(), formula, done->seconds,
                done->seconds / formula, static_cast<unsigned long long>(done->messages),
                took.count());
}

} // namespace

int main(int count, char** arguments) {
    const auto ranks =
        static_cast<Rank>(count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 100000);
    if (ranks < 2 * per_node || ranks > 10000000 || ranks % per_node != 0) {
        std::fprintf(stderr, "ranks: a multiple of %u, at least two nodes of them\n", per_node);
        return EXIT_FAILURE;
    }
    const Rank nodes = ranks / per_node;
    const Network flat{.ranks = ranks, .ranks_per_node = 1, .within = inside, .between = outside};
    Network levels = flat;
    levels.ranks_per_node = per_node;
    std::printf("all-reduce of 1 GiB, %u ranks\n%-34s %12s %12s %8s %14s %8s\n", ranks, "algorithm",
                "formula s", "simulated s", "ratio", "messages", "took s");
    const auto formula = [&](Algorithm algorithm) {
        return of(*steps_of(Collective::allreduce, algorithm, ranks), outside);
    };
    const std::uint64_t steps = std::uint64_t{2} * (ranks - 1);
    row("ring", formula(Algorithm::ring),
        [&] { return simulate_ring(flat, steps, bytes / ranks); });
    Network slow = flat;
    slow.slow_rank = ranks / 3;
    slow.slow_factor = 3;
    row("ring, one rank 3 times slower", 3 * formula(Algorithm::ring),
        [&] { return simulate_ring(slow, steps, bytes / ranks); });
    const auto by_events = [&](Algorithm algorithm, std::uint32_t pieces) {
        return simulate(programs_of(Collective::allreduce, algorithm, ranks, pieces), flat, bytes);
    };
    for (const auto algorithm :
         {Algorithm::recursive_doubling, Algorithm::halving_doubling, Algorithm::binomial_tree})
        row(std::string{to_string(algorithm)}, formula(algorithm),
            [&] { return by_events(algorithm, 1); });
    // The formula is of ever more pieces. Of few, each way takes a slot of two messages for each piece and
    // each level of the tree.
    constexpr std::uint32_t pieces = 16;
    const double slots = pieces + std::ceil(std::log2(ranks));
    row("double_tree in 16 pieces", 2 * slots * 2 * outside.of(bytes / (2 * pieces)),
        [&] { return by_events(Algorithm::double_tree, pieces); });
    const auto of_levels = [&](Algorithm between) {
        const auto cost =
            *levels_of(Collective::allreduce, Algorithm::ring, between, nodes, per_node);
        return of(cost.within, inside) + of(cost.between, outside);
    };
    row("nodes of 8: ring between", of_levels(Algorithm::ring), [&] {
        auto done = simulate_ring(levels, std::uint64_t{2} * (nodes - 1), bytes / ranks);
        // Within a node all ranks begin together: a ring of eight, twice.
        Network node{.ranks = per_node, .ranks_per_node = 1, .within = inside, .between = inside};
        const auto twice = simulate_ring(node, std::uint64_t{2} * (per_node - 1), bytes / per_node);
        done.seconds += twice.seconds;
        done.messages += twice.messages * nodes;
        return std::optional{done};
    });
    for (const auto between : {Algorithm::halving_doubling, Algorithm::recursive_doubling})
        row("nodes of 8: " + std::string{to_string(between)}, of_levels(between), [&] {
            return simulate(programs_of_levels(Collective::allreduce, Algorithm::ring, between,
                                               nodes, per_node),
                            levels, bytes);
        });
    return EXIT_SUCCESS;
}
