// SPDX-License-Identifier: Apache-2.0
#include "fabric_rounds.hpp"
#include "pair_pace.hpp"
#include "pair_play.hpp"
#include "ranks.hpp"
#include "transport.hpp"
#include "values.hpp"
#include "world.hpp"

#include <assay/define.hpp>

#include <array>
#include <iterator>
#include <map>

namespace assay::collective {
namespace {

using namespace assay::units;

/// A pair in a round, and what this rank keeps of it.
struct Entry {
    Pair pair;
    bool alone;
    std::size_t block = 0; ///< of what this rank receives, where it takes part
};

class Fabric {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        std::int64_t random = 0;
        Transport transport = Transport::any;
    };
    static constexpr Info info{
        .id = "collective.fabric",
        .version = 1,
        .question = "Which node, link or switch of a large fabric is slow, or blocks?",
        .method =
            "Rounds of disjoint pairs, all pairs of a round at once: every pair while these are "
            "few nodes, for more nodes partners at distances of 1, 2, 4, ... in the order of the "
            "hosts, and random ones. Up to 128 pairs are then played again one at a time; so are "
            "those that looked slow in a trial, and each of their ends with good partners. A "
            "pair: round trips of 8 bytes, two messages back to back each way, less where a link "
            "is slow, as in collective.pairs. Tables hold the median over all calls for each "
            "pair and direction, at once and alone. Every rank checks every element of the last "
            "message of each pair.",
        .caveats =
            "The primary metric is all messages by total time, small ones and changes of rounds "
            "included; read the tables and what the report finds in them. With more than about "
            "16 nodes, not every pair is measured: a slow node, cable or switch shows, a slow "
            "path between two nodes that did not meet does not. One rank on each node, or they "
            "share its network card. Hosts in the order of their switches make distances mean "
            "something.",
        .headline = "bandwidth",
        .noise = Noise::messages,
    };
    static constexpr bool team = true;
    static constexpr bool single_call = true;

    static constexpr std::tuple axes{
        ranks_axis<Params>(),
        integer("bytes", "size of the large messages", "B", &Params::bytes, {1_MiB},
                {1_KiB, 64_MiB}),
        integer("random", "rounds of random partners", "", &Params::random, {8}, {1, 64}),
        transport_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        const std::int64_t ranks = rank_count(params.ranks, machine);
        constexpr std::int64_t most_ranks = 4096; // every rank keeps the times of all pairs
        if (ranks > most_ranks) return Fit::no("takes ", most_ranks, " ranks at most: set ranks");
        const std::int64_t blocks =
            params.random + distance_rounds(static_cast<int>(ranks)) + most_blocks_alone;
        if (auto fit = fit_transport(params.transport, machine); !fit) return fit;
        return fit_ranks(params.ranks, (blocks + 1) * params.bytes, machine);
    }

    Fabric(const Params& params, Context& context)
        : ranks_{join_ranks(params.ranks, context)}, rank_{context.team().rank()},
          count_{static_cast<std::size_t>(params.bytes) / sizeof(float)}, values_{ranks_},
          rounds_{fabric_rounds(ranks_, static_cast<int>(params.random))}, own_{count_},
          received_{count_ * (rounds_.size() + most_blocks_alone)}, play_{own_, received_},
          labels_{mpi::rank_labels()}, path_{params.transport, context, mpi::machine_count()} {
        for (std::size_t i = 0; i < count_; ++i) own_[i] = static_cast<float>(values_.at(rank_, i));
        poison();
        for (const auto& round : rounds_)
            for (const auto& pair : round) add({.pair = pair, .alone = false});
        const std::size_t at_once = entries_.size();
        for (const auto& pair : sample_of(rounds_, most_sampled))
            add({.pair = pair, .alone = true});
        try_out();
        const std::size_t suspects = add_suspects(at_once);
        if (suspects > 0) try_out();
        choose_paces(at_once);
        kept_.reserve(most_kept * now_.size());
        const double pairs = static_cast<double>(ranks_) * (ranks_ - 1) / 2;
        context.setting("rounds", rounds_.size());
        context.setting("pairs", static_cast<double>(at_once));
        context.setting("pairs_of", pairs);
        context.setting("pairs_alone", static_cast<double>(entries_.size() - at_once));
        context.setting("pairs_suspected", static_cast<double>(suspects));
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
        for (std::size_t i = 0; i < entries_.size(); ++i) bytes += 2 * way_bytes(i);
        return {.bytes = bytes};
    }

