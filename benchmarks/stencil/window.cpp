// SPDX-License-Identifier: Apache-2.0
#include "chosen.hpp"
#include "window_data.hpp"
#include "window_kernels.hpp"

namespace assay::stencil {
namespace {

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
        context.tell({.footprint_bytes = static_cast<double>(2 * count_ * sizeof(T))});
    }

    void run() noexcept {
        on_each_slice(threads_, count_, granule, [this](Slice slice) {
            average_(in_.data(), out_.data(), slice.first, slice.last, window_);
        });
    }
    Work work() const { return window_data::work<T>(count_); }
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
    Outputs outputs() const { return {out_}; }
    void poison() { fill_nan(out_, threads_); }
    /// One mean, by twice the bound.
    void spoil() {
        T& mean = out_[spoils_.next() % count_];
        mean = off_by_twice(mean, bound());
    }

private:
    static constexpr std::size_t granule = 512 / sizeof(T); // a multiple of every vector

    void choose_loop(const Context& context) {
        const auto best = chosen(window_loops<T>(), context, [&](const auto& way) {
            average_ = way.average;
            run();
        });
        average_ = best.average;
        lanes_ = best.lanes;
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
    Picks spoils_{window_data::spoil_seed};
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
                  "ones advance a vector at a time by what enters less what leaves, added up from "
                  "lane to lane, and restart every four windows, so that the work does not depend "
                  "on the length and rounding errors do not accumulate. The fastest instruction "
                  "set and kind of stores in a trial on the case's own series are used; the "
                  "setting `trial` says how far the others were behind. Every mean is compared "
                  "with a compensated running sum.",
        .caveats = "Bytes count series and means once, the least traffic beyond the caches; "
                   "reading a line before writing it is not counted. On a core with the memory to "
                   "itself, arithmetic can be the limit. A window of 1 is a copy.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr auto axes = std::tuple_cat(
        window_data::axes<Params>, std::tuple{threads_axis(&Params::threads, {Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        const std::int64_t bytes = m.bytes(p.footprint) + window_data::window_bytes(p.window);
        return host::fits(p.threads, host::with_page_tables(bytes), m);
    }

    Window(const Params& p, const Context& context)
        : OneOf{p.precision, p.window, context.machine().bytes(p.footprint),
                static_cast<int>(context.machine().workers(p.threads)), context} {}
};

} // namespace

extern constinit const assay_benchmark window = define<Window>();

} // namespace assay::stencil
