// SPDX-License-Identifier: Apache-2.0

#include "chase.hpp"
#include "latency/spin.hpp"
#include "sweep_kernels.hpp"

#include <atomic>

namespace assay::memory {
namespace {

using Clock = std::chrono::steady_clock;

class LoadedLatency {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
        double pause = 0;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "memory.loaded_latency",
        .question = "What is the memory latency of one core while the others load the memory?",
        .method = "One core chases a random chain as in memory.latency, 32768 loads per call. "
                  "Every other core reads random words in blocks of 4 KiB and pauses after each "
                  "block: the shorter the pause, the heavier the load. Background bandwidth is "
                  "their read rate. Checked: every link, the end of the chase, and the sum of "
                  "what each background core read.",
        .caveats = "Chain and background take `footprint` bytes each and share the last-level "
                   "cache. Background cores only read; writes would slow memory further. With two "
                   "cores, the one background core cannot saturate memory.",
        .headline = "latency",
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        footprint_axis("bytes of the chain, and of all background cores together",
                       &Params::footprint, {Symbol::beyond_cache}, {64_KiB, 16_TiB}),
        pages_axis(&Params::pages),
        real("pause", "pause of a background core after each 4 KiB", "s", &Params::pause,
             {0.0, 0.5e-6, 2e-6, 10e-6}, {0.0, 1e-3}),
        symbolic("threads", "cores used, one of them for the chain", "", &Params::threads,
                 {Symbol::all}, {2, 4096}, {Symbol::all}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& m) {
        if (Fit cores = host::fits_cores(p.threads, m, 2); !cores) return cores;
        const std::int64_t bytes = m.bytes(p.footprint);
        const std::int64_t least = (m.workers(p.threads) - 1) * std::int64_t{block} * 8;
        if (bytes < least) return Fit::no("needs ", least, " bytes for so many cores, not ", bytes);
        return fits_memory(2 * bytes, p.pages, m);
    }

    LoadedLatency(const Params& p, const Context& context)
        : others_{static_cast<std::size_t>(context.machine().workers(p.threads)) - 1},
          chase_{static_cast<std::size_t>(context.machine().bytes(p.footprint)), p.pages},
          blocks_{static_cast<std::size_t>(context.machine().bytes(p.footprint)) / others_ /
                  (block * sizeof(std::uint64_t))},
          background_{others_ * blocks_ * block * sizeof(std::uint64_t), p.pages},
          pause_{
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(p.pause))},
          readers_(others_) {
        std::uint64_t* const words = background_.words();
        on_each_thread(threads(), [&](std::size_t thread, std::size_t) {
            if (thread == 0) return;
            const std::size_t first = (thread - 1) * blocks_ * block;
            for (std::size_t i = first; i < first + blocks_ * block; ++i)
                words[i] = random_bits(seed, i);
        });
        words_.in = words;
        loop_ = choose_sweep(Access::read, words_, blocks_ * block);
        chase_.describe(context, p.pages);
        context.setting("threads", threads());
        context.setting("instructions", loop_.instructions);
    }

    void run() noexcept {
        arrived_.word = 0;
        phase_.word = warming;
        on_each_thread(threads(), [this](std::size_t thread, std::size_t) {
            if (thread == 0)
                walk();
            else
                read(thread - 1);
        });
        for (const Reader& reader : readers_)
            timed_bytes_ += static_cast<double>(reader.timed) * block_bytes;
    }
    Work work() const { return {.steps = steps}; }

    Check verify() const {
        Check check = chase_.verify();
        if (!check.passed) return check;
        const auto total = sum_over_threads(threads(), [&](std::size_t thread, std::size_t) {
            if (thread == 0) return 0;
            const Reader& reader = readers_[thread - 1];
            return reader.blocks == 0 || reader.sum != expected(thread - 1) ? 1 : 0;
        });
        return check_value(static_cast<double>(total), 0,
                           check.method + "; the sum of each background core, modulo 2^64",
                           joined(total, " sums are wrong"));
    }
    void poison() {
        chase_.poison();
        for (Reader& reader : readers_) reader.blocks = reader.sum = 0;
    }
    /// A link of the chain, or one bit of a sum.
    void spoil() {
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        if (spoils_ % 2 == 0)
            chase_.spoil();
        else
            readers_[pick % others_].sum ^= std::uint64_t{1} << (pick >> 58U);
    }
    void rewind() { chase_.mend(); }
    void metrics(const Metrics& metrics) const {
        if (timed_seconds_ > 0) metrics.add("background_bandwidth", timed_bytes_ / timed_seconds_);
    }

private:
    /// Work of a background core in the last call.
    struct alignas(2 * cache_line) Reader {
        std::uint64_t sum = 0;
        std::uint64_t blocks = 0;
        std::uint64_t timed = 0; // blocks of those that were read while the chain was followed
    };
    static constexpr std::uint64_t warming = 0;
    static constexpr std::uint64_t timing = 1;
    static constexpr std::uint64_t stopping = 2;

    // 3 ms where a step takes 100 ns: a hundred times what starting the threads takes.
    static constexpr std::uint64_t steps = 32768;
    static constexpr std::size_t block = 512; // words: 4 KiB, a multiple of sweep_granule
    static constexpr double block_bytes = block * sizeof(std::uint64_t);
    static constexpr std::uint64_t seed = 19;
    static constexpr std::uint64_t spoil_seed = 20;

    int threads() const { return static_cast<int>(others_ + 1); }

    void walk() {
        latency::Spin spin;
        spin.until(arrived_.word, others_); // all others are at it
        latency::publish(phase_.word, timing);
        const Stopwatch watch;
        chase_.walk(steps);
        timed_seconds_ += watch.seconds();
        latency::publish(phase_.word, stopping);
    }
    void read(std::size_t reader) {
        const std::atomic_ref<std::uint64_t> phase{phase_.word};
        const std::size_t first = reader * blocks_;
        Reader now;
        for (std::uint64_t seen = warming; seen != stopping;) {
            const std::size_t at = (first + now.blocks % blocks_) * block;
            now.sum += loop_.run(words_, at, at + block);
            if (now.blocks++ == 0) std::atomic_ref<std::uint64_t>{arrived_.word}.fetch_add(1);
            seen = phase.load(std::memory_order_acquire);
            if (pause_ > Clock::duration::zero())
                for (const auto end = Clock::now() + pause_;
                     seen != stopping && Clock::now() < end;)
                    seen = phase.load(std::memory_order_acquire);
            now.timed += seen == timing ? 1 : 0;
        }
        readers_[reader] = now;
    }
    std::uint64_t expected(std::size_t reader) const {
        const std::uint64_t rounds = readers_[reader].blocks / blocks_;
        const std::uint64_t rest = readers_[reader].blocks % blocks_;
        std::uint64_t sum = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            const std::uint64_t times = rounds + (b < rest ? 1 : 0);
            if (times == 0) break;
            const std::size_t begin = (reader * blocks_ + b) * block;
            for (std::size_t i = begin; i < begin + block; ++i) sum += times * random_bits(seed, i);
        }
        return sum;
    }

    std::size_t others_;
    Chase chase_;
    std::size_t blocks_; // of one background core
    Memory background_;
    Clock::duration pause_;
    std::vector<Reader> readers_;
    Words words_{};
    SweepLoop loop_{};
    latency::Signal arrived_;
    latency::Signal phase_;
    double timed_bytes_ = 0; // over all calls
    double timed_seconds_ = 0;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark loaded_latency = define<LoadedLatency>();

} // namespace assay::memory
