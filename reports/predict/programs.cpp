// SPDX-License-Identifier: Apache-2.0

#include "predict/programs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace assay::report {
namespace {

std::uint32_t rounds(Rank ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Neighbour to neighbour, equal blocks; or with everyone in turn.
class Ring final : public Program {
public:
    Ring(Rank ranks, std::uint32_t laps, bool everyone)
        : ranks_{ranks}, steps_{laps * (ranks - 1)}, everyone_{everyone} {}
    std::uint32_t count(Rank /*rank*/) const override { return steps_; }
    Operation at(Rank rank, std::uint32_t index) const override {
        const Rank away = everyone_ ? index + 1 : 1;
        return {.to = (rank + away) % ranks_,
                .from = (rank + ranks_ - away) % ranks_,
                .bytes = 1.0 / ranks_};
    }

private:
    Rank ranks_;
    std::uint32_t steps_;
    bool everyone_;
};

/// To the rank 1, 2, 4, ... further, from the one as far behind. Bruck's ways to gather and to exchange.
class Bruck final : public Program {
public:
    enum class Kind : std::uint8_t { gather, scatter, exchange };
    Bruck(Rank ranks, Kind kind) : ranks_{ranks}, kind_{kind} {}
    std::uint32_t count(Rank /*rank*/) const override { return rounds(ranks_); }
    Operation at(Rank rank, std::uint32_t index) const override {
        // A reduce-scatter is the all-gather played backwards.
        const std::uint32_t round = kind_ == Kind::scatter ? rounds(ranks_) - 1 - index : index;
        const Rank away = Rank{1} << round;
        return {.to = (rank + away) % ranks_,
                .from = (rank + ranks_ - away) % ranks_,
                .bytes = static_cast<double>(blocks(away)) / ranks_};
    }

private:
    Rank blocks(Rank away) const {
        if (kind_ != Kind::exchange) return std::min(away, ranks_ - away);
        // Blocks for the ranks whose distance has this bit.
        const Rank rest = ranks_ % (2 * away);
        return ranks_ / (2 * away) * away + (rest > away ? rest - away : 0);
    }
    Rank ranks_;
    Kind kind_;
};

/// With the partner 1, 2, 4, ... away; ranks beyond a power of two hand all they have to a neighbour.
class Doubling final : public Program {
public:
    Doubling(Rank ranks, bool halving)
        : power_{std::bit_floor(ranks)}, beyond_{ranks - power_}, halving_{halving} {}
    std::uint32_t count(Rank rank) const override {
        if (hands_over(rank)) return 2;
        return steps() + (rank < 2 * beyond_ ? 2 : 0);
    }
    Operation at(Rank rank, std::uint32_t index) const override {
        if (hands_over(rank))
            return index == 0 ? Operation{.to = rank + 1, .bytes = 1} : Operation{.from = rank + 1};
        if (rank < 2 * beyond_) {
            if (index == 0) return {.from = rank - 1};
            if (index == steps() + 1) return {.to = rank - 1, .bytes = 1};
            --index;
        }
        const std::uint32_t half = rounds(power_);
        // Halving goes from far to near with ever less, doubling back.
        const std::uint32_t round = !halving_      ? index
                                    : index < half ? half - 1 - index
                                                   : index - half;
        const Rank own = rank < 2 * beyond_ ? rank / 2 : rank - beyond_;
        const Rank partner = own ^ (Rank{1} << round);
        const Rank real = partner < beyond_ ? 2 * partner + 1 : partner + beyond_;
        const double bytes = halving_ ? static_cast<double>(Rank{1} << round) / power_ : 1;
        return {.to = real, .from = real, .bytes = bytes};
    }

private:
    bool hands_over(Rank rank) const { return rank < 2 * beyond_ && rank % 2 == 0; }
    std::uint32_t steps() const { return rounds(power_) * (halving_ ? 2 : 1); }
    Rank power_;
    Rank beyond_;
    bool halving_;
};

/// A binomial tree from rank 0: up, down or both. Scattering sends each child what its part of the tree
/// needs; otherwise everything.
class Binomial final : public Program {
public:
    Binomial(Rank ranks, bool up, bool down, bool scatters)
        : ranks_{ranks}, up_{up}, down_{down}, scatters_{scatters} {}
    std::uint32_t count(Rank rank) const override {
        return one_way(rank) * ((up_ ? 1 : 0) + (down_ ? 1 : 0));
    }
    Operation at(Rank rank, std::uint32_t index) const override {
        const std::uint32_t all = one_way(rank);
        const Rank parent = rank & (rank - 1);
        if (up_ && index < all) {
            if (index < children(rank)) return {.from = rank + (Rank{1} << index)};
            return {.to = parent, .bytes = 1};
        }
        if (up_) index -= all;
        if (rank != 0) {
            if (index == 0) return {.from = parent};
            --index;
        }
        const Rank away = Rank{1} << (children(rank) - 1 - index); // the largest part first
        const Rank part = std::min(away, ranks_ - rank - away);
        return {.to = rank + away, .bytes = scatters_ ? static_cast<double>(part) / ranks_ : 1};
    }

private:
    std::uint32_t children(Rank rank) const {
        const auto most =
            rank == 0 ? rounds(ranks_) : static_cast<std::uint32_t>(std::countr_zero(rank));
        std::uint32_t there = 0;
        while (there < most && rank + (Rank{1} << there) < ranks_) ++there;
        return there;
    }
    std::uint32_t one_way(Rank rank) const { return children(rank) + (rank == 0 ? 0 : 1); }
    Rank ranks_;
    bool up_;
    bool down_;
    bool scatters_;
};

/// One of two binary trees; who is inside one is a leaf of the other. Half of the message, in pieces that
/// follow each other.
class HalfTree final : public Program {
public:
    HalfTree(Rank ranks, std::uint32_t pieces, bool second, bool up)
        : ranks_{ranks}, pieces_{pieces}, second_{second}, up_{up} {}
    std::uint32_t count(Rank rank) const override { return one_way(family(rank)) * (up_ ? 2 : 1); }
    Operation at(Rank rank, std::uint32_t index) const override {
        const Family of = family(rank);
        const std::uint32_t all = one_way(of);
        return up_ && index < all ? upwards(of, index) : downwards(of, index - (up_ ? all : 0));
    }

private:
    struct Family {
        Rank parent = nobody;
        Rank left = nobody;
        Rank right = nobody;
    };
    double bytes() const { return 0.5 / pieces_; }
    /// A slot for each child and piece, one for a leaf, and those in which the last piece goes on.
    static std::uint32_t slots(const Family& of) {
        return of.left != nobody && of.right != nobody ? 2 : 1;
    }
    std::uint32_t one_way(const Family& of) const { return (pieces_ + 1) * slots(of); }
    /// In its first slot of a piece a rank passes on the piece before and takes the next one.
    Operation upwards(const Family& of, std::uint32_t index) const {
        const std::uint32_t piece = index / slots(of);
        const bool first = index % slots(of) == 0;
        Operation operation;
        if (first && piece > 0 && of.parent != nobody) operation.to = of.parent;
        if (piece < pieces_) operation.from = first && of.left != nobody ? of.left : of.right;
        operation.bytes = bytes();
        return operation;
    }
    Operation downwards(const Family& of, std::uint32_t index) const {
        const std::uint32_t piece = index / slots(of);
        const bool first = index % slots(of) == 0;
        Operation operation;
        if (first && piece < pieces_) operation.from = of.parent;
        if (piece > 0) operation.to = first && of.left != nobody ? of.left : of.right;
        operation.bytes = bytes();
        return operation;
    }
    /// The second tree is the first one with its ranks mirrored (an even number of them) or moved on by
    /// one: odd places, the leaves, become even ones.
    Rank place_of(Rank rank) const {
        if (!second_) return rank;
        return ranks_ % 2 == 0 ? ranks_ - 1 - rank : (rank + ranks_ - 1) % ranks_;
    }
    Rank rank_at(Rank place) const {
        if (!second_ || place == nobody) return place;
        return ranks_ % 2 == 0 ? ranks_ - 1 - place : (place + 1) % ranks_;
    }
    /// Place 0 is the root with one child; the others stand in order, so that a place's lowest bit is its
    /// height above the leaves.
    Family family(Rank rank) const {
        const Rank place = place_of(rank);
        Family of;
        if (place == 0) {
            of.left = ranks_ > 1 ? std::bit_floor(ranks_ - 1) : nobody;
        } else {
            const Rank bit = place & (~place + 1);
            const Rank up = (place ^ bit) | (bit << 1U);
            of.parent = up < ranks_ ? up : place ^ bit;
            if (bit > 1) of.left = place - bit / 2;
            for (Rank below = bit / 2; below > 0 && of.right == nobody; below /= 2)
                if (place + below < ranks_) of.right = place + below;
        }
        return {.parent = rank_at(of.parent), .left = rank_at(of.left), .right = rank_at(of.right)};
    }
    Rank ranks_;
    std::uint32_t pieces_;
    bool second_;
    bool up_;
};

/// Everyone to the next.
class Shift final : public Program {
public:
    explicit Shift(Rank ranks) : ranks_{ranks} {}
    std::uint32_t count(Rank /*rank*/) const override { return 1; }
    Operation at(Rank rank, std::uint32_t /*index*/) const override {
        return {.to = (rank + 1) % ranks_, .from = (rank + ranks_ - 1) % ranks_, .bytes = 1};
    }

private:
    Rank ranks_;
};

/// Programs one after the other, each over groups of ranks: those of a node, or those that have the same
/// place in their nodes.
class Sequence final : public Program {
public:
    enum class Group : std::uint8_t { all, node, across, first_node };
    struct Part {
        ProgramPointer program;
        Group group;
        double scale; ///< its message, per byte of the whole one
    };
    Sequence(std::vector<Part> parts, Rank ranks_per_node)
        : parts_{std::move(parts)}, per_node_{ranks_per_node} {}
    std::uint32_t count(Rank rank) const override {
        std::uint32_t all = 0;
        for (const auto& part : parts_) all += count_of(part, rank);
        return all;
    }
    Operation at(Rank rank, std::uint32_t index) const override {
        for (const auto& part : parts_) {
            const std::uint32_t count = count_of(part, rank);
            if (index >= count) {
                index -= count;
                continue;
            }
            auto operation = part.program->at(member(part, rank), index);
            operation.to = real(part, rank, operation.to);
            operation.from = real(part, rank, operation.from);
            operation.bytes *= part.scale;
            return operation;
        }
        return {};
    }

private:
    std::uint32_t count_of(const Part& part, Rank rank) const {
        if (part.group == Group::first_node && rank >= per_node_) return 0;
        return part.program->count(member(part, rank));
    }
    Rank member(const Part& part, Rank rank) const {
        if (part.group == Group::all) return rank;
        return part.group == Group::across ? rank / per_node_ : rank % per_node_;
    }
    Rank real(const Part& part, Rank rank, Rank other) const {
        if (other == nobody || part.group == Group::all) return other;
        return part.group == Group::across ? other * per_node_ + rank % per_node_
                                           : rank / per_node_ * per_node_ + other;
    }
    std::vector<Part> parts_;
    Rank per_node_;
};

ProgramPointer scatter(Rank ranks) { return std::make_unique<Binomial>(ranks, false, true, true); }
ProgramPointer then(ProgramPointer first, ProgramPointer second) {
    std::vector<Sequence::Part> parts;
    parts.push_back({std::move(first), Sequence::Group::all, 1});
    parts.push_back({std::move(second), Sequence::Group::all, 1});
    return std::make_unique<Sequence>(std::move(parts), 1);
}

ProgramPointer program_of(Collective collective, Algorithm algorithm, Rank n) {
    const bool all = collective == Collective::allreduce;
    switch (algorithm) {
    case Algorithm::ring:
        if (collective == Collective::broadcast)
            return then(scatter(n), std::make_unique<Ring>(n, 1, false));
        return std::make_unique<Ring>(n, all ? 2 : 1, collective == Collective::alltoall);
    case Algorithm::recursive_doubling:
        if (collective == Collective::alltoall)
            return std::make_unique<Bruck>(n, Bruck::Kind::exchange);
        return std::make_unique<Doubling>(n, false);
    case Algorithm::halving_doubling:
        if (all) return std::make_unique<Doubling>(n, true);
        if (collective == Collective::broadcast)
            return then(scatter(n), std::make_unique<Bruck>(n, Bruck::Kind::gather));
        return std::make_unique<Bruck>(
            n, collective == Collective::allgather ? Bruck::Kind::gather : Bruck::Kind::scatter);
    case Algorithm::binomial_tree:
        return std::make_unique<Binomial>(n, all, true, false);
    case Algorithm::double_tree:
    case Algorithm::direct:
        break;
    }
    return std::make_unique<Shift>(n);
}

} // namespace

std::vector<ProgramPointer> programs_of(Collective collective, Algorithm algorithm, Rank ranks,
                                        std::uint32_t pieces) {
    std::vector<ProgramPointer> programs;
    if (!steps_of(collective, algorithm, ranks)) return programs;
    if (algorithm != Algorithm::double_tree) {
        programs.push_back(program_of(collective, algorithm, ranks));
        return programs;
    }
    for (const bool second : {false, true})
        programs.push_back(std::make_unique<HalfTree>(ranks, std::max(pieces, 1U), second,
                                                      collective == Collective::allreduce));
    return programs;
}

std::vector<ProgramPointer> programs_of_levels(Collective collective, Algorithm within,
                                               Algorithm between, Rank nodes, Rank ranks_per_node) {
    std::vector<ProgramPointer> programs;
    if (!levels_of(collective, within, between, nodes, ranks_per_node) ||
        between == Algorithm::double_tree || collective == Collective::send_receive)
        return programs;
    using Group = Sequence::Group;
    const Rank g = ranks_per_node;
    std::vector<Sequence::Part> parts;
    const auto inner = [&](Collective part, Group group = Group::node) {
        if (g > 1) parts.push_back({program_of(part, within, g), group, 1});
    };
    const auto outer = [&](double scale) {
        parts.push_back({program_of(collective, between, nodes), Group::across, scale});
    };
    switch (collective) {
    case Collective::allreduce:
        inner(Collective::reduce_scatter);
        outer(1.0 / g);
        inner(Collective::allgather);
        break;
    case Collective::allgather:
        outer(1.0 / g);
        inner(Collective::allgather);
        break;
    case Collective::reduce_scatter:
        inner(Collective::reduce_scatter);
        outer(1.0 / g);
        break;
    case Collective::broadcast:
        if (g > 1) parts.push_back({scatter(g), Group::first_node, 1});
        outer(1.0 / g);
        inner(Collective::allgather);
        break;
    case Collective::alltoall:
        inner(Collective::alltoall);
        outer(1);
        break;
    case Collective::send_receive:
        break;
    }
    programs.push_back(std::make_unique<Sequence>(std::move(parts), g));
    return programs;
}

} // namespace assay::report
