// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"
#include "rounds.hpp"
#include "transport.hpp"
#include "values.hpp"
#include "world.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::collective {
namespace {

using namespace assay::units;

class Pairs {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        bool together = false;
        Transport transport = Transport::any;
    };
    static constexpr Info info{
        .id = "collective.pairs",
        .version = 1,
        .question = "How fast is the way between every two of the processes, and which is slow?",
        .method =
            "Every pair of ranks in turn: 8 bytes to and fro eleven times, of which the first does "
            "not "
            "count, then two messages back to back one way and two the other, each way "
            "acknowledged. "
            "The matrices hold the median over all calls: bandwidth from row to column, and half a "
            "round trip. A rank keeps the last message of every other one, and checks every "
            "element.",
        .caveats =
            "The headline is all messages over all time, small ones and changes of pairs included; "
            "read the matrices. One pair plays at a time, so a fabric that is too narrow for all "
            "at "
            "once does not show, unless `together` is set: then disjoint pairs play at the same "
            "time. "
            "Ranks of one machine measure its memory, those of one network card share it.",
        .headline = "bandwidth",
    };
    static constexpr bool team = true;
    static constexpr bool single_call = true;

    static constexpr std::tuple axes{
        ranks_axis<Params>(),
        integer<Params>("bytes", "size of the large messages", "B", &Params::bytes, {1_MiB},
                        {1_KiB, 256_MiB}),
        boolean<Params>("together", "disjoint pairs at the same time", &Params::together, {false}),
        transport_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        const std::int64_t ranks = rank_count(params.ranks, machine);
        constexpr std::int64_t most_ranks = 512; // a matrix of more is not kept
        if (ranks > most_ranks)
            return Fit::no("takes " + std::to_string(most_ranks) + " ranks at most: set ranks");
        if (auto fit = fit_ranks(params.ranks, (ranks + 1) * params.bytes, machine); !fit)
            return fit;
        return fit_transport(params.transport, machine);
    }

    Pairs(const Params& params, Context& context)
        : ranks_{join_ranks(params.ranks, context)}, rank_{context.team().rank()},
          count_{static_cast<std::size_t>(params.bytes) / sizeof(float)}, values_{ranks_},
          rounds_{rounds_of(ranks_, params.together)}, own_{count_},
          received_{count_ * static_cast<std::size_t>(ranks_)}, now_(matrix_size()),
          labels_{labels()}, path_{params.transport, context, mpi::machine_count()} {
        for (std::size_t i = 0; i < count_; ++i) own_[i] = static_cast<float>(values_.at(rank_, i));
        poison();
        kept_.reserve(most_kept * matrix_size());
        context.setting("pairs", static_cast<double>(ranks_) * (ranks_ - 1) / 2);
        context.setting("rounds", static_cast<double>(rounds_.size()));
    }

    void run() noexcept {
        for (const auto& round : rounds_) {
            for (const auto& pair : round) {
                if (pair.first == rank_) lead(pair.second);
                if (pair.second == rank_) follow(pair.first);
            }
            note(MPI_Barrier(mpi::communicator()));
        }
        // Rank 0 reports: it has to know what the leaders measured.
        note(MPI_Allreduce(MPI_IN_PLACE, now_.data(), static_cast<int>(now_.size()), MPI_DOUBLE,
                           MPI_MAX, mpi::communicator()));
        if (calls_ < most_kept) std::copy(now_.begin(), now_.end(), std::back_inserter(kept_));
        std::fill(now_.begin(), now_.end(), 0.0);
        ++calls_;
    }

    Work work() const {
        const auto n = static_cast<double>(ranks_);
        return {.bytes = n * (n - 1) * messages * bytes()};
    }

    Check verify() const {
        mpi::check(code_, "a message between two ranks");
        auto check = check_each(
            received_.size(),
            [this](std::size_t i) {
                const auto from = static_cast<int>(i / count_);
                if (from == rank_) return 0.0; // nobody sends to himself
                return static_cast<double>(received_[i]) - values_.at(from, i % count_);
            },
            0, "every element of the last message from every rank, exactly");
        const double moved = 2.0 * (ranks_ - 1) * messages * bytes();
        return path_.prove(std::move(check), static_cast<double>(calls_) * moved);
    }
    void poison() {
        std::fill_n(received_.data(), received_.size(), std::numeric_limits<float>::quiet_NaN());
    }
    void spoil() {
        const int other = (rank_ + 1) % ranks_;
        received_[static_cast<std::size_t>(other) * count_ + count_ / 2] += 1;
    }

