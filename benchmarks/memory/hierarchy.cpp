// SPDX-License-Identifier: Apache-2.0

#include "chase.hpp"
#include "sweep_kernels.hpp"

namespace assay::memory {
namespace {

/// How the words of one array are shared out: each thread has an equal slice, one call walks through
/// one portion of it several times, the next call through the next portion.
struct Shares {
    std::size_t threads;
    std::size_t portion;  ///< words
    std::size_t portions; ///< in a slice
    std::size_t passes;   ///< of a call over its portion

    Shares(std::size_t words, std::size_t thread_count) : threads{thread_count} {
        constexpr std::size_t word = sizeof(std::uint64_t);
        const std::size_t slice_bytes = words / threads * word;
        // A call should take a quarter of a millisecond, so that starting the threads does not count, and never so
        // long that a window of 20 ms holds only a few: a core moves about 256 bytes a nanosecond in its first
        // cache, 64 in the second, and 16 or less beyond.
        constexpr auto first = static_cast<std::size_t>(64_KiB);
        constexpr auto second = static_cast<std::size_t>(2_MiB);
        constexpr auto beyond = static_cast<std::size_t>(8_MiB);
        const std::size_t call_bytes = slice_bytes <= first    ? 1024 * first
                                       : slice_bytes <= second ? 8 * second
                                                               : beyond;
        portions = slice_bytes / beyond + (slice_bytes % beyond != 0 ? 1 : 0);
        portion = words / threads / portions / sweep_granule * sweep_granule;
        passes = std::max<std::size_t>(call_bytes / (portion * word), 1);
    }
    std::size_t words() const { return threads * portions * portion; }
    std::size_t slice() const { return portions * portion; }
    Slice slice_of(std::size_t thread) const {
        return {.first = thread * slice(), .last = (thread + 1) * slice()};
    }
    Slice portion_of(std::size_t thread, std::uint64_t call) const {
        const std::size_t first = thread * slice() + call % portions * portion;
        return {.first = first, .last = first + portion};
    }
};

class Hierarchy {
public:
    struct Params {
        Access access = Access::read;
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
        Symbolic threads = Symbol::one;
    };
    static constexpr Info info{
        .id = "memory.hierarchy",
        .question = "How fast are the caches and the memory behind them, by footprint?",
        .method =
            "Loops of loads only, stores only, or both, over 64-bit words; each core repeats over "
            "its own part. A sweep over footprints shows each level as a plateau. The instruction "
            "set that is fastest in the first-level cache is used for all footprints. Data is "
            "random: reads are checked by their sum, writes and copies word by word.",
        .caveats = "Counts the bytes the loop requests, not the read of each line before a store "
                   "to memory. `footprint` is the total over all cores. One core rarely saturates "
                   "a shared cache or memory: see `threads`. Near a cache's size the result "
                   "depends on the physical pages, less so with huge pages.",
        .headline = "bandwidth",
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("access", "loop: read, write, or copy one half to the other", &Params::access,
               {{"read", Access::read}, {"write", Access::write}, {"copy", Access::copy}},
               {Access::read}),
        footprint_axis("bytes over all cores and arrays", &Params::footprint,
                       {16_KiB, 256_KiB, 8_MiB, Symbol::beyond_cache}, {4_KiB, 16_TiB}),
        pages_axis(&Params::pages),
        threads_axis(&Params::threads, {Symbol::one}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        if (Fit cores = host::fits_cores(p.threads, m); !cores) return cores;
        const std::int64_t bytes = m.bytes(p.footprint);
        const std::int64_t least = m.workers(p.threads) * least_words(p.access) * 8;
        if (bytes < least) return Fit::no("needs ", least, " bytes for so many cores, not ", bytes);
        return fits_memory(bytes, p.pages, m);
    }

    Hierarchy(const Params& p, const Context& context)
        : access_{p.access},
          shares_{words_of(p, context.machine()),
                  static_cast<std::size_t>(context.machine().workers(p.threads))},
          memory_{arrays() * shares_.words() * sizeof(std::uint64_t) + (arrays() - 1) * apart,
                  p.pages},
          sums_(shares_.threads) {
        std::uint64_t* const in = memory_.words();
        words_.in = in;
        words_.out = access_ == Access::copy ? in + shares_.words() + apart / sizeof(*in) : in;
        on_each_thread(threads(), [&](std::size_t thread, std::size_t) {
            const Slice slice = shares_.slice_of(thread);
            for (std::size_t i = slice.first; i < slice.last; ++i) in[i] = random_bits(seed, i);
            if (access_ == Access::copy)
                std::fill(words_.out + slice.first, words_.out + slice.last, poisonous);
        });
        loop_ = choose_sweep(access_, words_, shares_.portion);
        const Resident given = memory_.resident();
        const auto footprint = arrays() * shares_.words() * sizeof(std::uint64_t);
        context.setting("footprint", footprint);
        context.tell({.footprint_bytes = static_cast<double>(footprint)});
        context.setting("pages", given.words());
        context.setting("threads", threads());
        context.setting("instructions", loop_.instructions);
        if (p.pages == Pages::huge && given.huge == 0)
            context.warn(
                "the system provided no huge pages; see /sys/kernel/mm/transparent_hugepage");
    }

    void run() noexcept {
        const std::uint64_t call = calls_++;
        words_.key = key(call);
        on_each_thread(threads(), [&](std::size_t thread, std::size_t) {
            const Words words = words_;
            const Slice portion = shares_.portion_of(thread, call);
            std::uint64_t sum = 0;
            for (std::size_t pass = 0; pass < shares_.passes; ++pass)
                sum += loop_.run(words, portion.first, portion.last);
            sums_[thread].value = sum;
        });
    }

    Work work() const {
        return {.bytes = static_cast<double>(arrays() * shares_.threads * shares_.passes *
                                             shares_.portion * sizeof(std::uint64_t))};
    }

    Check verify() const {
        if (calls_ == 0) return check_value(1, 0, "the last call", "there was none");
        const std::uint64_t call = calls_ - 1;
        const std::uint64_t total = sum_over_threads(
            threads(), [&](std::size_t thread, std::size_t) { return wrong_words(thread, call); });
        const char* const method =
            access_ == Access::read ? "the sum of each core, modulo 2^64, against its recomputation"
                                    : "every word of the last call against its recomputation";
        return check_value(
            static_cast<double>(total), 0, method,
            joined(total, access_ == Access::read ? " sums are" : " words are", " wrong"));
    }
    void poison() {
        for (auto& sum : sums_) sum.value = poisonous;
        if (access_ == Access::read) return;
        on_each_thread(threads(), [&](std::size_t thread, std::size_t) {
            const Slice slice = shares_.slice_of(thread);
            std::fill(words_.out + slice.first, words_.out + slice.last, poisonous);
        });
    }
    /// One bit.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t thread = pick % shares_.threads;
        const std::uint64_t bit = std::uint64_t{1} << (pick >> 58U);
        if (access_ == Access::read) {
            sums_[thread].value ^= bit;
            return;
        }
        const Slice portion = shares_.portion_of(thread, calls_ == 0 ? 0 : calls_ - 1);
        words_.out[portion.first + (pick >> 16U) % portion.size()] ^= bit;
    }

private:
    static constexpr std::uint64_t seed = 10;
    static constexpr std::uint64_t key_seed = 11;
    static constexpr std::uint64_t poisonous = 0xdead'beef'dead'beefU;
    // Bytes between the arrays of `copy`: where both begin at the same place of a 4 KiB page, loads
    // wait for stores that only look as if they went to the same address.
    static constexpr std::size_t apart = 17 * cache_line;

