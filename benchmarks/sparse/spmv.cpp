// SPDX-License-Identifier: Apache-2.0
#include "spmv_kernels.hpp"

namespace assay::sparse {
namespace {

/// The matrix of a cube in one precision, and the vectors.
template <class T>
class Product {
public:
    Product(std::int64_t footprint, int threads, const Context& context)
        : threads_{threads}, cube_{cube_of(footprint, sizeof(T))},
          first_{cube_.rows() + 1, {.threads = threads}},
          columns_{cube_.entries() + spmv_margin<T>, {.threads = threads}},
          // Arrays at equal offsets in a 2 MiB page would fall into the same cache sets.
          values_{cube_.entries() + spmv_margin<T>,
                  {.threads = threads, .offset = 17 * cache_line}},
          x_{cube_.rows(), {.threads = threads, .offset = 5 * cache_line}},
          y_{cube_.rows(), {.threads = threads, .offset = 9 * cache_line}} {
        const spmv_data::Fill<T> fill{cube_, first_.data(), columns_.data(), values_.data(),
                                      x_.data()};
        on_each_slice(threads_, cube_.rows(), line_granule<T>, [&](Slice rows) {
            for (std::size_t row = rows.first; row < rows.last; ++row) fill(row);
        });
        const auto best = host::fastest_of(spmv_loops<T>(), [&](const auto& loop) {
            multiply_ = loop.multiply;
            run();
        });
        multiply_ = best.multiply;
        poison();
        context.setting("isa", best.instructions);
        context.setting("threads", threads);
        spmv_data::describe<T>(cube_, context);
    }

    void run() noexcept {
        on_each_slice(threads_, cube_.rows(), line_granule<T>, [this](Slice rows) {
            multiply_(matrix(), x_.data(), y_.data(), rows.first, rows.last);
        });
    }
    Work work() const { return spmv_data::work<T>(cube_); }
    Check verify() const {
        return check_each(cube_.rows(),
                          spmv_data::Deviation<T>{cube_, matrix(), x_.data(), y_.data()},
                          spmv_data::bound<T>(), spmv_data::method);
    }
    Outputs outputs() const { return {y_}; }
    void poison() { fill_nan(y_, threads_); }
    /// One element, by twice the bound.
    void spoil() {
        T& element = y_[spoils_.next() % cube_.rows()];
        element = off_by_twice(element, spmv_data::bound<T>());
    }

private:
    Csr<T> matrix() const { return {first_.data(), columns_.data(), values_.data()}; }

    int threads_;
    Cube cube_;
    HostBuffer<std::uint32_t> first_;
    HostBuffer<std::uint32_t> columns_;
    HostBuffer<T> values_;
    HostBuffer<T> x_;
    HostBuffer<T> y_;
    Multiply<T> multiply_ = nullptr;
    Picks spoils_{spmv_data::spoil_seed};
};

class Spmv : public OneOf<Product<double>, Product<float>> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "sparse.spmv",
        .question = "How fast does this host multiply a sparse matrix by a vector?",
        .method = "y = A x, where A is the matrix of a 27-point stencil on a cube, as in HPCG, in "
                  "compressed rows (CSR) with indexes of 32 bits and random positive entries. Each "
                  "thread has a slice of the rows. Scalar loads or the gathers of an instruction "
                  "set, whichever is the fastest in a short trial. Every element is compared with "
                  "the fp64 sum of its row, whose entries follow from the geometry.",
        .caveats = "Bytes count the matrix and both vectors once: the least traffic beyond the "
                   "caches, if x stays there between neighbouring planes. 2 FLOP per entry. HPCG "
                   "itself spends most of its time in a smoother, which has the same traffic and "
                   "less parallelism.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr auto axes =
        std::tuple_cat(spmv_data::axes<Params>,
                       std::tuple{threads_axis(&Params::threads, {Symbol::one, Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads, host::with_page_tables(m.bytes(p.footprint)), m);
    }

    Spmv(const Params& p, const Context& context)
        : OneOf{p.precision, context.machine().bytes(p.footprint),
                static_cast<int>(context.machine().workers(p.threads)), context} {}
};

} // namespace

extern constinit const assay_benchmark spmv = define<Spmv>();

} // namespace assay::sparse
