// SPDX-License-Identifier: Apache-2.0
#include "chosen.hpp"
#include "filter_kernels.hpp"

namespace assay::stencil {
namespace {

/// An image of one precision and the filtered one.
template <class T>
class Images {
public:
    Images(Side side, std::int64_t footprint, int threads, const Context& context)
        : threads_{threads}, image_{footprint, sizeof(T), side, static_cast<std::size_t>(threads)},
          weights_{filter_data::weights<T>(image_.side)}, in_{image_.count, {.threads = threads}},
          // Images at equal offsets in a 2 MiB page would fall into the same cache sets.
          out_{image_.count, {.threads = threads, .offset = 17 * cache_line}} {
        detail::fill(in_.view(), threads, [](std::size_t i) { return filter_data::input<T>(i); });
        const auto best = chosen(filter_sweeps<T>(side), context, [&](const auto& way) {
            sweep_ = way.sweep;
            run();
        });
        sweep_ = best.sweep;
        poison(); // also what lies between rows, which no sweep writes: the same bits each time
        context.setting("threads", threads);
        filter_data::describe<T>(image_, context);
    }

    void run() noexcept {
        on_each_slice(threads_, image_.rows, filter_data::rows_at_once, [this](Slice rows) {
            sweep_(image_, weights_.values, in_.data(), out_.data(), rows.first, rows.last);
        });
    }
    Work work() const { return filter_data::work<T>(image_); }
    Check verify() const {
        return check_each(image_.pixels(),
                          filter_data::Deviation<T>{image_, weights_, in_.data(), out_.data()},
                          bound(), filter_data::method);
    }
    Outputs outputs() const { return {out_}; }
    void poison() { fill_nan(out_, threads_); }
    /// One pixel, by twice the bound.
    void spoil() {
        T& pixel = out_[image_.place(spoils_.next() % image_.pixels())];
        pixel = off_by_twice(pixel, bound());
    }

private:
    double bound() const { return filter_data::bound<T>(image_.side); }

    int threads_;
    filter_data::Image image_;
    filter_data::FilterWeights<T> weights_;
    HostBuffer<T> in_;
    HostBuffer<T> out_;
    Filter<T> sweep_ = nullptr;
    Picks spoils_{filter_data::spoil_seed};
};

class Filter2d : public OneOf<Images<double>, Images<float>> {
public:
    struct Params {
        Side side = Side::three;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "stencil.filter2d",
        .question = "How fast does this host filter an image by a small kernel?",
        .method =
            "A 2-D convolution of one channel, directly: each pixel is the sum of its 3x3, "
            "5x5 or 7x7 neighbours, each times a weight of its own. Image and weights are "
            "random and positive. Four rows of two vectors are summed up at once. The "
            "fastest instruction set and kind of stores in a trial on the case's own image are "
            "used; the setting `trial` says how far the others were behind. Every pixel is "
            "compared with its sum in fp64.",
        .caveats = "2 FLOP per weight. Memory bounds small kernels and arithmetic large ones: "
                   "the roofline bound is the lower of peak.fma and of memory.stream times the "
                   "FLOP per byte, with one read and one write of each pixel. Repeated or "
                   "separable weights are not exploited.",
        .headline = "flop_rate",
        .ceiling = "peak.fma memory.stream",
        .bound = Bound::vector_units,
        .noise = Noise::memory,
    };
    static constexpr auto axes = std::tuple_cat(
        filter_data::axes<Params>, std::tuple{threads_axis(&Params::threads, {Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        const auto threads = m.workers(p.threads);
        const filter_data::Image image{m.bytes(p.footprint), size_of(p.precision), p.side,
                                       static_cast<std::size_t>(threads)};
        const auto bytes = static_cast<std::int64_t>(2 * image.count * size_of(p.precision));
        return host::fits(p.threads, host::with_page_tables(bytes), m);
    }

    Filter2d(const Params& p, const Context& context)
        : OneOf{p.precision, p.side, context.machine().bytes(p.footprint),
                static_cast<int>(context.machine().workers(p.threads)), context} {}
};

} // namespace

extern constinit const assay_benchmark filter2d = define<Filter2d>();

} // namespace assay::stencil
