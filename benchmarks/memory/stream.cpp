// SPDX-License-Identifier: Apache-2.0

#include "stream_kernels.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/room.hpp>
#include <assay/trial.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
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
        context.setting("footprint", static_cast<double>(arrays_of(kernel_)) *
                                         static_cast<double>(count_ * sizeof(double)));
        context.setting("elements", count_);
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
        for (const auto& sum : sums_) sum_ += sum.value;
        ++calls_;
    }

    Work work() const {
        const auto n = static_cast<double>(count_);
        return {.flops = flops_per_element(kernel_) * n, .bytes = bytes_per_element(kernel_) * n};
    }

    Check verify() const {
        if (kernel_ == Kernel::dot) return verify_dot();
        if (Check calls = check_calls(kernel_, calls_); !calls.passed) return calls;
        return check_ulps(
            out_.view(), [this](std::size_t i) { return expected(i); }, 0,
            "every element recomputed from the random seed, bit for bit");
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
            sum_ *= 1 + 2 * sum_bound(count_);
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
    /// The instruction set that is fastest here, by trial on these very arrays. Wider vectors must be
    /// clearly faster, so that the choice is the same in every process.
    void choose_loop(Stores stores) {
        const std::vector<Loops> all = stream_loops();
        const auto loop_of = [&](const Loops& loops) {
            const auto& of_stores = stores == Stores::plain ? loops.plain : loops.streaming;
            return of_stores.at(static_cast<std::size_t>(kernel_));
        };
        if (all.empty() || loop_of(all.front()) == nullptr)
            throw std::invalid_argument{"there are no such stores for this kernel"};
        rewind();
        const Loops& best = all[host::fastest_of(all.size(), [&](std::size_t i) {
            loop_ = loop_of(all[i]);
            run();
        })];
        loop_ = loop_of(best);
        fused_ = best.fused;
        instructions_ = best.instructions;
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

    double expected(std::size_t i) const {
        return stream_data::expected(kernel_, i, calls_, fused_);
    }

    Check verify_dot() const {
        const double exact = sum_over_threads(threads_, [&](std::size_t thread, std::size_t team) {
            return compensated_dot(slice_of(count_, thread, team));
        });
        return check_sum(sum_, exact, count_);
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
    std::vector<Own<double>> sums_;
    double sum_ = 0;
    Loop loop_ = nullptr;
    const char* instructions_ = "";
    bool fused_ = false;
    bool is_initial_ = false; // out_ holds its random start values
    std::uint64_t calls_ = 0; // since the last rewind
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark stream = define<Stream>();

} // namespace assay::memory
