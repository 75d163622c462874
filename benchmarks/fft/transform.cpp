// SPDX-License-Identifier: Apache-2.0
#include "planner.hpp"
#include "shape.hpp"
#include "transform_check.hpp"

#include <assay/define.hpp>

namespace assay::fft {
namespace {

/// One precision: the data, the plan there and the plan back.
template <class T>
class Transforms {
public:
    using F = Fftw<T>;

    Transforms(const Shape& shape, Planning planning, int threads, const Context& context)
        : shape_{shape}, threads_{threads},
          points_{static_cast<std::size_t>(shape.inputs() * shape.batch), {.threads = threads}},
          bins_{static_cast<std::size_t>(2 * shape.bins() * shape.batch), {.threads = threads}},
          returned_{bins_.size(), {.threads = threads}} {
        if (F::start_threads() == 0) throw std::runtime_error{"FFTW cannot start its threads"};
        F::use_threads(threads);
        Planner<T, Make> planner{context, Make{*this}};
        forward_ = planner.plan(planning, plan_key<T>(shape, threads, planning));
        backward_ = plan_backward<T>(shape, complex(returned_));
        if (!backward_) throw std::runtime_error{"FFTW has no plan for the inverse"};
        fill_uniform<T>(points_.view(), points_seed, -1, 1, threads); // planning wrote over them
        context.setting("planner", forward_.how);
        context.setting("wisdom", forward_.wisdom);
        context.setting("fftw", std::string{F::version});
    }

    void run() noexcept { forward_.plan.execute(); }

    Check verify() const {
        on_each_slice(threads_, bins_.size(), line_granule<T>, [this](Slice slice) {
            std::ranges::copy(bins_.view(slice), returned_.view(slice).begin());
        });
        backward_.execute();
        return checker().check();
    }
    Outputs outputs() const { return {bins_}; }
    void poison() {
        on_each_slice(threads_, bins_.size(), line_granule<T>, [this](Slice slice) {
            std::ranges::fill(bins_.view(slice), std::numeric_limits<T>::quiet_NaN());
        });
    }
    /// One part of one bin, by twice the bound on the norm of all bins.
    void spoil() {
        const std::uint64_t at = spoils_.next() % bins_.size();
        const auto transform = static_cast<std::int64_t>(at) / (2 * shape_.bins());
        bins_[at] +=
            static_cast<T>(2 * transform_bound<T>(shape_) * checker().norm_of_bins(transform));
    }
    double planning_seconds() const { return forward_.seconds; }

private:
    /// Asks for the forward plan, on these very arrays.
    struct Make {
        Transforms& of;
        Plan<T> operator()(unsigned flags) const {
            return plan_forward<T>(of.shape_, of.points_.data(), complex(of.bins_), flags);
        }
    };
    static typename F::Complex* complex(HostBuffer<T>& numbers) {
        return reinterpret_cast<typename F::Complex*>(numbers.data());
    }
    TransformCheck<T> checker() const {
        return {shape_,
                {.points = points_.data(), .bins = bins_.data(), .returned = returned_.data()},
                threads_};
    }

    static constexpr std::uint64_t points_seed = 9;

    Shape shape_;
    int threads_;
    HostBuffer<T> points_;
    HostBuffer<T> bins_;
    mutable HostBuffer<T> returned_; // scratch of verify()
    Planned<T> forward_;
    Plan<T> backward_;
    Picks spoils_{10};
};

class Transform : public OneOf<Transforms<double>, Transforms<float>> {
public:
    struct Params : TransformParams {
        Symbolic threads = Symbol::all;
        Planning planning = Planning::measured;
    };
    static constexpr Info info{
        .id = "fft.transform",
        .question = "How fast does this machine compute Fourier transforms with FFTW?",
        .method =
            "Forward transforms of uniform random numbers, out of place, in one, two or three "
            "dimensions of equal length; a batch is contiguous in memory and one call. As in "
            "benchFFT, 5 N log2(N) FLOP count for N complex points and half of that for real ones; "
            "bytes are input and output once. The plan is measured before timing "
            "(planning=measured), for at most a second (limited), or estimated; it is kept on disk "
            "for later runs, and planning_time is what it originally took. Every transform is "
            "checked by the inverse of an estimated plan and by Parseval's theorem, four bins by "
            "their definition, within 8 u sqrt(log2(N)+2) of the norm.",
        .caveats =
            "FLOP follow the convention, not what FFTW executes: use the rate to compare machines "
            "and sizes; the share of peak.fma is only a scale. An estimated plan can be nine times "
            "slower than a measured one, so cases with different planning are not comparable; the "
            "setting `planner` says when the limit cut measuring short. Lengths with large prime "
            "factors become convolutions (Rader, Bluestein), several times slower per point; "
            "powers of two can suffer cache conflicts. Not normalised.",
        .headline = "flop_rate",
        .ceiling = "peak.fma",
        .noise = Noise::fft,
    };
    static constexpr auto axes = std::tuple_cat(
        shape_axes<Params>({128}),
        std::tuple{
            choice("precision", "precision of the numbers", &Params::precision,
                   {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
            threads_axis(&Params::threads, {Symbol::all}),
            choice("planning", "measured, measured for at most 1 s, or estimated",
                   &Params::planning,
                   {Name{"measured", Planning::measured}, Name{"limited", Planning::limited},
                    Name{"estimate", Planning::estimate}},
                   {Planning::measured}),
        });

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads, needed_bytes(p.shape(), p.real_size()), m);
    }

    Transform(const Params& p, const Context& context)
        : OneOf{p.precision, p.shape(), p.planning, planned_threads(p.threads, context), context},
          work_{work_of(p.shape(), p.real_size())} {}

    Work work() const { return work_; }
    void metrics(Metrics& to) const {
        to.add("planning_time",
               std::visit([](const auto& t) { return t.planning_seconds(); }, state()));
    }

private:
    /// FFTW's loops take the default team and leave it to the caller to size it.
    static int planned_threads(Symbolic threads, const Context& context) {
        const int count = host::use_threads(context.machine(), threads);
        context.setting("threads", count);
        return count;
    }
    Work work_;
};

} // namespace

extern constinit const assay_benchmark transform = define<Transform>();

} // namespace assay::fft

namespace {

/// FFTW's versions name the instruction sets it was built for, of which the planner tries what the CPU has.
void report(const assay::Context& context) {
    context.setting("fftw.version", fftw_version);
    context.setting("fftw.single.version", fftwf_version);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = assay::facts<report>};
