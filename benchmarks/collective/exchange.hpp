// SPDX-License-Identifier: Apache-2.0
//
// Collectives that move data, or add up and move, as benchmarks: buffers, sizes and checks are the same
// for all of them. The Operation tells them apart:
//
//   kind, info, name                       see kind.hpp; name of the call
//   call(in, out, count, type, rank, ranks, communicator)
//   algorithms, algorithm_variable         where the library lets one choose, see algorithm.hpp
//
// A message that cannot be cut evenly is rounded down; `message_bytes` says what was moved. An all-reduce takes
// whole numbers alone, and may write its result over its input: then sums grow (growth.hpp).

#pragma once

#include "algorithm.hpp"
#include "growth.hpp"
#include "kind.hpp"
#include "ranks.hpp"
#include "transport.hpp"
#include "values.hpp"
#include "world.hpp"

#include <assay/define.hpp>

#include <variant>

namespace assay::collective {

inline constexpr const char* caveats =
    "The library chooses algorithm and transport by default. Calls follow each other without "
    "computation, which hides the imbalance of real programs. Ranks on one machine use its memory, "
    "not a network; the settings `machines` and `path` say what was used.";

constexpr Info mpi_info(const char* id, const char* question, const char* method,
                        const char* caveats_of = caveats) {
    return {.id = id,
            .version = 1,
            .question = question,
            .method = method,
            .caveats = caveats_of,
            .headline = "bus_bandwidth",
            .noise = Noise::messages};
}

struct ExchangeParams {
    Symbolic ranks;
    std::int64_t bytes = 0;
    Type type = Type::fp32;
    bool in_place = false;
    Transport transport = Transport::any;
    Algorithm algorithm = own_choice;
};

/// Does this rank get a result? The root of a broadcast does not.
constexpr bool receives(Kind kind, int rank) { return kind != Kind::broadcast || rank != 0; }

/// The buffers of one rank, and the call that is timed.
template <class Operation, class T>
class Buffers {
public:
    Buffers(const ExchangeParams& p, int rank, int ranks)
        : count_{count_of(kind, sizeof(T), p.bytes, ranks)}, rank_{rank}, ranks_{ranks},
          in_place_{p.in_place}, values_{ranks}, input_{sent(kind, count_, ranks)},
          output_{receives(kind, rank) ? received(kind, count_, ranks) : 0},
          most_calls_{finite_calls<T>(ranks, largest_sum())} {
        for (std::size_t i = 0; i < input_.size(); ++i)
            input_[i] = static_cast<T>(values_.at(rank, i));
        poison();
        rewind();
    }

    void run() noexcept {
        // Only in batches of tiny messages: a copy every hundred calls, before the sums overflow.
        if (in_place_ && calls_ == most_calls_) rewind();
        const int code = Operation::call(in_place_ ? MPI_IN_PLACE : input_.data(), output_.data(),
                                         static_cast<int>(count_), mpi_type<T>(), rank_, ranks_,
                                         mpi::communicator());
        if (code != MPI_SUCCESS) code_ = code;
        ++calls_;
        ++all_calls_;
    }
    Work work() const {
        return {.algorithm_bytes = bytes(), .bus_bytes = bytes() * bus_factor(kind, ranks_)};
    }
    /// To or from this rank by all calls, at least.
    double moved() const { return static_cast<double>(all_calls_) * least_moved(bytes(), ranks_); }
    Check verify() const {
        mpi::check(code_, Operation::name);
        const auto& result = result_buffer();
        const double factor = grown();
        return check_each(
            result.size(),
            [&](std::size_t i) {
                const double wanted = expected(i) * factor;
                return (static_cast<double>(result[i]) - wanted) /
                       std::max(std::fabs(wanted), factor);
            },
            in_place_ ? growth_bound<T>(ranks_, sums(), largest_sum()) : 0, method);
    }
    /// A rank that only sends has nothing that a call must overwrite.
    void poison() {
        std::fill_n(output_.data(), output_.size(), std::numeric_limits<T>::quiet_NaN());
    }
    /// One element, by one unit of what it is a multiple of.
    void spoil() {
        auto& result = receives(kind, rank_) ? output_ : input_;
        result[result.size() / 2] += static_cast<T>(grown());
    }
    /// Repairs what spoil() damaged on a rank that only sends; in place, drops the sums of earlier calls.
    void rewind() noexcept {
        calls_ = 0;
        const std::size_t middle = input_.size() / 2;
        input_[middle] = static_cast<T>(values_.at(rank_, middle));
        if (in_place_) std::copy_n(input_.data(), input_.size(), output_.data());
    }

private:
    static constexpr Kind kind = Operation::kind;
    static constexpr const char* method =
        kind == Kind::allreduce
            ? "every element on every rank, exactly: sums of small random integers, known without "
              "a message (repeated sums in place that outgrow the type: n k u)"
        : reduces(kind) ? "every element on every rank, exactly: sums of small random integers, "
                          "known without a message"
                        : "every element on every rank, exactly: random integers that every rank "
                          "knows";

