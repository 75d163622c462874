// SPDX-License-Identifier: Apache-2.0
//
// A collective in two types of numbers: the calls of one rank, and the transport that their messages took.

#pragma once

#include "ranks.hpp"
#include "transport.hpp"
#include "world.hpp"

#include <assay/one_of.hpp>

#include <cstdint>
#include <utility>
#include <variant>

namespace assay::collective {

/// How often MPI was called, and the last code that was no success.
class Calls {
public:
    void note(int code) noexcept {
        if (code != MPI_SUCCESS) code_ = code;
        ++count_;
    }
    void check(const char* name) const { mpi::check(code_, name); }
    double count() const { return static_cast<double>(count_); }

private:
    std::uint64_t count_ = 0;
    int code_ = MPI_SUCCESS;
};

/// A state is made of (parameters, rank, ranks); moved() is what the calls moved to or from this rank, at least.
template <class Single, class Double>
class OverTransport : public OneOf<Single, Double> {
public:
    Check verify() const {
        const double moved = std::visit([](const auto& s) { return s.moved(); }, this->state());
        return path_.prove(OneOf<Single, Double>::verify(), moved);
    }

protected:
    template <class Params>
    OverTransport(const Params& p, Context& context)
        : OneOf<Single, Double>{[&] { return make(p, context); }},
          path_{p.transport, context, mpi::machine_count()} {}

private:
    using State = typename OneOf<Single, Double>::State;

    template <class Params>
    static State make(const Params& p, Context& context) {
        const int ranks = join_ranks(p.ranks, context);
        const int rank = context.team().rank();
        if (p.type == Type::fp64) return State{std::in_place_type<Double>, p, rank, ranks};
        return State{std::in_place_type<Single>, p, rank, ranks};
    }

    Path path_;
};

} // namespace assay::collective
