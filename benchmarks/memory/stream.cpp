// SPDX-License-Identifier: Apache-2.0

#include "stream_kernels.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace assay::memory {
namespace {

using namespace units;

enum class Stores : std::uint8_t { plain, streaming };

class Stream {
public:
    struct Params {
        Kernel kernel = Kernel::triad;
        Stores stores = Stores::plain;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "memory.stream",
        .question = "How fast can the cores of this host stream through memory?",
        .method =
            "The loops of STREAM, and dot and nstream (a += b + s*c), on fp64 arrays of uniform "
            "random numbers; each thread works on the part it touched first, on huge pages where "
            "the system gives them. The instruction set is the fastest in a short trial. "
            "Every element is compared with its recomputation from the random seed, which must "
            "agree to the last bit; dot with a compensated sum, to u*(sqrt(n)+16).",
        .caveats =
            "Counts the bytes that the loop asks for, as STREAM does: with plain stores the "
            "hardware also reads each line before it is written (a third more for triad, a half "
            "more for copy), which is not counted; streaming stores avoid that. Footprints that "
            "fit into a cache measure that cache.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
    };
    static constexpr std::tuple axes{
        choice("kernel", "loop: copy a=b, scale a=s*b, add a=b+c, triad a=b+s*c, dot, nstream",
               &Params::kernel,
               {Name{"copy", Kernel::copy}, Name{"scale", Kernel::scale}, Name{"add", Kernel::add},
                Name{"triad", Kernel::triad}, Name{"dot", Kernel::dot},
                Name{"nstream", Kernel::nstream}},
               {Kernel::copy, Kernel::scale, Kernel::add, Kernel::triad, Kernel::dot,
                Kernel::nstream}),
        choice("stores", "plain, or streaming past the caches", &Params::stores,
               {Name{"plain", Stores::plain}, Name{"streaming", Stores::streaming}},
               {Stores::plain, Stores::streaming}),
        symbolic("footprint", "bytes over all arrays", "B", &Params::footprint,
                 {Symbolic{Symbol::beyond_cache}}, {64_KiB, 16_TiB}, {Symbol::beyond_cache}),
        symbolic("threads", "cores used", "", &Params::threads,
                 {Symbolic{Symbol::one}, Symbolic{Symbol::all}}, {1, 4096},
                 {Symbol::one, Symbol::all}),
    };
    /// nstream adds less than 6 in a call, so that 2^20 calls stay far from every limit of fp64.
    static constexpr std::uint64_t safe_calls = 1U << 20U;
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        if (p.stores == Stores::streaming && p.kernel == Kernel::dot)
            return Fit::no("dot writes nothing that could be streamed");
        if (p.stores == Stores::streaming && p.kernel == Kernel::nstream)
            return Fit::no("nstream reads what it writes, so streaming stores save nothing");
        const std::int64_t threads = m.workers(p.threads);
        const std::int64_t most = std::max(m.cores(), m.count("threads"));
        if (threads > most)
            return Fit::no("needs " + std::to_string(threads) + " cores, this process may use " +
                           std::to_string(most));
        if (threads > 1 && !has_threads()) return Fit::no("needs a build with OpenMP");
        const std::int64_t bytes = m.bytes(p.footprint);
        const std::int64_t available = m.memory_available();
        // A sixteenth more for the page tables and everything else that is alive.
        return Fit::needs(available == 0 || bytes + bytes / 16 <= available,
                          std::to_string(bytes) + " bytes of free memory, there are " +
                              std::to_string(available));
    }

    Stream(const Params& p, const Context& context)
        : kernel_{p.kernel}, threads_{static_cast<int>(context.machine().workers(p.threads))},
          count_{elements(p, context.machine())}, out_{array(0, kernel_ != Kernel::dot)},
          left_{array(1, true)}, right_{array(2, reads_right(kernel_))},
          sums_(static_cast<std::size_t>(threads_)) {
        fill_uniform(left_.view(), stream_data::left_seed, stream_data::low, stream_data::high,
                     threads_);
        fill_uniform(right_.view(), stream_data::right_seed, stream_data::low, stream_data::high,
                     threads_);
        choose_loop(p.stores);
        context.setting("footprint", static_cast<double>(arrays_of(kernel_)) *
                                         static_cast<double>(count_ * sizeof(double)));
        context.setting("elements", static_cast<double>(count_));
        context.setting("threads", threads_);
        context.setting("instructions", instructions_);
    }

    void run() noexcept {
        const Arrays arrays{.out = out_.data(),
                            .left = left_.data(),
                            .right = right_.data(),
                            .scalar = stream_data::scalar};
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice slice = slice_of(count_, thread, team, stream_granule);
            sums_[thread].value = loop_(arrays, slice.first, slice.last);
        });
        sum_ = 0;
        for (const Sum& sum : sums_) sum_ += sum.value;
        ++calls_;
    }

    Work work() const {
        const auto n = static_cast<double>(count_);
        return {.flops = flops_per_element(kernel_) * n, .bytes = bytes_per_element(kernel_) * n};
    }

    Check verify() const {
        if (kernel_ == Kernel::dot) return verify_dot();
        // A chain of that many steps is recomputed for every element.
        constexpr std::uint64_t most_steps = 1000;
        if (kernel_ == Kernel::nstream && calls_ > most_steps)
            return check_value(static_cast<double>(calls_), static_cast<double>(most_steps),
                               "calls since the last rewind", "rewind before the checked call");
        return check_ulps(
            out_.view(), [this](std::size_t i) { return expected(i); }, 0,
            "every element recomputed from the random seed, to the last bit");
    }

    void poison() {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        on_each_slice(threads_, out_.size(), stream_granule,
                      [&](Slice slice) { std::ranges::fill(out_.view(slice), nan); });
        sum_ = nan;
        is_initial_ = false;
    }

    /// One bit of one element; for dot, twice the bound.
    void spoil() {
        if (kernel_ == Kernel::dot) {
            sum_ *= 1 + 2 * dot_bound();
            return;
        }
        double& element = out_[random_bits(stream_data::spoil_seed, spoils_++) % count_];
        element = std::nextafter(element, 2 * element);
        is_initial_ = false;
    }

    /// Only nstream reads what it writes; elsewhere there is nothing to restore.
    void rewind() {
        const bool is_done = is_initial_ && calls_ == 0;
        calls_ = 0;
        if (kernel_ != Kernel::nstream || is_done) return;
        fill_uniform(out_.view(), stream_data::out_seed, stream_data::low, stream_data::high,
                     threads_);
        is_initial_ = true;
    }