    Check verify() const {
        mpi::check(play_.code(), "a message between two ranks");
        auto check = check_each(
            own_entries_.size() * count_,
            [this](std::size_t i) {
                const auto entry = own_entries_[i / count_];
                if (i % count_ >= paces_[entry].numbers) return 0.0;
                const auto& [first, second] = entries_[entry].pair;
                return static_cast<double>(received_[i]) -
                       values_.at(first == rank_ ? second : first, i % count_);
            },
            0, "every element of the last message of every pair, exactly");
        double moved = 0;
        for (const auto entry : own_entries_) moved += 2 * way_bytes(entry);
        return path_.prove(std::move(check), static_cast<double>(calls_) * moved);
    }
    void poison() {
        std::fill_n(received_.data(), received_.size(), std::numeric_limits<float>::quiet_NaN());
    }
    void spoil() { received_[paces_[own_entries_.front()].numbers / 2] += 1; }

    void metrics(const Metrics& metrics) const {
        if (kept_.empty()) return;
        std::map<std::pair<int, int>, std::size_t> rows;
        std::vector<std::string> labels;
        for (const auto& entry : entries_)
            if (rows.emplace(std::pair{entry.pair.first, entry.pair.second}, labels.size()).second)
                labels.push_back(joined(label(entry.pair.first), " to ", label(entry.pair.second)));
        constexpr std::size_t ways = 4;
        std::vector<double> rates(labels.size() * ways, nothing);
        std::vector<double> trips(labels.size() * 2, nothing);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& entry = entries_[i];
            const auto row = rows.at({entry.pair.first, entry.pair.second});
            const std::size_t shift = entry.alone ? 1 : 0;
            trips[row * 2 + shift] = median(i, 0);
            rates[row * ways + 2 * shift] = way_bytes(i) / median(i, 1);
            rates[row * ways + 2 * shift + 1] = way_bytes(i) / median(i, 2);
        }
        const auto known = [](double a, double b) { return std::isnan(b) || a < b; };
        metrics.add("worst_bandwidth", *std::ranges::min_element(rates, known));
        metrics.add("slowest_latency", largest(trips));
        metrics.add("best_bandwidth", largest(rates));
        metrics.add("fastest_latency", *std::ranges::min_element(trips, known));
        const auto add = [&](const char* metric, std::vector<std::string> columns,
                             const std::vector<double>& values) {
            metrics.add(Table{.metric = metric,
                              .row_title = "pair",
                              .column_title = "played",
                              .rows = labels,
                              .columns = std::move(columns),
                              .values = values});
        };
        add("bandwidth", {"there", "back", "there alone", "back alone"}, rates);
        add("latency", {"at once", "alone"}, trips);
    }

private:
    static constexpr std::uint64_t most_kept = 64;    ///< calls, for the median
    static constexpr std::size_t most_sampled = 128;  ///< pairs that play alone as well
    static constexpr std::size_t times_of_entry = 3;  ///< half a round trip, there, back
    static constexpr std::int64_t most_blocks_alone = ///< the sample's, and the search's
        1 + static_cast<std::int64_t>(most_alone_of_rank);
    static constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

