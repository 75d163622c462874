// SPDX-License-Identifier: Apache-2.0
#include "gather_data.hpp"

#include <assay/define.hpp>

namespace assay::memory {
namespace {

class Gather {
public:
    struct Params {
        Direction direction = Direction::gather;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "memory.gather",
        .question = "How fast do the cores of this host read or write memory through an index?",
        .method = "gather is a[i] = b[index[i]], scatter is a[index[i]] = b[i]; a and b are fp64, "
                  "the index of 32 bits is a random order of all elements, so that each is moved "
                  "once and no two writes meet. Each thread has a slice of i, whose parts it "
                  "touched first, on huge pages where the system provides them. Every element is "
                  "compared bit for bit with its recomputation from the random seeds.",
        .caveats = "Counts 8 bytes per element, those accessed through the index. Beyond the "
                   "caches the hardware moves a whole line for them, plus the index and the "
                   "other array: a tenth of memory.stream is a good result. Plain loads, which "
                   "the core overlaps as far as it can; no gather instructions, no prefetching.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .bound = Bound::memory,
        .noise = Noise::memory,
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        direction_axis(&Params::direction),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 64_GiB}),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads, host::with_page_tables(m.bytes(p.footprint)), m);
    }

    Gather(const Params& p, const Context& context)
        : direction_{p.direction}, threads_{static_cast<int>(context.machine().workers(p.threads))},
          count_{gather_data::elements_of(context.machine().bytes(p.footprint))},
          order_{count_, gather_data::index_seed}, to_{count_, {.threads = threads_}},
          from_{count_, {.threads = threads_}}, index_{count_, {.threads = threads_}} {
        poison();
        on_each_slice(threads_, count_, granule, [&](Slice slice) {
            for (std::size_t i = slice.first; i < slice.last; ++i) {
                from_[i] = gather_data::value(i);
                index_[i] = static_cast<std::uint32_t>(order_(i));
            }
        });
        const auto bytes = static_cast<double>(count_ * gather_data::bytes_per_element);
        context.setting("footprint", bytes);
        context.tell({.footprint_bytes = bytes});
        context.setting("elements", count_);
        context.setting("threads", threads_);
    }

    void run() noexcept {
        double* const to = to_.data();
        const double* const from = from_.data();
        const std::uint32_t* const index = index_.data();
        const bool gathers = direction_ == Direction::gather;
        on_each_slice(threads_, count_, granule, [=](Slice slice) {
            if (gathers)
                for (std::size_t i = slice.first; i < slice.last; ++i) to[i] = from[index[i]];
            else
                for (std::size_t i = slice.first; i < slice.last; ++i) to[index[i]] = from[i];
        });
    }
    Work work() const { return {.bytes = static_cast<double>(count_ * sizeof(double))}; }
    Check verify() const {
        return check_each(count_, gather_data::Deviation{direction_, order_, to_.data()}, 0,
                          gather_data::method);
    }
    Outputs outputs() const { return {to_}; }
    void poison() { fill_nan(to_, threads_); }
    /// One bit of one element.
    void spoil() {
        double& at = to_[spoils_.next() % count_];
        at = std::nextafter(at, 2 * at);
    }

private:
    static constexpr std::size_t granule = cache_line / sizeof(std::uint32_t);

    Direction direction_;
    int threads_;
    std::size_t count_; // elements of each array
    Shuffle order_;
    HostBuffer<double> to_;
    HostBuffer<double> from_;
    HostBuffer<std::uint32_t> index_;
    Picks spoils_{gather_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark gather = define<Gather>();

} // namespace assay::memory