private:
    /// The sum of one thread, on a cache line of its own.
    struct alignas(cache_line) Sum {
        double value = 0;
    };

    /// The instruction set that is fastest here, by trial on these very arrays. Wider vectors must be
    /// clearly faster, so that the choice is the same in every process.
    void choose_loop(Stores stores) {
        struct Candidate {
            const Loops* loops;
            Loop loop;
            double seconds;
        };
        const std::vector<Loops> all = stream_loops();
        std::vector<Candidate> candidates;
        for (const Loops& loops : all) {
            const auto& of_stores = stores == Stores::plain ? loops.plain : loops.streaming;
            candidates.push_back({.loops = &loops,
                                  .loop = of_stores.at(static_cast<std::size_t>(kernel_)),
                                  .seconds = std::numeric_limits<double>::infinity()});
        }
        if (candidates.empty() || candidates.front().loop == nullptr)
            throw std::invalid_argument{"there are no such stores for this kernel"};

        rewind();
        // Each in turn, the fastest pass of each counts: three rounds at least, more where they are
        // short, because a disturbance lasts milliseconds.
        constexpr double enough = 0.1;           // seconds
        constexpr double shortest_pass = 100e-6; // seconds; the clock is read in 50 ns
        const double one = seconds_of(candidates.front().loop, 1);
        const auto calls = one < shortest_pass ? static_cast<int>(shortest_pass / one) + 1 : 1;
        double spent = 0;
        for (int round = 0; round < 3 || (round < 50 && spent < enough); ++round)
            for (Candidate& candidate : candidates) {
                const double seconds = seconds_of(candidate.loop, calls);
                candidate.seconds = std::min(candidate.seconds, seconds);
                spent += seconds * calls;
            }
        constexpr double clearly = 0.97; // of the time: two passes differ by 1 or 2% anyway
        const Candidate* best = &candidates.front();
        for (const Candidate& candidate : candidates)
            if (candidate.seconds < clearly * best->seconds) best = &candidate;
        loop_ = best->loop;
        fused_ = best->loops->fused;
        instructions_ = best->loops->instructions;
        rewind();
    }
    /// Seconds for one call, of `calls` timed together.
    double seconds_of(Loop loop, int calls) {
        using Clock = std::chrono::steady_clock;
        loop_ = loop;
        const auto start = Clock::now();
        for (int call = 0; call < calls; ++call) run();
        return std::chrono::duration<double>(Clock::now() - start).count() / calls;
    }

    static std::size_t elements(const Params& p, const Machine& machine) {
        const std::int64_t bytes = machine.bytes(p.footprint) / arrays_of(p.kernel);
        const auto granules = static_cast<std::size_t>(bytes) / (stream_granule * sizeof(double));
        return granules * stream_granule;
    }
    HostBuffer<double> array(std::size_t index, bool is_used) const {
        if (!is_used) return {};
        // Arrays that start at equal offsets in a 2 MiB page fall into the same cache sets.
        constexpr std::size_t apart = 17 * cache_line;
        return HostBuffer<double>{count_, {.threads = threads_, .offset = index * apart}};
    }

    double expected(std::size_t i) const {
        return stream_data::expected(kernel_, i, calls_, fused_);
    }

    /// Rounding errors of n additions of positive numbers behave like a random walk: sqrt(n) is more
    /// than twenty standard deviations away with the 16 partial sums that every thread has at least;
    /// adding those up accounts for the rest.
    double dot_bound() const {
        return unit_roundoff<double> * (std::sqrt(static_cast<double>(count_)) + 16);
    }
    Check verify_dot() const {
        std::vector<Sum> sums(static_cast<std::size_t>(threads_));
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice slice = slice_of(count_, thread, team);
            sums[thread].value = compensated_dot(slice);
        });
        double exact = 0;
        for (const Sum& sum : sums) exact += sum.value;
        return check_value((sum_ - exact) / exact, dot_bound(),
                           "against a compensated sum over the random seed, bound u*(sqrt(n)+16)",
                           "the sum is " + detail::number_text(sum_) + ", expected " +
                               detail::number_text(exact));
    }
    static double compensated_dot(Slice slice) {
        stream_data::CompensatedSum sum;
        for (std::size_t i = slice.first; i < slice.last; ++i)
            sum.add_product(stream_data::left(i), stream_data::right(i));
        return sum.value();
    }

    Kernel kernel_;
    int threads_;
    std::size_t count_; // elements of each array
    HostBuffer<double> out_;
    HostBuffer<double> left_;
    HostBuffer<double> right_;
    std::vector<Sum> sums_;
    double sum_ = 0;
    Loop loop_ = nullptr;
    const char* instructions_ = "";
    bool fused_ = false;
    bool is_initial_ = false; // out_ holds its random start values
    std::uint64_t calls_ = 0; // since the last rewind
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark stream;
constinit const assay_benchmark stream = define<Stream>();

} // namespace assay::memory