    /// Size of the message.
    double bytes() const {
        return static_cast<double>(count_ * sizeof(T)) * (divided(kind) ? ranks_ : 1);
    }
    double expected(std::size_t i) const {
        const Origin from = origin(kind, rank_, ranks_, count_, i);
        return reduces(kind) ? values_.sum(from.index) : values_.at(from.rank, from.index);
    }
    const HostBuffer<T>& result_buffer() const { return receives(kind, rank_) ? output_ : input_; }
    double largest_sum() const { return static_cast<double>(Values::largest) * ranks_; }
    /// Sums of sums that the result is. Out of place every call makes the first one again.
    std::uint64_t sums() const { return in_place_ ? std::max<std::uint64_t>(calls_, 1) : 1; }
    double grown() const { return growth(ranks_, sums()); }

    std::size_t count_; // numbers of a block
    int rank_;
    int ranks_;
    bool in_place_;
    Values values_;
    HostBuffer<T> input_;
    HostBuffer<T> output_;
    std::uint64_t most_calls_; // in place, until the sums overflow
    std::uint64_t calls_ = 0;  // since the inputs were fresh
    std::uint64_t all_calls_ = 0;
    int code_ = MPI_SUCCESS; // the last one that was no success
};

template <class Operation>
class Exchange : public OneOf<Buffers<Operation, float>, Buffers<Operation, double>> {
public:
    using Params = ExchangeParams;
    static constexpr Info info = Operation::info;
    static constexpr bool team = true;
    /// Inputs are restored inside, see Buffers::run(). More calls than any batch needs.
    static constexpr std::uint64_t safe_calls = 1U << 24U;

    static constexpr auto axes = [] {
        using namespace assay::units;
        constexpr Kind kind = Operation::kind;
        const auto bytes =
            integer("bytes",
                    kind == Kind::allreduce ? "message size of one rank"
                    : divided(kind)         ? "message size, of the blocks of all ranks together"
                                            : "message size",
                    "B", &Params::bytes, {8, 1_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB}, {8, 1_GiB});
        const auto transport = transport_axis<Params>();
        constexpr Name<Type> types[] = {{"fp32", Type::fp32}, {"fp64", Type::fp64}}; // NOLINT
        constexpr const char* help = "type of the numbers";
        const auto all = std::tuple{ranks_axis<Params>(), bytes};
        if constexpr (kind == Kind::allreduce)
            return std::tuple_cat(
                all, std::tuple{choice("type", help, &Params::type, types),
                                boolean("in_place", "result over the input (MPI_IN_PLACE)",
                                        &Params::in_place, {false}),
                                transport, algorithm_axis<Params, Operation>()});
        else if constexpr (reduces(kind))
            return std::tuple_cat(
                all, std::tuple{transport, choice("type", help, &Params::type, types, {Type::fp32}),
                                algorithm_axis<Params, Operation>()});
        else if constexpr (HasAlgorithms<Operation>)
            return std::tuple_cat(all, std::tuple{transport, algorithm_axis<Params, Operation>()});
        else
            return std::tuple_cat(all, std::tuple{transport});
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        const std::int64_t element = params.type == Type::fp64 ? 8 : 4;
        if (Operation::kind == Kind::allreduce && params.bytes % element != 0)
            return Fit::no("needs a message of whole numbers: a multiple of ", element, " bytes");
        if (auto fit = fit_ranks(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        if constexpr (HasAlgorithms<Operation>)
            if (auto fit =
                    fit_algorithm<Operation>(params.algorithm, rank_count(params.ranks, machine));
                !fit)
                return fit;
        return fit_transport(params.transport, machine);
    }

    Exchange(const Params& params, Context& context)
        : Exchange{params, context, join_ranks(params.ranks, context)} {}

    Check verify() const {
        const double moved = std::visit([](const auto& s) { return s.moved(); }, this->state());
        return path_.prove(Exchange::OneOf::verify(), moved);
    }

private:
    Exchange(const Params& params, Context& context, int ranks)
        : Exchange::OneOf{params.type, params, context.team().rank(), ranks},
          path_{params.transport, context, mpi::machine_count()} {
        if constexpr (HasAlgorithms<Operation>)
            join_algorithm<Operation>(params.algorithm, context);
        if (Operation::kind != Kind::allreduce)
            context.setting("message_bytes",
                            static_cast<std::int64_t>(this->work().algorithm_bytes));
    }

    Path path_;
};

} // namespace assay::collective
