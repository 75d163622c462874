// SPDX-License-Identifier: Apache-2.0
//
// A complete benchmark, to copy: CONTRIBUTING.md walks through it.

#include <assay/define.hpp>

namespace assay::example {
namespace {

constexpr double coefficient = 0.7320508075688772; // of every power of x; sqrt(3) - 1

double value(double x, std::int64_t degree) {
    double y = coefficient;
    for (std::int64_t i = 0; i < degree; ++i) y = y * x + coefficient;
    return y;
}

class Polynomial {
public:
    struct Params {
        std::int64_t degree = 8;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "example.polynomial",
        .question = "How fast does this host evaluate a polynomial at many points?",
        .method = "Horner's scheme in fp64 on random numbers; every value is computed again.",
        .caveats = "Plain C++: what the compiler makes of it, not what the vector units could do.",
        .headline = "flop_rate",
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        integer("degree", "of the polynomial", "", &Params::degree, {8, 64}, {1, 1024}),
        footprint_axis("bytes of both arrays", &Params::footprint, {Symbol::beyond_cache},
                       {1_KiB, 1_TiB}),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads, m.bytes(p.footprint), m);
    }
    Polynomial(const Params& p, const Context& context)
        : degree_{p.degree}, threads_{host::use_threads(context.machine(), p.threads)},
          x_{static_cast<std::size_t>(context.machine().bytes(p.footprint)) / 16}, y_{x_.size()} {
        fill_uniform(x_.view(), seed, 0.5, 1.0);
        context.setting("points", x_.size());
    }
    void run() noexcept {
        on_each_slice(threads_, y_.size(), line_granule<double>, [this](Slice slice) {
            for (std::size_t i = slice.first; i < slice.last; ++i) y_[i] = value(x_[i], degree_);
        });
    }
    Work work() const {
        const auto n = static_cast<double>(y_.size());
        return {.flops = 2 * n * static_cast<double>(degree_), .bytes = 16 * n};
    }
    Check verify() const {
        const auto again = [this](std::size_t i) {
            return value(random_uniform(seed, i, 0.5, 1.0), degree_);
        };
        return check_relative(y_.view(), again, bound(), "Horner's scheme, within 4 n u");
    }
    void poison() { fill_nan(y_, threads_); }
    void spoil() { y_[picks_.next() % y_.size()] *= 1 + 2 * bound(); }

private:
    static constexpr std::uint64_t seed = 1;
    /// Each of the n steps rounds twice, or once where the compiler fuses it; so does the check.
    double bound() const { return 4 * static_cast<double>(degree_) * unit_roundoff<double>; }

    std::int64_t degree_;
    int threads_;
    HostBuffer<double> x_;
    HostBuffer<double> y_;
    Picks picks_{2};
};

} // namespace

extern constinit const assay_benchmark polynomial = define<Polynomial>();

} // namespace assay::example
