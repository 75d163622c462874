// SPDX-License-Identifier: Apache-2.0
#include "window_data.hpp"
#include "window_kernels.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/one_of.hpp>
#include <assay/random.hpp>
#include <assay/room.hpp>
#include <assay/trial.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace assay::stencil {
namespace {

using namespace units;

enum class Precision : std::uint8_t { fp64, fp32 };

/// A series of one precision and its means.
template <class T>
class Series {
public:
    Series(std::int64_t window, std::int64_t footprint, int threads, const Context& context)
        : window_{static_cast<std::size_t>(window)}, threads_{threads},
          count_{static_cast<std::size_t>(footprint) / (2 * granule * sizeof(T)) * granule},
          in_{count_ + window_ + window_margin<T>, {.threads = threads}},
          // Arrays at equal offsets in a 2 MiB page would fall into the same cache sets.
          out_{count_, {.threads = threads, .offset = 17 * cache_line}} {
        fill_uniform<T>(in_.view(), window_data::in_seed, window_data::low<T>, window_data::high<T>,
                        threads);
        choose_loop(context);
        context.setting("threads", threads);
        context.setting("elements", count_);
        context.setting("footprint", 2 * count_ * sizeof(T));
    }

    void run() noexcept {
        on_each_slice(threads_, count_, granule, [this](Slice slice) {
            average_(in_.data(), out_.data(), slice.first, slice.last, window_);
        });
    }
    Work work() const {
        const auto n = static_cast<double>(count_);
        return {.bytes = 2 * sizeof(T) * n, .cells = n};
    }
    Check verify() const {
        std::vector<double> worst(static_cast<std::size_t>(threads_));
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            const Slice slice = slice_of(count_, thread, team);
            worst[thread] =
                window_data::worst_of(in_.data(), out_.data(), slice.first, slice.last, window_);
        });
        return check_value(*std::ranges::max_element(worst), bound(), window_data::method,
                           window_data::damage);
    }
    void poison() {
        on_each_slice(threads_, count_, granule, [this](Slice slice) {
            std::ranges::fill(out_.view(slice), std::numeric_limits<T>::quiet_NaN());
        });
    }
    /// One mean, by twice the bound.
    void spoil() {
        T& mean = out_[random_bits(window_data::spoil_seed, spoils_++) % count_];
        mean = static_cast<T>(static_cast<double>(mean) * (1 + 2 * bound()));
    }

private:
    static constexpr std::size_t granule = 512 / sizeof(T); // a multiple of every vector

    void choose_loop(const Context& context) {
        const auto loops = window_loops<T>();
        if (loops.empty()) throw std::runtime_error{"no loop for this CPU in this build"};
        const auto& best = loops[host::fastest_of(loops.size(), [&](std::size_t i) {
            average_ = loops[i].average;
            run();
        })];
        average_ = best.average;
        lanes_ = best.lanes;
        context.setting("isa", best.instructions);
        context.setting("stores", best.stores == Stores::plain ? "plain" : "streaming");
        context.setting("sums", window_ <= longest_direct ? "direct" : "running");
    }
    double bound() const {
        return unit_roundoff<T> *
               window_error<T>(window_, lanes_, window_data::low<T>, window_data::high<T>);
    }

    std::size_t window_;
    int threads_;
    std::size_t count_; // of means
    HostBuffer<T> in_;
    HostBuffer<T> out_;
    Average<T> average_ = nullptr;
    std::size_t lanes_ = 1;
    std::uint64_t spoils_ = 0;
};

class Window : public OneOf<Series<double>, Series<float>> {
public:
    struct Params {
        std::int64_t window = 20;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "stencil.window",
        .question = "How fast does this host compute moving averages over a long series?",
        .method = "The mean of every window of a series of uniform random numbers, out of place, "
                  "as in trading signals and filters. Windows up to 8 are summed directly; longer "
                  "ones advance a vector at a time by what enters less what leaves, restarted "
                  "every four windows, so that the work does not depend on the length and rounding "
                  "errors do not accumulate. The fastest instruction set and kind of stores in a "
                  "short trial are used. Every mean is compared with a compensated running sum.",
        .caveats = "Bytes count series and means once, the least traffic beyond the caches; "
                   "reading a line before writing it is not counted. On a core with the memory to "
                   "itself, arithmetic (direct sums) or passes within the first-level cache "
                   "(running sums) can be the limit. A window of 1 is a copy.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
    };
    static constexpr std::tuple axes{
        integer("window", "elements of a mean", "", &Params::window, {20, 250}, {1, 1 << 20}),
        choice("precision", "of the series and the means", &Params::precision,
               {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
        footprint_axis("bytes of series and means", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
        threads_axis(&Params::threads, {Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        const std::int64_t window_bytes = p.window * static_cast<std::int64_t>(sizeof(double));
        return host::fits(p.threads, host::with_page_tables(m.bytes(p.footprint) + window_bytes),
                          m);
    }

    Window(const Params& p, const Context& context) : OneOf{[&] { return make(p, context); }} {}

private:
    static State make(const Params& p, const Context& context) {
        const Machine& machine = context.machine();
        const auto threads = static_cast<int>(machine.workers(p.threads));
        const std::int64_t bytes = machine.bytes(p.footprint);
        if (p.precision == Precision::fp64)
            return State{std::in_place_type<Series<double>>, p.window, bytes, threads, context};
        return State{std::in_place_type<Series<float>>, p.window, bytes, threads, context};
    }
};

} // namespace

extern constinit const assay_benchmark window = define<Window>();

} // namespace assay::stencil
