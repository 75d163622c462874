// SPDX-License-Identifier: Apache-2.0

#include "memory/sweep_kernels.hpp"
#include "places.hpp"

#include <assay/define.hpp>

namespace assay::transfer {
namespace {

using memory::Memory;
using memory::Pages;

class Numa {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "transfer.numa",
        .question = "How fast do the cores of each NUMA node read the memory of each node?",
        .method = "Memory bound to each node in turn, filled with random 64-bit words; all used "
                  "cores of one node read it together while the others wait, for every pair of "
                  "nodes. The matrix holds the bandwidth of each pair over all calls. Checked: the "
                  "sum of every core, and the placement of the pages.",
        .caveats = "Pairs are measured one at a time; links are shared when all nodes use them at "
                   "once. The primary metric is all bytes by total time, so slow pairs weigh more. "
                   "Not yet run on a machine with several nodes.",
        .headline = "bandwidth",
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        footprint_axis("bytes over all nodes", &Params::footprint, {Symbol::beyond_cache},
                       {1_MiB, 16_TiB}),
        symbolic("threads", "cores used, over all nodes", "", &Params::threads, {Symbol::all},
                 {1, 4096}, {Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        if (!has_threads()) return Fit::no("needs a build with OpenMP");
        return fits_nodes(m.bytes(p.footprint), Pages::huge, m);
    }
    Numa(const Params& p, const Context& context)
        : threads_{static_cast<int>(context.machine().workers(p.threads))}, places_{threads_},
          words_{static_cast<std::size_t>(context.machine().bytes(p.footprint)) /
                 places_.columns.size() / sizeof(std::uint64_t) / memory::sweep_granule *
                 memory::sweep_granule},
          seconds_(places_.cells()), sums_(places_.cells() * static_cast<std::size_t>(threads_)) {
        for (const int node : places_.columns) {
            Memory& memory = memories_.emplace_back(words_ * sizeof(std::uint64_t), Pages::huge);
            place_on(memory, node);
            std::uint64_t* const to = memory.words();
            on_each_slice(threads_, words_, memory::sweep_granule, [&](Slice slice) {
                for (std::size_t i = slice.first; i < slice.last; ++i)
                    to[i] = random_bits(seed_of(node), i);
            });
        }
        loop_ = memory::choose_sweep(memory::Access::read, input(0), words_);
        places_.describe(context);
        context.setting("threads", threads_);
        context.setting("instructions", loop_.instructions);
        context.setting("footprint_of_a_node", words_ * sizeof(std::uint64_t));
    }

    void run() noexcept {
        for (std::size_t row = 0; row < places_.teams.rows.size(); ++row)
            for (std::size_t column = 0; column < places_.columns.size(); ++column)
                read(row, column);
        ++calls_;
    }
    Work work() const {
        return {.bytes = static_cast<double>(places_.cells()) * bytes_of_a_cell()};
    }
    Check verify() const {
        const char* const method = "the sum of every core modulo 2^64, and where the pages lie";
        for (std::size_t column = 0; column < places_.columns.size(); ++column)
            if (const std::size_t off =
                    bytes_elsewhere(memories_[column].data(), memories_[column].size(), huge_page,
                                    places_.columns[column]);
                off != 0)
                return check_value(static_cast<double>(off), 0, method,
                                   joined(off, " bytes are not on node ", places_.columns[column]));
        const std::uint64_t total = sum_over_threads(
            threads_, [&](std::size_t thread, std::size_t) { return wrong_sums(thread); });
        return check_value(static_cast<double>(total), 0, method, joined(total, " sums are wrong"));
    }
    void poison() {
        for (auto& sum : sums_) sum.value = 0xdead'beef'dead'beefU;
    }
    /// One bit of one sum that is used.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t cell = pick % places_.cells();
        const auto& team = places_.teams.team[cell / places_.columns.size()];
        sum_of(cell, team[(pick >> 20U) % team.size()]) ^= std::uint64_t{1} << (pick >> 58U);
    }
    void metrics(const Metrics& metrics) const {
        if (calls_ == 0) return;
        std::vector<double> rates;
        for (const double seconds : seconds_)
            rates.push_back(bytes_of_a_cell() * static_cast<double>(calls_) / seconds);
        metrics.add(places_.table("bandwidth", std::move(rates)));
    }

private:
    static std::uint64_t seed_of(int node) { return 1000 + static_cast<std::uint64_t>(node); }
    double bytes_of_a_cell() const { return static_cast<double>(words_ * sizeof(std::uint64_t)); }
    memory::Words input(std::size_t column) {
        return {.out = nullptr, .in = memories_[column].words(), .key = 0};
    }
    std::uint64_t& sum_of(std::size_t cell, std::size_t thread) {
        return sums_[cell * static_cast<std::size_t>(threads_) + thread].value;
    }
    std::uint64_t sum_of(std::size_t cell, std::size_t thread) const {
        return sums_[cell * static_cast<std::size_t>(threads_) + thread].value;
    }
    /// The part of a node's memory that this member of the team reads.
    Slice part(const std::vector<std::size_t>& team, std::size_t member) const {
        return slice_of(words_, member, team.size(), memory::sweep_granule);
    }

    void read(std::size_t row, std::size_t column) {
        const std::size_t cell = row * places_.columns.size() + column;
        const auto& team = places_.teams.team[row];
        const memory::Words words = input(column);
        const Stopwatch watch;
        on_each_thread(threads_, [&](std::size_t thread, std::size_t) {
            const auto found = std::ranges::find(team, thread);
            if (found == team.end()) return;
            const Slice own = part(team, static_cast<std::size_t>(found - team.begin()));
            sum_of(cell, thread) = loop_.run(words, own.first, own.last);
        });
        seconds_[cell] += watch.seconds();
    }
    std::uint64_t wrong_sums(std::size_t thread) const {
        std::uint64_t wrong = 0;
        for (std::size_t cell = 0; cell < places_.cells(); ++cell) {
            const auto& team = places_.teams.team[cell / places_.columns.size()];
            const auto found = std::ranges::find(team, thread);
            if (found == team.end()) continue;
            const int node = places_.columns[cell % places_.columns.size()];
            const Slice own = part(team, static_cast<std::size_t>(found - team.begin()));
            std::uint64_t sum = 0;
            for (std::size_t i = own.first; i < own.last; ++i) sum += random_bits(seed_of(node), i);
            wrong += sum == sum_of(cell, thread) ? 0 : 1;
        }
        return wrong;
    }

    int threads_;
    Places places_;
    std::size_t words_; // of one node
    std::vector<Memory> memories_;
    std::vector<double> seconds_;          // of each pair of nodes, over all calls
    std::vector<Own<std::uint64_t>> sums_; // of each pair and thread
    memory::SweepLoop loop_{};
    std::uint64_t calls_ = 0;
    Picks spoils_{21};
};

} // namespace

extern constinit const assay_benchmark numa = define<Numa>();

} // namespace assay::transfer
