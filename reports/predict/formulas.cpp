// SPDX-License-Identifier: Apache-2.0

#include "predict/formulas.hpp"

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

/// Rounds in which something doubles until it has reached all: ceil(log2 n).
double rounds(double ranks) { return std::ceil(std::log2(ranks)); }
double all_but_own(double ranks) { return (ranks - 1) / ranks; }
bool is_power_of_two(double ranks) { return std::exp2(std::round(std::log2(ranks))) == ranks; }

std::optional<Steps> allreduce(Algorithm algorithm, double n) {
    // Ranks beyond a power of two hand all they have to a neighbour first and get the sum at the end:
    // Thakur et al. 2005, 4.5.
    const double power = std::exp2(std::floor(std::log2(n)));
    const double extra = is_power_of_two(n) ? 0 : 2;
    switch (algorithm) {
    case Algorithm::ring: // Patarasuk, Yuan 2009: reduce-scatter, then all-gather
        return Steps{2 * (n - 1), 2 * all_but_own(n)};
    case Algorithm::recursive_doubling: // Thakur et al. 2005, 4.5
        return Steps{std::log2(power) + extra, std::log2(power) + extra};
    case Algorithm::halving_doubling: // Thakur et al. 2005, 4.5, after Rabenseifner
        return Steps{2 * std::log2(power) + extra, 2 * all_but_own(power) + extra};
    case Algorithm::binomial_tree: // reduce, then broadcast: Thakur et al. 2005, 4.3
        return Steps{2 * rounds(n), 2 * rounds(n)};
    case Algorithm::double_tree: // Sanders et al. 2009: up, then down, each at full bandwidth
        return Steps{2 * rounds(n), 2};
    case Algorithm::direct:
        break;
    }
    return std::nullopt;
}

/// Every rank ends with (or, mirrored, begins with) the blocks of all: Thakur et al. 2005, 4.1 and 4.2.
std::optional<Steps> gather(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::ring:
        return Steps{n - 1, all_but_own(n)};
    case Algorithm::halving_doubling: // beyond powers of two Bruck's, with the same cost
        return Steps{rounds(n), all_but_own(n)};
    default:
        return std::nullopt;
    }
}

std::optional<Steps> broadcast(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::binomial_tree: // Thakur et al. 2005, 4.3
        return Steps{rounds(n), rounds(n)};
    case Algorithm::halving_doubling: // scatter, then all-gather (van de Geijn): Thakur et al. 4.3
        if (!is_power_of_two(n)) return std::nullopt; // ranks of unequal parts wait for each other
        return Steps{2 * rounds(n), 2 * all_but_own(n)};
    case Algorithm::ring: // scatter by a tree, all-gather by a ring: Thakur et al. 2005, 4.3
        return Steps{rounds(n) + n - 1, 2 * all_but_own(n)};
    default:
        return std::nullopt;
    }
}

std::optional<Steps> alltoall(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::ring: // pairwise exchange: Thakur et al. 2005, 4.4
        return Steps{n - 1, all_but_own(n)};
    case Algorithm::
        recursive_doubling: { // Bruck et al. 1997: blocks whose number has the round's bit
        double blocks = 0;
        for (double bit = 1; bit < n; bit *= 2)
            blocks += std::floor(n / (2 * bit)) * bit + std::max(0.0, std::fmod(n, 2 * bit) - bit);
        return Steps{rounds(n), blocks / n};
    }
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<Steps> steps_of(Collective collective, Algorithm algorithm, double ranks) {
    if (!(ranks >= 2) || !std::isfinite(ranks)) return std::nullopt;
    switch (collective) {
    case Collective::allreduce:
        return allreduce(algorithm, ranks);
    case Collective::allgather:
    case Collective::reduce_scatter:
        return gather(algorithm, ranks);
    case Collective::broadcast:
        return broadcast(algorithm, ranks);
    case Collective::alltoall:
        return alltoall(algorithm, ranks);
    case Collective::send_receive: // everyone at once, to the next
        return algorithm == Algorithm::direct ? std::optional{Steps{1, 1}} : std::nullopt;
    }
    return std::nullopt;
}

std::optional<Levels> levels_of(Collective collective, Algorithm within, Algorithm between,
                                double nodes, double ranks_per_node) {
    const double k = nodes;
    const double g = ranks_per_node;
    const auto outer = steps_of(collective, between, k);
    if (!outer || !(g >= 1)) return std::nullopt;
    Levels levels{.within = {}, .between = *outer};
    // Each rank has the g-th part of what its node sends; the g parts share the link, so that the bytes
    // of the link are those of the whole message. Only in an all-to-all has each rank a message of its own.
    if (collective == Collective::alltoall) levels.between.bytes *= g;
    if (g < 2) return levels;
    const auto inner = [&](Collective part) { return steps_of(part, within, g); };
    switch (collective) {
    case Collective::allreduce: { // reduce-scatter, all-reduce between, all-gather
        const auto scatter = inner(Collective::reduce_scatter);
        if (!scatter) return std::nullopt;
        levels.within = {2 * scatter->messages, 2 * scatter->bytes};
        return levels;
    }
    case Collective::broadcast: { // scattered in the root's node, gathered in all
        // Its second half waits for ranks that begin late: up to 40% more than a sum says.
        if (between == Algorithm::halving_doubling) return std::nullopt;
        const auto gather = inner(Collective::allgather);
        if (!gather) return std::nullopt;
        levels.within = {rounds(g) + gather->messages, all_but_own(g) + gather->bytes};
        return levels;
    }
    case Collective::
        send_receive: // one rank of each node sends to the next node, the others meanwhile
        return levels;
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall: {
        const auto one = inner(collective);
        if (!one) return std::nullopt;
        levels.within = *one;
        return levels;
    }
    }
    return std::nullopt;
}

double bus_factor(Collective collective, double ranks) {
    switch (collective) {
    case Collective::allreduce:
        return 2 * all_but_own(ranks);
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall:
        return all_but_own(ranks);
    case Collective::broadcast:
    case Collective::send_receive:
        break;
    }
    return 1;
}

double least_bytes_of_node(Collective collective, double nodes, double ranks_per_node) {
    const double left = all_but_own(nodes);
    switch (collective) {
    case Collective::allreduce:
        return 2 * left;
    case Collective::allgather:
    case Collective::reduce_scatter:
        return left;
    case Collective::alltoall:
        return left * ranks_per_node;
    case Collective::broadcast:
    case Collective::send_receive:
        break;
    }
    return 1;
}

} // namespace assay::report
