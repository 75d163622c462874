// SPDX-License-Identifier: Apache-2.0
#include "pair_pace.hpp"
#include "pair_play.hpp"
#include "ranks.hpp"
#include "rounds.hpp"
#include "transport.hpp"
#include "values.hpp"
#include "world.hpp"

#include <assay/define.hpp>

#include <iterator>

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
        .version = 2,
        .question = "How fast is the link between every two processes, and which one is slow?",
        .method = "Every pair of ranks in turn: eleven round trips of 8 bytes, the first untimed, "
                  "then two messages back to back each way, each acknowledged. A pair so slow that "
                  "a call would exceed a second exchanges less (down to 64 KiB, and fewer round "
                  "trips), based on a trial at the start. The matrices hold the median over all "
                  "calls: bandwidth from row to column, and half a round trip. Every rank checks "
                  "every element of the last message from every other.",
        .caveats =
            "The primary metric is all messages by total time, small ones and changes of pairs "
            "included; read the matrices. One pair runs at a time, so an oversubscribed fabric "
            "does not show unless `together` is set: then disjoint pairs run at once. Ranks on one "
            "machine measure its memory; those on one network card share it.",
        .headline = "bandwidth",
        .noise = Noise::messages,
    };
    static constexpr bool team = true;
    static constexpr bool single_call = true;

    static constexpr std::tuple axes{
        ranks_axis<Params>(),
        integer("bytes", "size of the large messages", "B", &Params::bytes, {1_MiB},
                {1_KiB, 256_MiB}),
        boolean("together", "disjoint pairs at the same time", &Params::together, {false}),
        transport_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        const std::int64_t ranks = rank_count(params.ranks, machine);
        constexpr std::int64_t most_ranks = 512; // a matrix of more is not kept
        if (ranks > most_ranks) return Fit::no("takes ", most_ranks, " ranks at most: set ranks");
        if (auto fit = fit_ranks(params.ranks, (ranks + 1) * params.bytes, machine); !fit)
            return fit;
        return fit_transport(params.transport, machine);
    }

    Pairs(const Params& params, Context& context)
        : ranks_{join_ranks(params.ranks, context)}, rank_{context.team().rank()},
          count_{static_cast<std::size_t>(params.bytes) / sizeof(float)}, values_{ranks_},
          rounds_{rounds_of(ranks_, params.together)}, own_{count_},
          received_{count_ * static_cast<std::size_t>(ranks_)}, play_{own_, received_},
          now_(matrix_size()), labels_{mpi::rank_labels()},
          path_{params.transport, context, mpi::machine_count()} {
        for (std::size_t i = 0; i < count_; ++i) own_[i] = static_cast<float>(values_.at(rank_, i));
        poison();
        kept_.reserve(most_kept * matrix_size());
        choose_paces();
        context.setting("pairs", static_cast<double>(ranks_) * (ranks_ - 1) / 2);
        context.setting("rounds", rounds_.size());
        const auto least = std::ranges::min(paces_, {}, &Pace::numbers);
        context.setting("least_bytes", least.numbers * sizeof(float));
    }

    void run() noexcept {
        play_all();
        if (calls_ < most_kept) std::ranges::copy(now_, std::back_inserter(kept_));
        ++calls_;
    }

    Work work() const {
        double bytes = 0;
        for (const auto& round : rounds_)
            for (const auto& pair : round) bytes += 2 * way_bytes(pair.first, pair.second);
        return {.bytes = bytes};
    }

    Check verify() const {
        mpi::check(play_.code(), "a message between two ranks");
        auto check = check_each(
            received_.size(),
            [this](std::size_t i) {
                const auto from = static_cast<int>(i / count_);
                if (from == rank_ || i % count_ >= pace(from, rank_).numbers) return 0.0;
                return static_cast<double>(received_[i]) - values_.at(from, i % count_);
            },
            0, "every element of the last message from every rank, exactly");
        double moved = 0;
        for (int other = 0; other < ranks_; ++other)
            if (other != rank_) moved += 2 * way_bytes(other, rank_);
        return path_.prove(std::move(check), static_cast<double>(calls_) * moved);
    }
    void poison() {
        std::fill_n(received_.data(), received_.size(), std::numeric_limits<float>::quiet_NaN());
    }
    void spoil() {
        const int other = (rank_ + 1) % ranks_;
        received_[static_cast<std::size_t>(other) * count_ + pace(other, rank_).numbers / 2] += 1;
    }

    void metrics(const Metrics& metrics) const {
        if (kept_.empty()) return;
        std::vector<double> rates;
        std::vector<double> latencies;
        for (int from = 0; from < ranks_; ++from)
            for (int to = 0; to < ranks_; ++to) {
                const bool itself = from == to;
                rates.push_back(itself ? nothing : way_bytes(from, to) / median(large(from, to)));
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
    static constexpr std::uint64_t most_kept = 200; ///< calls, for the median
    static constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

    const Pace& pace(int a, int b) const { return paces_[large(std::min(a, b), std::max(a, b))]; }
    static std::size_t block_of(int from) { return static_cast<std::size_t>(from); }
    /// Bytes of all large messages one way.
    double way_bytes(int a, int b) const {
        return static_cast<double>(large_messages * pace(a, b).numbers * sizeof(float));
    }
    /// Seconds of the large messages from row to column, and of a small one beside them.
    std::size_t matrix_size() const { return 2 * large(ranks_, 0); }
    std::size_t large(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
               static_cast<std::size_t>(to);
    }
    std::size_t small(int first, int second) const {
        return matrix_size() / 2 + large(first, second);
    }

    /// Every pair once. Afterwards every rank knows all times.
    void play_all() noexcept {
        std::ranges::fill(now_, 0.0);
        for (const auto& round : rounds_) {
            for (const auto& [first, second] : round) {
                if (second == rank_) play_.follow(first, pace(first, second), block_of(first));
                if (first != rank_) continue;
                const auto played = play_.lead(second, pace(first, second), block_of(second));
                now_[small(first, second)] = played.half_trip;
                now_[large(first, second)] = played.there;
                now_[large(second, first)] = played.back;
            }
            play_.note(MPI_Barrier(mpi::communicator()));
        }
        play_.note(MPI_Allreduce(MPI_IN_PLACE, now_.data(), static_cast<int>(now_.size()),
                                 MPI_DOUBLE, MPI_MAX, mpi::communicator()));
    }

    /// By a short trial of every pair, after a few bytes that make the connections.
    void choose_paces() {
        constexpr double longest_call =
            1; // seconds: the matrix of 8 is there in less than a minute
        constexpr int trial_trips = 2;
        constexpr std::size_t few_numbers = 256;
        const std::size_t tried = std::min(trial_numbers, count_);
        for (const std::size_t numbers : {std::min(few_numbers, count_), tried}) {
            paces_.assign(matrix_size() / 2, {.numbers = numbers, .round_trips = trial_trips});
            play_all();
        }
        mpi::check(play_.code(), "the trial of a pair");
        const auto trial = [&](const Pair& pair) {
            const double slower = std::max(now_[large(pair.first, pair.second)],
                                           now_[large(pair.second, pair.first)]);
            const double whole = static_cast<double>(trial_numbers) / static_cast<double>(tried);
            return Trial{.half_trip = now_[small(pair.first, pair.second)],
                         .large = slower / large_messages * whole};
        };
        std::vector<Trial> trials;
        for (const auto& round : rounds_)
            for (const auto& pair : round) trials.push_back(trial(pair));
        // Pairs that play at the same time share it.
        const double pairs_each =
            static_cast<double>(trials.size()) / static_cast<double>(rounds_.size());
        const auto paces = paces_of(trials, count_, longest_call * pairs_each);
        paces_.assign(matrix_size() / 2, {.numbers = count_, .round_trips = most_round_trips});
        std::size_t next = 0;
        for (const auto& round : rounds_)
            for (const auto& pair : round) paces_[large(pair.first, pair.second)] = paces[next++];
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

    int ranks_;
    int rank_;
    std::size_t count_; // numbers of a large message
    Values values_;
    std::vector<Round> rounds_;
    HostBuffer<float> own_;
    HostBuffer<float> received_; // a block from each rank
    Play play_;
    std::vector<Pace> paces_;  // at large(first, second)
    std::vector<double> now_;  // of the present call
    std::vector<double> kept_; // of all, one after the other
    std::vector<std::string> labels_;
    Path path_;
    std::uint64_t calls_ = 0;
};

} // namespace

extern constinit const assay_benchmark pairs = define<Pairs>();

} // namespace assay::collective
