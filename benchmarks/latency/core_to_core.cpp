// SPDX-License-Identifier: Apache-2.0

#include "pairs.hpp"
#include "spin.hpp"

#include <assay/define.hpp>

#include <sched.h>
#include <unistd.h>

#include <set>

namespace assay::latency {
namespace {

class CoreToCore {
public:
    struct Params {
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "latency.core_to_core",
        .question = "How long does a cache line take from one core to another?",
        .method =
            "Every pair of cores in turn bounces a counter in one cache line; latency is half a "
            "round trip. One call covers all pairs while the other cores wait; the matrix holds "
            "the mean over all calls. Checked: the last number seen by both cores of every pair.",
        .caveats = "The primary metric is the mean over all pairs, including the change from pair "
                   "to pair (a few percent). Cores that share a cache are several times closer "
                   "than cores of different dies or sockets: read the matrix. In a virtual machine "
                   "adjacent numbers need not be adjacent cores, and the hypervisor may move them.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        symbolic("threads", "cores used, each paired with each", "", &Params::threads,
                 {Symbol::all}, {2, 512}, {Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        if (Fit cores = host::fits_cores(p.threads, m, 2); !cores) return cores;
        return m.workers(p.threads) <= most_cores
                   ? Fit::yes()
                   : Fit::no("takes ", most_cores, " cores at most: set threads");
    }

    CoreToCore(const Params& p, const Context& context)
        : cores_{static_cast<std::size_t>(context.machine().workers(p.threads))},
          rounds_{round_trips(pair_count(cores_))},
          lines_{cores_ * words_of_page_, {.threads = threads()}}, pairs_(pair_count(cores_)),
          cpus_(cores_) {
        on_each_thread(threads(), [this](std::size_t thread, std::size_t) {
            cpus_[thread] = ::sched_getcpu();
        });
        if (std::set(cpus_.begin(), cpus_.end()).size() < cores_)
            context.warn("some threads share a core: their pairs show the scheduler");
        context.setting("threads", threads());
        context.setting("pairs", pairs_.size());
        context.setting("round_trips", rounds_);
    }

    void run() noexcept {
        turn_.word = 0;
        for (std::size_t core = 0; core < cores_; ++core) lines_[core * words_of_page_] = 0;
        on_each_thread(threads(), [this](std::size_t thread, std::size_t) { play_all(thread); });
        ++calls_;
    }

    Work work() const { return {.steps = static_cast<double>(2 * rounds_ * pairs_.size())}; }

    Check verify() const {
        return check_each(
            2 * pairs_.size(),
            [this](std::size_t i) {
                const Pair& pair = pairs_[i / 2];
                const std::uint64_t seen = i % 2 == 0 ? pair.leader_saw : pair.follower_saw;
                const std::uint64_t wanted = i % 2 == 0 ? 2 * rounds_ : 2 * rounds_ - 1;
                return seen == wanted ? 0.0 : 1.0;
            },
            0, "the last number seen by each core of each pair");
    }
    void poison() {
        for (Pair& pair : pairs_) pair.leader_saw = pair.follower_saw = 0;
    }
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        Pair& pair = pairs_[(pick >> 1U) % pairs_.size()];
        ++(pick % 2 == 0 ? pair.leader_saw : pair.follower_saw);
    }

    void metrics(const Metrics& metrics) const {
        if (calls_ == 0) return;
        const auto ways_of_a_pair = static_cast<double>(2 * (rounds_ - 1) * calls_);
        std::vector<double> ways;
        for (const Pair& pair : pairs_) ways.push_back(pair.seconds / ways_of_a_pair);
        metrics.add("fastest_latency", *std::ranges::min_element(ways));
        metrics.add("slowest_latency", *std::ranges::max_element(ways));
        std::vector<std::string> labels;
        for (const int cpu : cpus_) labels.push_back(std::to_string(cpu));
        metrics.add(Table{.metric = "latency",
                          .row_title = "CPU",
                          .column_title = "CPU",
                          .rows = labels,
                          .columns = labels,
                          .values = symmetric_matrix(cores_, ways)});
    }

private:
    /// On lines of its own: both cores write to it when they are done.
    struct alignas(2 * cache_line) Pair {
        double seconds = 0; // of all round trips but the first of each call
        std::uint64_t leader_saw = 0;
        std::uint64_t follower_saw = 0;
    };
    static constexpr std::int64_t most_cores = 512; // a matrix of more is not kept

    int threads() const { return static_cast<int>(cores_); }

    void play_all(std::size_t thread) {
        Spin waiting; // it may well give the core away
        for (std::size_t first = 0; first <= thread; ++first)
            for (std::size_t second = first + 1; second < cores_; ++second) {
                if (thread != first && thread != second) continue;
                const std::size_t number = pair_number(cores_, first, second);
                waiting.until(turn_.word, number);
                // In the line of the core that leads, whose count goes on from pair to pair.
                std::uint64_t& line = lines_[first * words_of_page_];
                const std::uint64_t base = (second - first - 1) * 2 * rounds_;
                if (thread == second) {
                    follow(line, base, pairs_[number]);
                } else {
                    lead(line, base, pairs_[number]);
                    publish(turn_.word, number + 1);
                }
            }
    }
    void lead(std::uint64_t& line, std::uint64_t base, Pair& pair) const {
        Spin spin;
        publish(line, base + 1);
        std::uint64_t seen = spin.until(line, base + 2); // the partner has arrived
        const Stopwatch watch;
        for (std::uint64_t round = 1; round < rounds_; ++round) {
            publish(line, seen + 1);
            seen = spin.until(line, seen + 2);
        }
        pair.seconds += watch.seconds();
        pair.leader_saw = seen - base;
    }
    void follow(std::uint64_t& line, std::uint64_t base, Pair& pair) const {
        Spin spin;
        std::uint64_t seen = 0;
        for (std::uint64_t round = 0; round < rounds_; ++round) {
            seen = spin.until(line, base + 2 * round + 1);
            publish(line, seen + 1);
        }
        pair.follower_saw = seen - base;
    }

    std::size_t cores_;
    std::uint64_t rounds_;
    // Each core's line is in a page that it touched first, with no neighbour that a prefetcher could
    // fetch together with it. Kernels for Arm may have pages of 64 KiB.
    std::size_t words_of_page_ =
        static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / sizeof(std::uint64_t);
    HostBuffer<std::uint64_t> lines_;
    std::vector<Pair> pairs_;
    std::vector<int> cpus_;
    Signal turn_; // the pair that plays
    std::uint64_t calls_ = 0;
    Picks spoils_{13};
};

} // namespace

extern constinit const assay_benchmark core_to_core = define<CoreToCore>();

} // namespace assay::latency
