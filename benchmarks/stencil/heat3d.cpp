// SPDX-License-Identifier: Apache-2.0
#include "chosen.hpp"
#include "heat_data.hpp"

namespace assay::stencil {
namespace {

/// Two grids of one precision, and the sweep from the one to the other.
template <class T>
class Grids {
public:
    Grids(Neighbours neighbours, std::int64_t footprint, int threads, const Context& context)
        : neighbours_{neighbours}, threads_{threads},
          extent_{extent_for(footprint / 2, sizeof(T), threads)}, layout_{extent_, sizeof(T)},
          tile_{tile_rows(extent_, sizeof(T), context.machine().count("cache.l2"))},
          weights_{heat_data::weights<T>(neighbours)}, in_{layout_.count, {.threads = threads}},
          // Grids at equal offsets in a 2 MiB page would fall into the same cache sets.
          out_{layout_.count, {.threads = threads, .offset = 17 * line}} {
        fill_uniform<T>(in_.view(), heat_data::in_seed, heat_data::low<T>, heat_data::high<T>,
                        threads);
        choose_sweep(context);
        poison(); // also what lies between rows, which no sweep writes: the same bits each time
        context.setting("threads", threads);
        context.setting("columns", extent_.columns);
        context.setting("rows", extent_.rows);
        context.setting("planes", extent_.planes);
        context.setting("tile_rows", tile_);
        const auto grids = 2 * extent_.cells() * sizeof(T);
        context.setting("footprint", grids);
        context.tell({.footprint_bytes = static_cast<double>(grids)});
    }

    void run() noexcept {
        const std::size_t first = layout_.at(0, 0, 0);
        const Fields<T> fields{.in = in_.data() + first,
                               .out = out_.data() + first,
                               .columns = extent_.columns,
                               .row = layout_.row,
                               .plane = layout_.plane};
        on_each_slice(threads_, extent_.planes, 1, [&](Slice planes) {
            for_each_block(extent_, planes, tile_,
                           [&](const Block& block) { sweep_(fields, weights_, block); });
        });
    }
    Work work() const { return heat_data::work<T>(neighbours_, extent_); }
    Check verify() const {
        const heat_data::Deviation<T> deviation{in_.data(),    out_.data(), layout_.row,
                                                layout_.plane, neighbours_, weights_};
        return check_each(
            extent_.cells(), [&](std::size_t i) { return deviation(layout_.at(extent_, i)); },
            bound(), heat_data::method);
    }
    Outputs outputs() const { return {out_}; }
    void poison() { fill_nan(out_, threads_); }
    /// One cell, by twice the bound.
    void spoil() {
        T& cell = out_[layout_.at(extent_, spoils_.next() % extent_.cells())];
        cell = off_by_twice(cell, bound());
    }

private:
    void choose_sweep(const Context& context) {
        const auto best = chosen(heat_sweeps<T>(neighbours_), context, [&](const auto& way) {
            sweep_ = way.sweep;
            run();
        });
        sweep_ = best.sweep;
    }
    double bound() const { return heat_data::bound<T>(neighbours_); }

    Neighbours neighbours_;
    int threads_;
    Extent extent_;
    Layout layout_;
    std::size_t tile_;
    Weights<T> weights_;
    HostBuffer<T> in_;
    HostBuffer<T> out_;
    Sweep<T> sweep_ = nullptr;
    Picks spoils_{heat_data::spoil_seed};
};

class Heat3d : public OneOf<Grids<double>, Grids<float>> {
public:
    struct Params {
        Neighbours stencil = Neighbours::faces;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "stencil.heat3d",
        .question = "How fast does this host sweep a three-dimensional grid?",
        .method = "One explicit step of the heat equation per call, out of place, on uniform "
                  "random numbers: a 7-point or 27-point stencil. Each thread sweeps its own "
                  "planes, two at a time, in tiles of rows of which a few planes stay in the "
                  "second-level cache; 27 points are three columns of nine, of which two are the "
                  "sum that moves along the row. The fastest instruction set, kind of stores and "
                  "number of requests for a line in a trial on the case's own grid are used; the "
                  "setting `trial` says how far the "
                  "others were behind. Every cell is compared with a scalar fp64 recomputation.",
        .caveats = "Bytes count each grid once, one read and one write per cell: the least traffic "
                   "beyond the caches. Reading a line before writing it is not counted, so the "
                   "share of memory.stream says how close the sweep comes to a copy. Temporal "
                   "blocking could do better and is not used. 8 or 30 FLOP per cell.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr auto axes = std::tuple_cat(
        heat_data::axes<Params>, std::tuple{threads_axis(&Params::threads, {Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        // The grids themselves: a small footprint on many cores has at least some planes for each.
        const auto bytes = heat_data::bytes_of(m.bytes(p.footprint), p.precision,
                                               static_cast<int>(m.workers(p.threads)));
        return host::fits(p.threads, host::with_page_tables(bytes), m);
    }

    Heat3d(const Params& p, const Context& context)
        : OneOf{p.precision, p.stencil, context.machine().bytes(p.footprint),
                static_cast<int>(context.machine().workers(p.threads)), context} {}
};

} // namespace

extern constinit const assay_benchmark heat3d = define<Heat3d>();

} // namespace assay::stencil