    void metrics(const Metrics& metrics) const {
        if (kept_.empty()) return;
        const auto way = static_cast<double>(messages) * bytes();
        std::vector<double> rates;
        std::vector<double> latencies;
        for (int from = 0; from < ranks_; ++from)
            for (int to = 0; to < ranks_; ++to) {
                const bool itself = from == to;
                rates.push_back(itself ? nothing : way / median(large(from, to)));
                latencies.push_back(itself ? nothing
                                           : median(small(std::min(from, to), std::max(from, to))));
            }
        const auto add = [&](const char* metric, const std::vector<double>& values) {
            metrics.add(Table{.metric = metric,
                              .row_title = "from",
                              .column_title = "to",
                              .rows = labels_,
                              .columns = labels_,
                              .values = values});
        };
        const auto known = [](double a, double b) { return std::isnan(b) || a < b; };
        metrics.add("worst_bandwidth", *std::ranges::min_element(rates, known));
        metrics.add("slowest_latency", largest(latencies));
        metrics.add("best_bandwidth", largest(rates));
        metrics.add("fastest_latency", *std::ranges::min_element(latencies, known));
        add("bandwidth", rates);
        add("latency", latencies);
    }

private:
    static constexpr int messages = 2; ///< back to back, one way
    static constexpr int round_trips = 10;
    static constexpr int tag = 11;
    static constexpr std::uint64_t most_kept = 200; ///< calls, for the median
    static constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

    double bytes() const { return static_cast<double>(count_ * sizeof(float)); }
    /// Seconds of the large messages from row to column, and of a small one beside them.
    std::size_t matrix_size() const { return 2 * static_cast<std::size_t>(ranks_ * ranks_); }
    std::size_t large(int from, int to) const {
        return static_cast<std::size_t>(from * ranks_ + to);
    }
    std::size_t small(int first, int second) const {
        return matrix_size() / 2 + large(first, second);
    }
    void note(int code) noexcept {
        if (code != MPI_SUCCESS) code_ = code;
    }
    float* block(int from) noexcept {
        return received_.data() + static_cast<std::size_t>(from) * count_;
    }

    void send_large(int to) noexcept {
        std::array<MPI_Request, messages> requests{};
        for (auto& request : requests)
            note(MPI_Isend(own_.data(), static_cast<int>(count_), MPI_FLOAT, to, tag,
                           mpi::communicator(), &request));
        note(MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE));
    }
    void receive_large(int from) noexcept {
        for (int i = 0; i < messages; ++i)
            note(MPI_Recv(block(from), static_cast<int>(count_), MPI_FLOAT, from, tag,
                          mpi::communicator(), MPI_STATUS_IGNORE));
    }
    void send_small(int to) noexcept {
        note(MPI_Send(&word_, 1, MPI_DOUBLE, to, tag, mpi::communicator()));
    }
    void receive_small(int from) noexcept {
        note(MPI_Recv(&word_, 1, MPI_DOUBLE, from, tag, mpi::communicator(), MPI_STATUS_IGNORE));
    }

    void lead(int other) noexcept {
        send_small(other);
        receive_small(other); // the partner has arrived
        double start = MPI_Wtime();
        for (int i = 0; i < round_trips; ++i) {
            send_small(other);
            receive_small(other);
        }
        now_[small(rank_, other)] = (MPI_Wtime() - start) / (2 * round_trips);
        start = MPI_Wtime();
        send_large(other);
        receive_small(other);
        now_[large(rank_, other)] = MPI_Wtime() - start;
        start = MPI_Wtime();
        send_small(other);
        receive_large(other);
        now_[large(other, rank_)] = MPI_Wtime() - start;
    }
    void follow(int other) noexcept {
        for (int i = 0; i < round_trips + 1; ++i) {
            receive_small(other);
            send_small(other);
        }
        receive_large(other);
        send_small(other);
        receive_small(other);
        send_large(other);
    }

    double median(std::size_t index) const {
        std::vector<double> values;
        for (std::size_t at = index; at < kept_.size(); at += matrix_size())
            values.push_back(kept_[at]);
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::ranges::nth_element(values, middle);
        return *middle;
    }
    static double largest(const std::vector<double>& values) {
        double most = 0;
        for (const double value : values)
            if (value > most) most = value;
        return most;
    }

    /// "node1", with the rank where a machine has several; "rank 1" where there is but one machine.
    std::vector<std::string> labels() const {
        const auto machines = mpi::machine_of_ranks();
        const int machine_count = 1 + *std::ranges::max_element(machines);
        std::vector<std::string> labels;
        for (int rank = 0; rank < ranks_; ++rank) {
            const auto node = "node" + std::to_string(machines[static_cast<std::size_t>(rank)]);
            const auto number = "rank " + std::to_string(rank);
            if (machine_count == 1)
                labels.push_back(number);
            else
                labels.push_back(machine_count == ranks_ ? node : node + " " + number);
        }
        return labels;
    }

    int ranks_;
    int rank_;
    std::size_t count_; // numbers of a large message
    Values values_;
    std::vector<Round> rounds_;
    HostBuffer<float> own_;
    HostBuffer<float> received_; // a block from each rank
    std::vector<double> now_;    // of the present call
    std::vector<double> kept_;   // of all, one after the other
    std::vector<std::string> labels_;
    Path path_;
    double word_ = 0;
    std::uint64_t calls_ = 0;
    int code_ = MPI_SUCCESS;
};

} // namespace

extern constinit const assay_benchmark pairs = define<Pairs>();

} // namespace assay::collective
