// SPDX-License-Identifier: Apache-2.0

#include "memory/chase.hpp"
#include "places.hpp"

namespace assay::transfer {
namespace {

using memory::Chase;
using memory::Pages;

class NumaLatency {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "latency.numa",
        .question =
            "What is the latency from the cores of each NUMA node to the memory of each node?",
        .method =
            "Pointer chase in memory bound to each node in turn, 16384 loads by one core of each "
            "node while the others wait. The matrix holds the mean of each pair over all calls. "
            "Checked: every link, where every chase ended, and the placement of the pages.",
        .caveats =
            "The primary metric is the mean over all pairs, including the change from pair to pair "
            "(about one percent). See memory.latency. Not yet run on a machine with several nodes.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        footprint_axis("bytes of the chain on each node", &Params::footprint,
                       {Symbol::beyond_cache}, {1_MiB, 16_TiB}),
        memory::pages_axis(&Params::pages),
        symbolic("threads", "cores from which one of each node is taken", "", &Params::threads,
                 {Symbol::all}, {1, 4096}, {Symbol::all}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& m) {
        if (!has_threads()) return Fit::no("needs a build with OpenMP");
        const std::int64_t nodes = std::max<std::int64_t>(m.count("numa.nodes"), 1);
        return fits_nodes(m.bytes(p.footprint) * nodes, p.pages, m);
    }
    NumaLatency(const Params& p, const Context& context)
        : threads_{static_cast<int>(context.machine().workers(p.threads))}, places_{threads_},
          cells_(places_.cells()) {
        const auto bytes = static_cast<std::size_t>(context.machine().bytes(p.footprint));
        for (const int node : places_.columns)
            chases_.push_back(std::make_unique<Chase>(
                bytes, p.pages, [node](memory::Memory& to) { place_on(to, node); }));
        chases_.front()->describe(context, p.pages);
        places_.describe(context);
        context.setting("threads", threads_);
    }
    void run() noexcept {
        for (std::size_t cell = 0; cell < cells_.size(); ++cell) walk(cell);
        ++calls_;
    }
    Work work() const { return {.steps = static_cast<double>(steps * cells_.size())}; }
    Check verify() const {
        const std::string method = "every link, where every walk ended, and where the pages lie";
        for (std::size_t column = 0; column < chases_.size(); ++column) {
            const memory::Memory& memory = chases_[column]->memory();
            if (bytes_elsewhere(memory.data(), memory.size(), huge_page, places_.columns[column]) !=
                0)
                return check_value(1, 0, method,
                                   joined("not all pages are on node ", places_.columns[column]));
            if (Check check = chases_[column]->verify(); !check.passed) return check;
        }
        return check_each(
            cells_.size(), [this](std::size_t i) { return cells_[i].has_arrived ? 0.0 : 1.0; }, 0,
            method);
    }
    void poison() {
        for (Cell& cell : cells_) cell.has_arrived = false;
        for (const auto& chase : chases_) chase->poison();
    }
    void spoil() { chases_[spoils_++ % chases_.size()]->spoil(); }
    void rewind() {
        for (const auto& chase : chases_) chase->mend();
    }
    void metrics(const Metrics& metrics) const {
        if (calls_ == 0) return;
        std::vector<double> latencies;
        for (const Cell& cell : cells_)
            latencies.push_back(cell.seconds / static_cast<double>(steps * calls_));
        metrics.add("fastest_latency", *std::ranges::min_element(latencies));
        metrics.add("slowest_latency", *std::ranges::max_element(latencies));
        metrics.add(places_.table("latency", std::move(latencies)));
    }

private:
    struct Cell {
        double seconds = 0; // over all calls
        bool has_arrived = false;
    };
    // Over a millisecond, a hundred times what starting the threads takes.
    static constexpr std::uint64_t steps = 16384;

    void walk(std::size_t number) {
        Cell& cell = cells_[number];
        Chase& chase = *chases_[number % chases_.size()];
        const std::size_t walker = places_.teams.team[number / chases_.size()].front();
        on_each_thread(threads_, [&](std::size_t thread, std::size_t) {
            if (thread != walker) return;
            const Stopwatch watch;
            chase.walk(steps);
            cell.seconds += watch.seconds();
            cell.has_arrived = chase.arrived();
        });
    }

    int threads_;
    Places places_;
    std::vector<Cell> cells_; // of each pair of nodes
    std::vector<std::unique_ptr<Chase>> chases_;
    std::uint64_t calls_ = 0;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark numa_latency = define<NumaLatency>();

} // namespace assay::transfer
