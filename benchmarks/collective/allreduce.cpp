// SPDX-License-Identifier: Apache-2.0
#include "algorithm.hpp"
#include "calls.hpp"
#include "growth.hpp"
#include "kind.hpp"
#include "values.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace assay::collective {

namespace {

using namespace assay::units;

/// The buffers of one rank, and the call that is timed.
template <class T>
class Reduction {
public:
    template <class Params>
    Reduction(const Params& p, int rank, int ranks)
        : values_{ranks}, input_{static_cast<std::size_t>(p.bytes) / sizeof(T)},
          output_{input_.size()}, rank_{rank}, ranks_{ranks}, in_place_{p.in_place},
          most_calls_{finite_calls<T>(ranks, largest_sum())} {
        for (std::size_t i = 0; i < input_.size(); ++i)
            input_[i] = static_cast<T>(values_.at(rank, i));
        rewind();
        if (!in_place_) poison();
    }

    void run() noexcept {
        const void* const from = in_place_ ? MPI_IN_PLACE : input_.data();
        // Only in batches of tiny messages: a copy every hundred calls, before the sums overflow.
        if (in_place_ && calls_ == most_calls_) rewind();
        ++calls_;
        all_calls_.note(MPI_Allreduce(from, output_.data(), static_cast<int>(input_.size()),
                                      mpi_type<T>(), MPI_SUM, mpi::communicator()));
    }
    Work work() const {
        return {.algorithm_bytes = bytes(),
                .bus_bytes = bytes() * bus_factor(Kind::allreduce, ranks_)};
    }
    double moved() const { return all_calls_.count() * least_moved(bytes(), ranks_); }

    Check verify() const {
        all_calls_.check("MPI_Allreduce");
        // Out of place every call makes the first sum again.
        const std::uint64_t calls = in_place_ ? std::max<std::uint64_t>(calls_, 1) : 1;
        const double factor = growth(ranks_, calls);
        return check_each(
            output_.size(),
            [&](std::size_t i) {
                const double expected = values_.sum(i) * factor;
                const double off = static_cast<double>(output_[i]) - expected;
                return off / std::max(std::fabs(expected), factor);
            },
            growth_bound<T>(ranks_, calls, largest_sum()),
            "every element on every rank, exactly: sums of small random integers, known without a "
            "message (repeated sums in place that outgrow the type: n k u)");
    }

    void poison() {
        std::fill_n(output_.data(), output_.size(), std::numeric_limits<T>::quiet_NaN());
    }
    /// One element, by one unit of what it is a multiple of.
    void spoil() {
        T& element = output_[output_.size() / 2];
        element +=
            static_cast<T>(growth(ranks_, in_place_ ? std::max<std::uint64_t>(calls_, 1) : 1));
    }
    void rewind() noexcept {
        calls_ = 0;
        if (in_place_) std::copy_n(input_.data(), input_.size(), output_.data());
    }
    double bytes() const { return static_cast<double>(input_.bytes()); }

private:
    double largest_sum() const { return static_cast<double>(Values::largest) * ranks_; }

    Values values_;
    HostBuffer<T> input_;
    HostBuffer<T> output_;
    int rank_;
    int ranks_;
    bool in_place_;
    std::uint64_t most_calls_;
    std::uint64_t calls_ = 0; // since the inputs were fresh
    Calls all_calls_;
};

class Allreduce : public OverTransport<Reduction<float>, Reduction<double>> {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        Type type = Type::fp32;
        bool in_place = false;
        Transport transport = Transport::any;
        Algorithm algorithm = own_choice;
    };
    static constexpr auto algorithms =
        collective::algorithms({"basic_linear", "nonoverlapping", "recursive_doubling", "ring",
                                "segmented_ring", "rabenseifner"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_allreduce_algorithm";
    static constexpr Info info{
        .id = "collective.allreduce",
        .version = 1,
        .question = "How fast do several processes sum their data so that all have the result?",
        .method = "MPI_Allreduce with MPI_SUM, calls back to back, timed by the slowest rank. Bus "
                  "bandwidth is message bytes per second times 2 (n-1) / n: what an ideal "
                  "algorithm moves per rank. Every rank sends different small random integers and "
                  "checks every element of the sum exactly. In place, sums grow by n per call, so "
                  "inputs are restored before each batch, and within a batch of small messages "
                  "before the type overflows (fp32, 2 ranks: every 120 calls).",
        .caveats =
            "The library chooses algorithm and transport by default. Calls follow each other "
            "without computation, which hides the imbalance of real programs. Ranks on one machine "
            "use its memory, not a network; the settings `machines` and `path` say what was used.",
        .headline = "bus_bandwidth",
    };
    static constexpr bool team = true;
    /// Inputs are restored inside, see Reduction::run(). More calls than any batch needs.
    static constexpr std::uint64_t safe_calls = 1U << 24U;

    static constexpr std::tuple axes{
        ranks_axis<Params>(),
        integer("bytes", "message size of one rank", "B", &Params::bytes,
                {8, 1_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB}, {8, 1_GiB}),
        choice("type", "type of the numbers", &Params::type,
               {{"fp32", Type::fp32}, {"fp64", Type::fp64}}),
        boolean("in_place", "result over the input (MPI_IN_PLACE)", &Params::in_place, {false}),
        transport_axis<Params>(),
        algorithm_axis<Params, Allreduce>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        const std::int64_t element = params.type == Type::fp64 ? 8 : 4;
        if (params.bytes % element != 0)
            return Fit::no("needs a message of whole numbers: a multiple of ", element, " bytes");
        if (auto fit = fit_ranks(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        if (auto fit =
                fit_algorithm<Allreduce>(params.algorithm, rank_count(params.ranks, machine));
            !fit)
            return fit;
        return fit_transport(params.transport, machine);
    }

    Allreduce(const Params& params, Context& context) : OverTransport{params, context} {
        join_algorithm<Allreduce>(params.algorithm, context);
    }
};

} // namespace

extern constinit const assay_benchmark allreduce = define<Allreduce>();

} // namespace assay::collective
