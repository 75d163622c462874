// SPDX-License-Identifier: Apache-2.0

#include "fma_kernels.hpp"
#include "isa.hpp"
#include "thread_chains.hpp"

#include <assay/define.hpp>

#include <sched.h>

#include <array>
#include <numeric>
#include <set>

namespace assay::peak {
namespace {

/// 256 additions, each waiting for the one before. Register plus register: recent cores do additions of a constant
/// ahead, several a cycle.
inline void add_block(std::uint64_t& sum, std::uint64_t step) {
#if defined(__x86_64__)
    asm volatile(".rept 256\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc"); // NOLINT
#elif defined(__aarch64__)
    asm volatile(".rept 256\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step)); // NOLINT
#else
    for (int i = 0; i < 256; ++i) {
        sum += step;
        asm volatile("" : "+r"(sum)); // NOLINT
    }
#endif
}
std::uint64_t additions(std::uint64_t sum, std::uint64_t step, std::uint64_t count) {
    for (std::uint64_t done = 0; done < count; done += 256) add_block(sum, step);
    return sum;
}

/// The calling thread moves there.
bool go_to(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

class Clock {
public:
    enum class Cores : std::uint8_t { in_turn, together };
    enum class Load : std::uint8_t { additions, multiply_adds };
    struct Params {
        Cores cores = Cores::together;
        Load load = Load::additions;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "peak.clock",
        .question = "At which clock does each core run, alone and with all others?",
        .method = "A core works for 4 ms and meanwhile times sixteen chains of 65536 dependent "
                  "additions, which take a cycle each. The cores do so in turn, while the others "
                  "sleep, or together. The table has each core's clock, the median of a call and "
                  "the mean of all calls; the primary metric is the mean over cores. Checked: "
                  "the sum of each core's last chain.",
        .caveats = "`load` is what cores do between the chains: additions, or multiply-adds of "
                   "the widest vectors, for which many processors lower the clock. The results "
                   "of multiply-adds are not checked: see peak.fma. A hypervisor that takes a "
                   "core away for long looks like a low clock. The two clocks of a core differ "
                   "if sleeping cores leave it more power: compare `in_turn` and `together`.",
        .headline = "clock",
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("cores", "one after the other, or all at once", &Params::cores,
               {Name{"in_turn", Cores::in_turn}, Name{"together", Cores::together}}),
        choice("load", "work of the cores", &Params::load,
               {Name{"additions", Load::additions}, Name{"multiply_adds", Load::multiply_adds}}),
        threads_axis(&Params::threads, {Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        return fits_chains(fma_chains(), Isa::best, p.threads, m);
    }

    Clock(const Params& p, const Context& context)
        : params_{p}, chain_{*find_chain(fma_chains(), Isa::best, context.machine())},
          cores_(static_cast<std::size_t>(context.machine().workers(p.threads))) {
        on_each_thread(threads(), [&](std::size_t thread, std::size_t /*team*/) {
            auto& core = cores_[thread];
            core.cpu = ::sched_getcpu();
            core.start.resize(chain_.chains * chain_.fp64.lanes(), 0.5);
            core.result.resize(core.start.size());
        });
        std::set<int> cpus;
        for (const Core& core : cores_) cpus.insert(core.cpu);
        if (cpus.size() < cores_.size())
            context.warn("some threads share a core: their clocks show the scheduler");
        context.setting("threads", threads());
        if (p.load == Load::multiply_adds) context.setting("isa", requirement(chain_.isa).name);
    }

    void run() noexcept {
        ++calls_;
        if (params_.cores == Cores::together) {
            on_each_thread(threads(), [this](std::size_t thread, std::size_t /*team*/) {
                play(cores_[thread]);
            });
            return;
        }
        // One thread that moves: others that waited for their turn would keep their cores awake.
        cpu_set_t before{};
        if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
        for (Core& core : cores_)
            if (go_to(core.cpu)) play(core);
        ::sched_setaffinity(0, sizeof before, &before);
    }
    Work work() const { return {}; }
    Check verify() const {
        return check_each(
            cores_.size(),
            [this](std::size_t i) {
                return cores_[i].sum == calls_ + step_ * chain_length ? 0.0 : 1.0;
            },
            0, "the sum of each core's last chain of additions");
    }
    void poison() {
        for (Core& core : cores_) core.sum = 0;
    }
    void spoil() { ++cores_[spoils_.next() % cores_.size()].sum; }

    void metrics(const Metrics& metrics) const {
        if (calls_ == 0) return;
        std::vector<double> clocks;
        std::vector<std::string> labels;
        for (const Core& core : cores_) {
            clocks.push_back(static_cast<double>(chain_length * calls_) / core.seconds);
            labels.push_back(std::to_string(core.cpu));
        }
        metrics.add("clock",
                    std::reduce(clocks.begin(), clocks.end()) / static_cast<double>(clocks.size()));
        metrics.add("slowest_clock", *std::ranges::min_element(clocks));
        metrics.add(Table{.metric = "clock",
                          .row_title = "CPU",
                          .column_title = "measured",
                          .rows = labels,
                          .columns = {params_.cores == Cores::in_turn ? "alone" : "with all"},
                          .values = clocks});
    }

private:
    struct alignas(2 * cache_line) Core {
        int cpu = -1;
        std::uint64_t sum = 0; ///< the result: of the last chain
        double seconds = 0;    ///< medians of all calls
        std::vector<double> start;
        std::vector<double> result;
    };
    // 16 us at 4 GHz: five hundred times what reading the time costs, and too short for a clock to change meanwhile.
    static constexpr std::uint64_t chain_length = 65536;
    static constexpr std::size_t turns = 16;
    static constexpr double work_seconds = 0.25e-3; // a turn; a governor has looked after a few

    int threads() const { return static_cast<int>(cores_.size()); }

    void work_on(Core& core) const noexcept {
        constexpr std::size_t part = 4096; // steps: ten microseconds
        constexpr Step<double> mirror{.factor = -0.99999512345678, .addend = 1.99999512345678};
        const Stopwatch watch;
        while (watch.seconds() < work_seconds)
            if (params_.load == Load::additions)
                keep(additions(calls_, step_, 8 * part));
            else
                chain_.fp64.run(core.start.data(), core.result.data(), mirror, part);
    }
    void play(Core& core) const noexcept {
        std::array<double, turns> seconds{};
        for (double& turn : seconds) {
            work_on(core);
            const Stopwatch watch;
            core.sum = additions(calls_, step_, chain_length);
            turn = watch.seconds();
        }
        std::ranges::nth_element(seconds, seconds.begin() + turns / 2);
        core.seconds += seconds[turns / 2];
    }

    Params params_;
    const Chain& chain_;
    std::vector<Core> cores_;
    std::uint64_t step_ = random_bits(53, 0) | 1U; // odd: no sum comes back within a chain
    std::uint64_t calls_ = 0;                      // also where the chains of a call begin
    Picks spoils_{54};
};

} // namespace

extern constinit const assay_benchmark core_clock = define<Clock>();

} // namespace assay::peak