    static std::int64_t least_words(Access access) {
        return static_cast<std::int64_t>((access == Access::copy ? 2 : 1) * sweep_granule);
    }
    static std::size_t words_of(const Params& p, const Machine& machine) {
        const auto bytes = static_cast<std::size_t>(machine.bytes(p.footprint));
        return bytes / sizeof(std::uint64_t) / (p.access == Access::copy ? 2 : 1);
    }
    std::size_t arrays() const { return access_ == Access::copy ? 2 : 1; }
    int threads() const { return static_cast<int>(shares_.threads); }
    static std::uint64_t key(std::uint64_t call) { return random_bits(key_seed, call); }

    std::uint64_t wrong_words(std::size_t thread, std::uint64_t call) const {
        const Slice portion = shares_.portion_of(thread, call);
        if (access_ == Access::read) {
            std::uint64_t sum = 0;
            for (std::size_t i = portion.first; i < portion.last; ++i) sum += random_bits(seed, i);
            return sums_[thread].value == sum * shares_.passes ? 0 : 1;
        }
        std::uint64_t wrong = 0;
        for (std::size_t i = portion.first; i < portion.last; ++i) {
            const std::uint64_t wanted =
                access_ == Access::copy ? random_bits(seed, i) : key(call) + i * weyl;
            wrong += words_.out[i] == wanted ? 0 : 1;
        }
        return wrong;
    }

    Access access_;
    Shares shares_;
    Memory memory_;
    Words words_{};
    SweepLoop loop_{};
    std::vector<Own<std::uint64_t>> sums_;
    std::uint64_t calls_ = 0;
    Picks spoils_{12};
};

} // namespace

extern constinit const assay_benchmark hierarchy = define<Hierarchy>();

} // namespace assay::memory
