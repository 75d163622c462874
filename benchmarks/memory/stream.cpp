// SPDX-License-Identifier: Apache-2.0

#include "stream_kernels.hpp"

#include <assay/define.hpp>

namespace assay::memory {
namespace {

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
        .question = "What is the sustained memory bandwidth of the cores of this host?",
        .method = "STREAM's loops, plus dot and nstream (a += b + s*c), on fp64 arrays of uniform "
                  "random numbers. Each thread works on the part it touched first, on huge pages "
                  "where the system provides them. The fastest instruction set in a short trial is "
                  "used. Every element is compared bit for bit with its recomputation from the "
                  "random seed; dot with a compensated sum, within u*(sqrt(n)+16).",
        .caveats = "Bytes are counted as in STREAM: those the loop requests. With plain stores the "
                   "hardware also reads each line before writing it (a third more traffic for "
                   "triad, half more for copy), which is not counted; streaming stores avoid it. "
                   "Footprints that fit in a cache measure that cache.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("kernel", "loop: copy a=b, scale a=s*b, add a=b+c, triad a=b+s*c, dot, nstream",
               &Params::kernel,
               {Name{"copy", Kernel::copy}, Name{"scale", Kernel::scale}, Name{"add", Kernel::add},
                Name{"triad", Kernel::triad}, Name{"dot", Kernel::dot},
                Name{"nstream", Kernel::nstream}}),
        choice("stores", "plain, or streaming past the caches", &Params::stores,
               {{"plain", Stores::plain}, {"streaming", Stores::streaming}}),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };
    /// nstream adds less than 6 in a call, so that 2^20 calls stay far from every limit of fp64.
    static constexpr std::uint64_t safe_calls = 1U << 20U;
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        if (p.stores == Stores::streaming && p.kernel == Kernel::dot)
            return Fit::no("dot has no stores to stream");
        if (p.stores == Stores::streaming && p.kernel == Kernel::nstream)
            return Fit::no("nstream reads what it writes, so streaming stores save nothing");
        return host::fits(p.threads, host::with_page_tables(m.bytes(p.footprint)), m);
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
        context.setting("footprint", footprint_of(kernel_, count_));
        context.tell({.footprint_bytes = footprint_of(kernel_, count_)});
        context.setting("elements", count_);
        context.setting("threads", threads_);
        context.setting("instructions", loop_.instructions);
    }

    void run() noexcept {
        const Arrays arrays{.out = out_.data(),
                            .left = left_.data(),
                            .right = right_.data(),
                            .scalar = stream_data::scalar};
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice slice = slice_of(count_, thread, team, stream_granule);
            sums_[thread].value = loop_.run(arrays, slice.first, slice.last);
        });
        sum_ = 0;
        for (const auto& sum : sums_) sum_ += sum.value;
        ++calls_;
    }

    Work work() const { return work_of(kernel_, count_); }

    Check verify() const {
        if (kernel_ == Kernel::dot) return verify_dot();
        if (Check calls = check_calls(kernel_, calls_); !calls.passed) return calls;
        return check_ulps(
            out_.view(),
            [this](std::size_t i) {
                return stream_data::expected(kernel_, i, calls_, loop_.fused);
            },
            0, "every element recomputed from the random seed, bit for bit");
    }

    void poison() {
        fill_nan(out_, threads_);
        sum_ = std::numeric_limits<double>::quiet_NaN();
        is_initial_ = false;
    }

    Outputs outputs() const { return kernel_ == Kernel::dot ? Outputs{sum_} : Outputs{out_}; }
    /// One bit of one element; for dot, twice the bound.
    void spoil() {
        double& at = is_sum(kernel_) ? sum_ : out_[spoils_.next() % count_];
        at = spoilt(kernel_, at, count_);
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
    /// The instruction set that is fastest here, by trial on these very arrays. Wider vectors must be
    /// clearly faster, so that the choice is the same in every process.
    void choose_loop(Stores stores) {
        rewind();
        loop_ = host::fastest_of(stream_loops(kernel_, stores), [&](const StreamLoop& loop) {
            loop_ = loop;
            run();
        });
        rewind();
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

    Check verify_dot() const {
        const double exact = sum_over_threads(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice slice = slice_of(count_, thread, team);
            stream_data::CompensatedSum sum;
            for (std::size_t i = slice.first; i < slice.last; ++i)
                sum.add_product(stream_data::left(i), stream_data::right(i));
            return sum.value();
        });
        return check_sum(sum_, exact, count_);
    }

    Kernel kernel_;
    int threads_;
    std::size_t count_; // elements of each array
    HostBuffer<double> out_;
    HostBuffer<double> left_;
    HostBuffer<double> right_;
    std::vector<Own<double>> sums_;
    double sum_ = 0;
    StreamLoop loop_{};
    bool is_initial_ = false; // out_ holds its random start values
    std::uint64_t calls_ = 0; // since the last rewind
    Picks spoils_{stream_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark stream = define<Stream>();

} // namespace assay::memory