    const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }
    double way_bytes(std::size_t entry) const {
        return static_cast<double>(large_messages * paces_[entry].numbers * sizeof(float));
    }

    void add(Entry entry) {
        if (entry.pair.first == rank_ || entry.pair.second == rank_) {
            entry.block = own_entries_.size();
            own_entries_.push_back(entries_.size());
        }
        entries_.push_back(entry);
    }

    void play(std::size_t at) noexcept {
        const auto& [pair, alone, block] = entries_[at];
        if (pair.second == rank_) play_.follow(pair.first, paces_[at], block);
        if (pair.first != rank_) return;
        const auto played = play_.lead(pair.second, paces_[at], block);
        double* const times = now_.data() + at * times_of_entry;
        times[0] = played.half_trip;
        times[1] = played.there;
        times[2] = played.back;
    }

    /// Afterwards every rank knows all times.
    void play_all() noexcept {
        std::ranges::fill(now_, 0.0);
        std::size_t at = 0;
        for (const auto& round : rounds_) {
            for (std::size_t i = 0; i < round.size(); ++i) play(at++);
            play_.note(MPI_Barrier(mpi::communicator()));
        }
        for (; at < entries_.size(); ++at) {
            play(at);
            play_.note(MPI_Barrier(mpi::communicator()));
        }
        play_.note(MPI_Allreduce(MPI_IN_PLACE, now_.data(), static_cast<int>(now_.size()),
                                 MPI_DOUBLE, MPI_MAX, mpi::communicator()));
    }

    /// Short trials of every pair, after a few bytes that make the connections.
    void try_out() {
        constexpr int trial_trips = 2;
        constexpr std::size_t few_numbers = 256;
        now_.assign(entries_.size() * times_of_entry, 0);
        for (const std::size_t numbers : {std::min(few_numbers, count_), tried()}) {
            paces_.assign(entries_.size(), {.numbers = numbers, .round_trips = trial_trips});
            play_all();
        }
        // The better of two: a message that waited for a CPU does not make
        // a link slow, and slow nodes all around hide one.
        const auto first = now_;
        play_all();
        std::ranges::transform(first, now_, now_.begin(), std::ranges::min);
        mpi::check(play_.code(), "the trial of a pair");
    }
    std::size_t tried() const { return std::min(trial_numbers, count_); }
    /// The last trial, scaled to whole messages.
    Trial trial(std::size_t entry) const {
        const double* const times = now_.data() + entry * times_of_entry;
        const double whole = static_cast<double>(trial_numbers) / static_cast<double>(tried());
        return {.half_trip = times[0],
                .large = std::max(times[1], times[2]) / large_messages * whole};
    }

    /// Pairs that play alone because one of the trial was slow.
    std::size_t add_suspects(std::size_t at_once) {
        std::vector<Seen> seen;
        for (std::size_t i = 0; i < at_once; ++i)
            seen.push_back({.pair = entries_[i].pair, .seconds = trial(i).large});
        const auto suspects = Search{ranks_, seen}.pairs();
        for (const auto& pair : suspects) add({.pair = pair, .alone = true});
        return suspects.size();
    }

    void choose_paces(std::size_t at_once) {
        // Seconds of a call, so that several fit into a budget of some seconds.
        constexpr double all_at_once = 0.6;
        constexpr double all_alone = 0.4;
        std::vector<Trial> together;
        std::vector<Trial> alone;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            (i < at_once ? together : alone).push_back(trial(i));
        const double pairs_each =
            static_cast<double>(at_once) / static_cast<double>(rounds_.size());
        paces_ = paces_of(together, count_, all_at_once * pairs_each);
        std::ranges::copy(paces_of(alone, count_, all_alone), std::back_inserter(paces_));
    }

    double median(std::size_t entry, std::size_t which) const {
        std::vector<double> values;
        for (std::size_t at = entry * times_of_entry + which; at < kept_.size(); at += now_.size())
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
    HostBuffer<float> received_; // a block from each of this rank's entries
    Play play_;
    std::vector<Entry> entries_; // of the rounds one after the other, then those that play alone
    std::vector<std::size_t> own_entries_;
    std::vector<Pace> paces_;  // of each entry
    std::vector<double> now_;  // of the present call
    std::vector<double> kept_; // of all, one after the other
    std::vector<std::string> labels_;
    Path path_;
    std::uint64_t calls_ = 0;
};

} // namespace

extern constinit const assay_benchmark fabric = define<Fabric>();

} // namespace assay::collective
