// SPDX-License-Identifier: Apache-2.0
//
// Collectives that move data, or add up and move, as benchmarks: buffers, sizes and checks are the same
// for all of them. What one of them is, its Operation says:
//
//   kind, info, name                       see kind.hpp; name of the call
//   call(in, out, count, type, rank, ranks, communicator)
//   algorithms, algorithm_variable         where the library lets one choose, see algorithm.hpp
//
// A message that cannot be cut evenly is rounded down; `message_bytes` says what was moved.

#pragma once

#include "algorithm.hpp"
#include "calls.hpp"
#include "kind.hpp"
#include "values.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

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
            .headline = "bus_bandwidth"};
}

/// Does this rank get a result? The root of a broadcast does not.
constexpr bool receives(Kind kind, int rank) { return kind != Kind::broadcast || rank != 0; }

/// The buffers of one rank, and the call that is timed.
template <class Operation, class T>
class Buffers {
public:
    template <class Params>
    Buffers(const Params& p, int rank, int ranks)
        : count_{count_of(kind, sizeof(T), p.bytes, ranks)}, rank_{rank}, ranks_{ranks},
          values_{ranks}, input_{sent(kind, count_, ranks)},
          output_{receives(kind, rank) ? received(kind, count_, ranks) : 0} {
        for (std::size_t i = 0; i < input_.size(); ++i)
            input_[i] = static_cast<T>(values_.at(rank, i));
        poison();
    }

    void run() noexcept {
        calls_.note(Operation::call(input_.data(), output_.data(), static_cast<int>(count_),
                                    mpi_type<T>(), rank_, ranks_, mpi::communicator()));
    }
    Work work() const {
        return {.algorithm_bytes = bytes(), .bus_bytes = bytes() * bus_factor(kind, ranks_)};
    }
    double moved() const { return calls_.count() * least_moved(bytes(), ranks_); }
    Check verify() const {
        calls_.check(Operation::name);
        const auto& result = result_buffer();
        return check_each(
            result.size(),
            [&](std::size_t i) { return static_cast<double>(result[i]) - expected(i); }, 0,
            reduces(kind)
                ? "every element on every rank, exactly: sums of small random integers, known "
                  "without a message"
                : "every element on every rank, exactly: random integers that every rank knows");
    }
    /// A rank that only sends has nothing that a call must overwrite.
    void poison() {
        std::fill_n(output_.data(), output_.size(), std::numeric_limits<T>::quiet_NaN());
    }
    /// One element, by one.
    void spoil() {
        auto& result = receives(kind, rank_) ? output_ : input_;
        result[result.size() / 2] += 1;
    }
    /// Of a rank that only sends, what spoil() damaged.
    void rewind() {
        const std::size_t middle = input_.size() / 2;
        input_[middle] = static_cast<T>(values_.at(rank_, middle));
    }
    /// Of the message.
    double bytes() const {
        return static_cast<double>(count_ * sizeof(T)) * (divided(kind) ? ranks_ : 1);
    }

private:
    static constexpr Kind kind = Operation::kind;

    double expected(std::size_t i) const {
        const Origin from = origin(kind, rank_, ranks_, count_, i);
        return reduces(kind) ? values_.sum(from.index) : values_.at(from.rank, from.index);
    }
    const HostBuffer<T>& result_buffer() const { return receives(kind, rank_) ? output_ : input_; }

    std::size_t count_; // numbers of a block
    int rank_;
    int ranks_;
    Values values_;
    HostBuffer<T> input_;
    HostBuffer<T> output_;
    Calls calls_;
};

template <class Operation>
class Exchange : public OverTransport<Buffers<Operation, float>, Buffers<Operation, double>> {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        Type type = Type::fp32;
        Transport transport = Transport::any;
        Algorithm algorithm = own_choice;
    };
    static constexpr Info info = Operation::info;
    static constexpr bool team = true;
    /// A call changes no input; rewind() only mends what spoil() did.
    static constexpr std::uint64_t safe_calls = 1U << 24U;

    static constexpr auto axes = [] {
        using namespace assay::units;
        const auto common = std::tuple{
            ranks_axis<Params>(),
            integer("bytes",
                    divided(Operation::kind) ? "message size, of the blocks of all ranks together"
                                             : "message size",
                    "B", &Params::bytes, {8, 1_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB}, {8, 1_GiB}),
            transport_axis<Params>()};
        const auto numbers = [] {
            if constexpr (reduces(Operation::kind))
                return std::tuple{choice("type", "type of the numbers", &Params::type,
                                         {{"fp32", Type::fp32}, {"fp64", Type::fp64}},
                                         {Type::fp32})};
            else
                return std::tuple{};
        }();
        const auto choices = [] {
            if constexpr (HasAlgorithms<Operation>)
                return std::tuple{algorithm_axis<Params, Operation>()};
            else
                return std::tuple{};
        }();
        return std::tuple_cat(common, numbers, choices);
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        if (auto fit = fit_ranks(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        if constexpr (HasAlgorithms<Operation>)
            if (auto fit =
                    fit_algorithm<Operation>(params.algorithm, rank_count(params.ranks, machine));
                !fit)
                return fit;
        return fit_transport(params.transport, machine);
    }

    Exchange(const Params& params, Context& context) : Exchange::OverTransport{params, context} {
        if constexpr (HasAlgorithms<Operation>)
            join_algorithm<Operation>(params.algorithm, context);
        context.setting("message_bytes", static_cast<std::int64_t>(this->work().algorithm_bytes));
    }
};

} // namespace assay::collective
