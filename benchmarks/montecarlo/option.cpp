// SPDX-License-Identifier: Apache-2.0
#include "option_kernels.hpp"

namespace assay::montecarlo {
namespace {

using option::Tally;

template <class T>
class Paths {
public:
    Paths(std::int64_t paths, int threads, const Context& context)
        : threads_{threads}, tallies_{option::blocks_of(paths), {.threads = threads}} {
        const auto loops = option_loops();
        if (loops.empty()) throw std::runtime_error{"no loop for this CPU in this build"};
        const auto& widest = loops.back();
        simulate_ = sizeof(T) == sizeof(double) ? widest.fp64 : widest.fp32;
        poison();
        context.setting("isa", widest.instructions);
        context.setting("threads", threads);
        context.setting("paths", tallies_.size() * option::block);
    }

    void run() noexcept {
        on_each_slice(threads_, tallies_.size(), line_granule<Tally>,
                      [this](Slice slice) { simulate_(slice.first, slice.last, tallies_.data()); });
    }
    Work work() const { return option::work<T>(tallies_.size()); }
    Check verify() const {
        return option::with_statistics(check_each(tallies_.size(),
                                                  option::Deviation<T>{tallies_.data()},
                                                  option::bound<T>(), option::method),
                                       tallies_.view());
    }
    Outputs outputs() const { return {tallies_}; }
    void poison() {
        constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
        std::ranges::fill(tallies_.view(), Tally{nothing, nothing});
    }
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        option::spoil<T>(tallies_[pick % tallies_.size()], pick >> 63U);
    }

private:
    int threads_;
    HostBuffer<Tally> tallies_;
    Simulate simulate_ = nullptr;
    Picks spoils_{option::spoil_seed};
};

class Option : public OneOf<Paths<double>, Paths<float>> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        std::int64_t paths = 1 << 24;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "montecarlo.option",
        .question = "How fast does this host simulate prices by Monte Carlo, with its random "
                    "numbers?",
        .method =
            "Each path is the price of a share after a year, lognormal; an option to buy it is "
            "averaged, and the prices below the quantile of 1% (value at risk) are counted. Random "
            "words by Philox4x32-10, normal numbers by Box and Muller; logarithms, sines and "
            "exponentials are series in vectors of the widest instruction set. Sums of 4096 paths "
            "are compared with the same paths by the standard library in fp64; mean and quantile "
            "with their closed forms, within five standard deviations.",
        .caveats =
            "FLOP are those of the series: 69.5 for a path in fp64, 44.5 in fp32. Random words, "
            "signs and exponents are integers and count as none, and roots and divisions are "
            "slow: a quarter of peak.fma is a good result. One step for each path: no memory "
            "is used. Sums depend on the width of vectors.",
        .headline = "flop_rate",
        .ceiling = "peak.fma",
        .bound = Bound::vector_units,
        .noise = Noise::arithmetic,
        .items = "paths",
        .reproducible = true,
    };
    static constexpr auto axes =
        std::tuple_cat(option::axes<Params>,
                       std::tuple{threads_axis(&Params::threads, {Symbol::one, Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads,
                          static_cast<std::int64_t>(option::blocks_of(p.paths) * sizeof(Tally)), m);
    }

    Option(const Params& p, const Context& context)
        : OneOf{p.precision, p.paths, static_cast<int>(context.machine().workers(p.threads)),
                context} {}
};

} // namespace

extern constinit const assay_benchmark option_price = define<Option>();

} // namespace assay::montecarlo
